"""What is drawn for what is given, read back from matplotlib's own objects."""

import sys

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from rcexplainer import viz
from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.viz import draw_explanation, draw_graph, save_figure, subplots, target_grid
from rcexplainer.viz.graphs import DELETED, MOTIF_STYLES, stretched

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex


@pytest.fixture
def axes():
    return subplots(1, 1)[1][0][0]


def triangle_with_tail() -> Data:
    """0–1–2–0 and 2–3, each in both directions, and a self-loop."""
    pairs = torch.tensor([[0, 1], [1, 2], [0, 2], [2, 3]]).t()
    loop = torch.tensor([[3], [3]])
    return Data(edge_index=torch.cat([pairs, pairs.flip(0), loop], 1), num_nodes=4)


def lines(axes) -> dict[tuple[int, int], object]:
    """The lines of the drawing by the nodes they join, whose places are known."""
    return {tuple(sorted(round(x) for x in line.get_xdata())): line for line in axes.lines}


ROW = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0], [3.0, 0.0]])


def test_every_pair_is_one_line_as_dark_and_wide_as_its_score(axes) -> None:
    scores = torch.tensor([1.0, 0.5, 0.0, 0.25] * 2 + [0.0])
    draw_graph(axes, triangle_with_tail(), scores, layout=ROW)
    drawn = lines(axes)
    assert set(drawn) == {(0, 1), (1, 2), (0, 2), (2, 3)}
    by_score = [drawn[pair] for pair in ((0, 2), (2, 3), (1, 2), (0, 1))]
    widths = [line.get_linewidth() for line in by_score]
    greys = [float(line.get_color()) for line in by_score]
    assert widths == sorted(widths)
    assert len(set(widths)) == 4
    assert greys == sorted(greys, reverse=True)
    assert greys[-1] == 0


def test_deleted_edges_are_dashed(axes) -> None:
    removed = torch.zeros(9, dtype=torch.bool)
    removed[[1, 5]] = True
    draw_graph(axes, triangle_with_tail(), torch.zeros(9), removed, layout=ROW)
    drawn = lines(axes)
    assert drawn[1, 2].get_color() == DELETED
    assert [pair for pair, line in drawn.items() if line.is_dashed()] == [(1, 2)]


@pytest.mark.parametrize("kinds", [True, False])
def test_nodes_of_a_motif_have_its_shape_and_colour(axes, kinds: bool) -> None:
    inside = torch.tensor([True, True, True, False] * 2 + [False])
    motif = torch.where(inside, 1, -1) if kinds else inside
    draw_graph(axes, triangle_with_tail(), motif=motif, layout=ROW)
    look = MOTIF_STYLES[1 if kinds else 0]
    outside, own = axes.collections
    assert outside.get_offsets().tolist() == [[3, 0]]
    assert len(own.get_offsets()) == 3
    assert to_hex(own.get_facecolor()[0]).upper() == look.colour
    assert {line.get_color() for pair, line in lines(axes).items() if pair != (2, 3)} == {look.colour}


def test_labels_take_the_place_of_dots(axes) -> None:
    draw_graph(axes, triangle_with_tail(), labels=("C", "N", "O", "Cl"))
    assert [text.get_text() for text in axes.texts] == ["C", "N", "O", "Cl"]
    assert not axes.collections


def test_of_a_node_the_computation_graph_is_drawn_with_a_ring_around_it(axes) -> None:
    whole = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]), num_nodes=4)
    part = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3, root_index=torch.tensor([2]))
    ids = torch.tensor([2, 3, 4, 5])  # the nodes 1, 2, 3 of the whole graph, asked about node 3
    case = Counterfactual(whole, torch.tensor([4, 5]), 0, torch.tensor([0.2, 0.8]), True)
    half = torch.full((4,), 0.5)
    one = Explanation(whole, half, 0, torch.tensor([0.9, 0.1]), (), case, 3, part, ids)
    places = draw_explanation(axes, one)
    assert places.shape == (3, 2)
    dashed = [line for line in axes.lines if line.is_dashed()]
    assert len(axes.lines) == 2
    assert np.allclose(sorted(dashed[0].get_xdata()), sorted(places[1:, 0]))
    ring = axes.collections[-1]
    assert np.allclose(ring.get_offsets(), places[[2]])
    assert len(ring.get_facecolor()) == 0


def test_scores_are_stretched_over_each_graph() -> None:
    assert stretched(torch.tensor([0.2, 0.3, 0.4])).tolist() == pytest.approx([0, 0.5, 1])
    assert stretched(torch.tensor([0.7, 0.7])).tolist() == [0.5, 0.5]
    assert stretched(torch.empty(0)).tolist() == []


def test_what_does_not_fit_the_graph_is_refused(axes) -> None:
    graph = triangle_with_tail()
    with pytest.raises(RCExplainerError, match=r"edge_scores must have one value for each of 9 edges, got \(3,\)"):
        draw_graph(axes, graph, torch.zeros(3))
    with pytest.raises(
        RCExplainerError, match=r"layout must have the shape \(4, 2\), one \(x, y\) per node, got \(2, 2\)"
    ):
        draw_graph(axes, graph, layout=np.zeros((2, 2)))
    with pytest.raises(RCExplainerError, match="one text for each of 4 nodes, got 1"):
        draw_graph(axes, graph, labels=("C",))


def example(own: int, other: int, flipped: bool = True) -> Explanation:
    graph = triangle_with_tail()
    graph.edge_motif_id = torch.tensor([0, 0, 0, -1] * 2 + [-1])
    before, after = torch.zeros(2), torch.zeros(2)
    before[own], before[other], after[own], after[other] = 0.9, 0.1, 0.25, 0.75
    case = Counterfactual(graph, torch.tensor([0, 4]), own if flipped else other, after, flipped)
    return Explanation(graph, torch.rand(9, generator=torch.Generator().manual_seed(0)), own, before, (), case)


def test_the_grid_has_graphs_on_its_diagonal_and_probabilities_beside_it() -> None:
    figure = target_grid({(0, 1): example(0, 1), (1, 0): example(1, 0, flipped=False)}, ("a", "b"), ("house",))
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0] == "a"
    assert titles[3] == "b"
    assert titles[1] == "and not b?  1 deleted\np(own) 0.90 → 0.25, p(other) 0.10 → 0.75"
    assert "1 deleted (not reached)" in titles[2]
    assert [len(axes.lines) for axes in figure.axes] == [4, 4, 4, 4]


def test_a_class_without_an_example_leaves_its_row_empty() -> None:
    figure = target_grid({(0, 1): example(0, 1)}, ("a", "b"), ("house",))
    assert [len(axes.lines) for axes in figure.axes] == [4, 4, 0, 0]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_same_figure_gives_the_same_bytes(tmp_path, ending: str) -> None:
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        assert save_figure(target_grid({(0, 1): example(0, 1)}, ("a", "b"), ("house",)), path) == path
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert len(first) > 1000


def test_a_path_may_be_text_and_other_endings_are_refused(tmp_path) -> None:
    figure, _ = subplots(1, 1)
    assert save_figure(figure, str(tmp_path / "drawing.svg")).read_text(encoding="utf-8").startswith("<?xml")
    with pytest.raises(RCExplainerError, match=r"must end in \.svg, \.png or \.pdf, got 'drawing\.docx'"):
        save_figure(figure, tmp_path / "drawing.docx")


def test_every_public_name_is_there_and_documented() -> None:
    for name in viz.__all__:
        assert name == "Figure" or getattr(viz, name).__doc__


def test_without_matplotlib_the_line_that_installs_it(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'pip install "rcexplainer\[figures\]"'):
        subplots(1, 1)
