"""A grid of explanations, read back from matplotlib's own objects."""

import pytest

from rcexplainer.viz.method_grid import BAND, Drawing, Shown, explanation_grid, union_drawing

pytest.importorskip("matplotlib")

# A triangle 3–5–7 with a tail 7–9; asked about is node 3.
RESULT = {
    "nodes": [3, 5, 7, 9],
    "edges": [[3, 5], [3, 7], [5, 7], [7, 9]],
    "motif": [True, True, True, False],
    "chosen": [True, False, True, True],
    "roots": [3],
    "labels": None,
    "flips": True,
    "motif_flips": False,
    "of": {"nodes": 10, "edges": 20},
}
OTHER = {**RESULT, "nodes": [3, 5, 7, 11], "edges": [[3, 5], [3, 7], [5, 7], [5, 11]], "flips": False}


def test_a_result_becomes_sets_of_edges() -> None:
    one = Shown.of(RESULT)
    assert one.motif == {(3, 5), (3, 7), (5, 7)}
    assert one.chosen == {(3, 5), (5, 7), (7, 9)}
    assert (one.roots, one.labels, one.whole) == ((3,), {}, 10)
    assert Shown.of({**RESULT, "labels": ["C", "N", "O", "H"]}).labels[9] == "H"


def test_methods_that_choose_other_edges_are_drawn_in_the_same_places() -> None:
    whole = union_drawing([Shown.of(RESULT), Shown.of(OTHER)])
    assert whole.nodes == (3, 5, 7, 9, 11)
    assert whole.edges == ((3, 5), (3, 7), (5, 7), (5, 11), (7, 9))
    assert whole.graph.edge_index.t().tolist() == [[0, 1], [0, 2], [1, 2], [1, 4], [2, 3]]


def test_a_drawing_of_nothing_has_no_places() -> None:
    assert Drawing.of((), ()).places.shape == (0, 2)


def test_rows_are_the_motif_and_the_methods() -> None:
    figure = explanation_grid({("set", "first"): Shown.of(RESULT), ("set", "second"): Shown.of(OTHER)})
    motif, first, second = figure.axes
    assert motif.get_title() == "set, 5 of 10 nodes drawn\nmotif: 3 edges, deleting does not flip"
    assert first.get_title() == "first\n2 of 3 edges, deleting flips"
    assert second.get_title() == "second\n2 of 3 edges, deleting does not flip"
    bands, black = ([line for line in first.lines if line.get_color() == colour] for colour in (BAND, "0.0"))
    assert (len(bands), len(black), len(first.lines)) == (3, 3, 8)  # 5 edges, and 3 bands
    assert len([line for line in motif.lines if line.get_color() == "0.0"]) == 3
    rings = [dots for dots in first.collections if dots.get_sizes()[0] == 150]
    assert len(rings) == 1


def test_what_is_missing_stays_empty() -> None:
    figure = explanation_grid({("a", "first"): Shown.of(RESULT), ("b", "second"): Shown.of(RESULT)})
    assert [bool(axes.lines) for axes in figure.axes] == [True, True, True, False, False, True]


def test_elements_are_written() -> None:
    figure = explanation_grid({("a", "first"): Shown.of({**RESULT, "labels": ["C", "N", "O", "H"], "roots": []})})
    assert sorted(text.get_text() for text in figure.axes[1].texts) == ["C", "H", "N", "O"]
    assert "asked about" not in [text.get_text() for text in figure.legends[0].get_texts()]
