"""Several methods on one instance, read back from the figure."""

from dataclasses import replace

import pytest
import torch

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Failure
from tests.viz.explained import explained, hexagon, node_explanation

pytest.importorskip("matplotlib")


def test_every_method_has_a_panel_in_the_same_layout(tmp_path) -> None:
    first, second = hexagon([0, 7]), hexagon([3, 10], flipped=False)
    path = rc.viz.compare({"greedy": first, "<b>random</b>": second}, str(tmp_path / "methods.svg"))
    text = path.read_text(encoding="utf-8")
    for part in ("greedy", "&lt;b&gt;random", "✓ flipped", "✗ not flipped", "Predicted toxic (0.96)."):
        assert part in text
    figure = rc.viz.compare({"greedy": first, "random": second})
    left, right = (axes for axes in figure.axes if axes.lines)

    def places(axes) -> dict[str, list]:
        return {line.get_gid().split("-", 1)[1]: line.get_xydata().tolist() for line in axes.lines if line.get_gid()}

    assert places(left) == places(right)
    dashed = [[line.get_gid() for line in axes.lines if line.is_dashed()] for axes in (left, right)]
    assert dashed == [["deleted-0-1"], ["deleted-3-4"]]


@pytest.mark.parametrize("style", ["graph", "molecule"])
def test_the_legend_names_both_colours_where_found_and_failed_searches_are_mixed(style: str) -> None:
    def labels(*outcomes: bool) -> set[str]:
        methods = {
            f"method {place}": hexagon([0, 7], flipped=flipped, smiles="C12CCCCC1.C2")
            for place, flipped in enumerate(outcomes)
        }
        figure = rc.viz.compare(methods, style=style)
        return {text.get_text() for text in figure.legends[0].get_texts()} & {"deleted", "deleted in vain"}

    if style == "molecule":
        pytest.importorskip("rdkit")
    assert labels(True, False) == {"deleted", "deleted in vain"}
    assert labels(True, True) == {"deleted"}
    assert labels(False) == {"deleted in vain"}


def test_a_method_that_failed_keeps_its_place() -> None:
    figure = rc.viz.compare({"greedy": hexagon([0, 7]), "broken": Failure(0, ValueError("no <gradient>"))})
    said = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "no <gradient>" in said


def test_rows_are_broken_and_a_node_is_drawn_as_one() -> None:
    one = node_explanation([(0, 1), (1, 2)], 3, 1, [0, 2])
    figure = rc.viz.compare({f"method {place}": one for place in range(6)})
    assert sum(bool(axes.lines) for axes in figure.axes) == 6
    assert figure.axes[0].get_subplotspec().get_gridspec().get_geometry() == (4, 3)


def test_what_cannot_be_compared_is_refused() -> None:
    other = explained(torch.tensor([[0], [1]]), 7, [0])
    with pytest.raises(RCExplainerError, match="'a' and 'b' explain different ones"):
        rc.viz.compare({"a": hexagon([0, 7]), "b": other})
    same_skeleton = replace(hexagon([0, 7]), graph=hexagon().graph.clone())
    same_skeleton.graph.x = torch.rand(7, 2)
    with pytest.raises(RCExplainerError, match="'a' and 'b' explain different ones"):
        rc.viz.compare({"a": hexagon([0, 7]), "b": same_skeleton})
    with pytest.raises(RCExplainerError, match=r"compare takes \{method name: explanation, …}, got list"):
        rc.viz.compare([hexagon()])  # type: ignore[arg-type]
    with pytest.raises(RCExplainerError, match="at least one explanation"):
        rc.viz.compare({})
    with pytest.raises(RCExplainerError, match=r"got 'a\.doc'"):
        rc.viz.compare({"a": hexagon()}, "a.doc")
