"""The drawing of one explanation, read back from its SVG."""

import re
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explanation import Explanation
from tests.viz.explained import WICKED, both, explained, hexagon, node_explanation

matplotlib = pytest.importorskip("matplotlib")


def svg(one: Explanation, folder: Path, **how) -> str:
    """The SVG of an explanation, which must be well-formed."""
    text = one.draw(str(folder / "drawing.svg"), **how).read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    return text


def ids(text: str, word: str) -> list[str]:
    return re.findall(rf'id="({word}-[\d-]+)"', text)


def texts(text: str) -> str:
    """All texts of an SVG, one after the other."""
    space = "{http://www.w3.org/2000/svg}"
    return "\n".join("".join(part.itertext()) for part in ElementTree.fromstring(text).iter(f"{space}text"))


def test_every_edge_is_a_line_and_deleted_ones_are_dashed(tmp_path) -> None:
    text = svg(hexagon([0, 7, 2, 9]), tmp_path)
    assert sorted(ids(text, "deleted")) == ["deleted-0-1", "deleted-2-3"]
    assert len(ids(text, "edge")) == 5
    assert len(ids(text, "kept")) == 5  # in the counterfactual beside it
    for name in ids(text, "deleted"):
        assert "stroke-dasharray" in text.split(f'id="{name}"')[1].split("</g>")[0]
    for name in ids(text, "edge") + ids(text, "kept"):
        assert "stroke-dasharray" not in text.split(f'id="{name}"')[1].split("</g>")[0]


def test_width_and_darkness_follow_the_score(tmp_path) -> None:
    text = svg(hexagon(), tmp_path)
    parts = [text.split(f'id="{name}"')[1].split("</g>")[0] for name in ("edge-0-1", "edge-2-3", "edge-0-6")]
    widths = [float(re.search(r"stroke-width: ([\d.]+)", part)[1]) for part in parts]
    greys = [int(re.search(r"stroke: #(..)", part)[1], 16) for part in parts]
    assert widths == sorted(set(widths))
    assert greys == sorted(set(greys), reverse=True)


def test_found_and_failed_searches_differ_in_mark_word_colour_and_frame(tmp_path) -> None:
    found, failed = svg(hexagon([0, 7]), tmp_path), svg(hexagon([0, 7], flipped=False), tmp_path)
    assert "✓ flipped" in texts(found)
    assert "safe (0.70) without 1 edge" in texts(found)
    assert "✗ not flipped" in texts(failed)
    assert "still toxic (0.80) without 1 edge" in texts(failed)
    assert "deleted in vain" in texts(failed)
    assert "#c43c00" in found
    assert "#c43c00" not in failed
    assert "#efefef" in failed
    assert "#efefef" not in found


def test_probabilities_stand_beside_it_with_the_names_of_the_classes(tmp_path) -> None:
    text = texts(svg(hexagon([0, 7]), tmp_path))
    for part in ("toxic (0.96)", "safe", "0.04 → 0.70", "0.96 → 0.30", "before", "after", "highest score"):
        assert part in text


def test_without_a_search_it_says_so(tmp_path) -> None:
    text = svg(hexagon(), tmp_path)
    assert "No counterfactual was searched for." in texts(text)
    assert not ids(text, "kept")


def test_a_known_motif_is_outlined(tmp_path) -> None:
    motif = torch.tensor(([True] * 6 + [False]) * 2)
    text = svg(hexagon([0, 7], edge_motif=motif), tmp_path)
    assert len(ids(text, "motif")) == 6
    assert "motif-0-6" not in text
    assert "motif" in texts(text)
    assert "motif" not in texts(svg(hexagon([0, 7]), tmp_path))


def test_the_other_reading_is_drawn_on_request(tmp_path) -> None:
    one = hexagon([0, 7])
    relevance = replace(one, relevance=one.scores.flip(0))
    assert "highest relevance" in texts(svg(relevance, tmp_path, reading="relevance"))
    assert svg(relevance, tmp_path, reading="relevance") != svg(relevance, tmp_path)
    with pytest.raises(RCExplainerError, match="has no edge_relevance"):
        one.draw(reading="relevance")


def test_names_are_text(tmp_path) -> None:
    x = torch.eye(7, 2)
    one = hexagon([0, 7], names=(WICKED, "a\x00b & \U0001f9ea 名"), x=x)
    text = svg(one, tmp_path, style="graph", node_names=(WICKED, "$x^{$"))
    assert "<script" not in text
    assert "<script>aler…')</script>" in texts(text).replace("\n", "")
    assert "a b & " in texts(text)


@pytest.mark.parametrize(
    "one",
    [
        explained(torch.empty(2, 0, dtype=torch.long), 3, []),
        explained(torch.empty(2, 0, dtype=torch.long), 1),
        explained(torch.empty(2, 0, dtype=torch.long), 0),
        explained(both([(0, 1)]), 2, [0, 1]),
        explained(both([(0, 1)]), 2, [0, 1], names=()),
        explained(torch.tensor([[0, 1, 2], [1, 2, 0]]), 3, [1]),
        explained(torch.tensor([[0, 0, 0, 1, 1, 2], [1, 1, 0, 0, 2, 2]]), 4, [0, 1, 3]),
        explained(torch.tensor([[0, 1], [0, 1]]), 2, []),
    ],
    ids=["no edges", "one node", "nothing", "one edge", "no names", "directed", "multi-edges and loops", "loops alone"],
)
def test_odd_graphs_are_drawn(one: Explanation, tmp_path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = svg(one, tmp_path)
    assert len(ids(text, "edge") + ids(text, "deleted")) == len(one.units)
    loops = one.graph.edge_index[0] == one.graph.edge_index[1]
    panels = 1 if one.counterfactual is None else 2
    assert len(ids(text, "loop")) == panels * int(loops.sum())


def test_a_node_and_a_link_have_rings(tmp_path) -> None:
    pairs = [(0, 1), (1, 2), (2, 3)]
    text = svg(node_explanation(pairs, 4, 2, [2, 5]), tmp_path)
    assert ids(text, "root") == ["root-2", "root-2"]
    assert "predicted for node 2, 3 edges in its field" in texts(text)
    whole = Data(edge_index=both(pairs), num_nodes=4)
    part = Data(edge_index=whole.edge_index, num_nodes=4, edge_label_index=torch.tensor([[0], [3]]))
    case = Counterfactual(whole, torch.tensor([0, 3]), 1, torch.tensor([0.6, 0.4]))
    link = Explanation(whole, torch.rand(6), 1, torch.tensor([0.1, 0.9]), (), case, (0, 3), part, torch.arange(6))
    text = svg(link, tmp_path)
    assert set(ids(text, "root")) == {"root-0", "root-3"}
    assert "link 0–3" in texts(text)


def test_a_hub_shows_its_neighbourhood_and_says_what_is_left_out(tmp_path) -> None:
    pairs = [(0, leaf) for leaf in range(1, 801)] + [(leaf, leaf + 800) for leaf in range(1, 801)]
    text = svg(node_explanation(pairs, 1601, 0, [900, 2500]), tmp_path)
    assert ids(text, "deleted") == ["deleted-101-901"]  # and the way to it
    assert "edge-0-101" in text
    assert len(ids(text, "edge")) == 60
    assert "Drawn: 61 of 1,600 edges and 62 of 1,601 nodes: the deleted ones," in " ".join(texts(text).split())


@pytest.mark.parametrize("edges", [5, 60, 500])
def test_graphs_of_5_to_500_edges_are_drawn_whole(edges: int, tmp_path) -> None:
    random = torch.Generator().manual_seed(0)
    pairs = [(int(torch.randint(node, (1,), generator=random)), node) for node in range(1, edges + 1)]
    assert len(ids(svg(explained(both(pairs), edges + 1), tmp_path), "edge")) == edges


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_suffix_chooses_the_format_and_bytes_are_reproducible(suffix: str, start: bytes, tmp_path) -> None:
    first, second = hexagon([0, 7]).draw(tmp_path / f"a.{suffix}"), hexagon([0, 7]).draw(str(tmp_path / f"b.{suffix}"))
    assert isinstance(second, Path)
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()


def test_an_unknown_suffix_or_style_is_refused_and_nothing_is_written(tmp_path) -> None:
    with pytest.raises(RCExplainerError, match=r"must end in \.svg, \.png or \.pdf, got 'a\.gif'"):
        hexagon().draw(tmp_path / "a.gif")
    with pytest.raises(RCExplainerError, match="style must be one of auto, graph, molecule, got 'cake'"):
        hexagon().draw(tmp_path / "a.svg", style="cake")
    assert not list(tmp_path.iterdir())


def test_without_a_path_a_figure_and_no_state_of_pyplot() -> None:
    figure = hexagon([0, 7]).draw()
    assert isinstance(figure, matplotlib.figure.Figure)
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_a_notebook_shows_the_drawing_or_the_text(monkeypatch) -> None:
    one = hexagon([0, 7])
    assert one._repr_svg_().startswith("<svg")
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    assert one._repr_svg_() is None
    assert repr(one).startswith("Explanation(toxic (0.96)")
    with pytest.raises(MissingExtraError, match=r'pip install "rcexplainer\[figures\]"'):
        one.draw("drawing.svg")


def test_it_is_reached_from_the_package() -> None:
    assert rc.viz.draw is not None
    assert rc.viz.compare is not None


def numbers(text: str) -> list[int]:
    """The numbers of nodes that an SVG has, in both panels."""
    return sorted(int(line) for line in texts(text).splitlines() if line.isdigit())


def test_nodes_have_their_numbers_as_tables_print_them(tmp_path) -> None:
    assert numbers(svg(hexagon([0, 7]), tmp_path)) == sorted([*range(7)] * 2)  # the instance and its counterfactual
    assert numbers(svg(hexagon(), tmp_path)) == list(range(7))
    assert numbers(svg(hexagon([0, 7]), tmp_path, numbers=False)) == []


def test_large_graphs_number_the_explained_node_and_the_ends_of_deleted_edges(tmp_path) -> None:
    path = [(node, node + 1) for node in range(60)]
    large = explained(both(path), 61, [4, 64])
    assert numbers(svg(large, tmp_path)) == [4, 4, 5, 5]
    assert numbers(svg(large, tmp_path, numbers=True)) == sorted([*range(61)] * 2)
    node = node_explanation(path, 61, 30, [4, 64])
    assert numbers(svg(node, tmp_path)) == [4, 4, 5, 5, 30, 30]
    assert numbers(svg(node, tmp_path, numbers=False)) == []


def test_named_nodes_are_called_as_in_tables(tmp_path) -> None:
    own = hexagon([0, 7], node_names=["Ann", "Bob", "Cem", "Dora", "Emil", "Fay", "Gus"])
    lines = texts(svg(own, tmp_path)).splitlines()
    assert {"Ann", "Gus"} <= set(lines)
    assert numbers(svg(own, tmp_path)) == []
    kinds = hexagon([0, 7], x=torch.eye(2)[[0, 1, 0, 0, 0, 0, 1]])
    lines = texts(svg(kinds, tmp_path, node_names=("user", "shop"))).splitlines()
    assert {"user0", "shop1", "shop6"} <= set(lines)
    plain = texts(svg(kinds, tmp_path, node_names=("user", "shop"), numbers=False)).splitlines()
    assert {"user", "shop"} <= set(plain)
    assert "user0" not in plain


def test_numbers_stay_inside_the_frame() -> None:
    figure = explained(
        both([(node, node + 1) for node in range(9)] + [(4, 10), (10, 11), (11, 12)]), 13, [0, 12]
    ).draw()
    figure.canvas.draw()
    for axes in figure.axes[:2]:
        frame = axes.get_window_extent()
        for text in axes.texts:
            if text.get_text().isdigit():
                box = text.get_window_extent()
                assert frame.x0 <= box.x0, text
                assert box.x1 <= frame.x1, text
                assert frame.y0 <= box.y0, text
                assert box.y1 <= frame.y1, text
