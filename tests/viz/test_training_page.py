"""Regions in a plane by hand, and what the page of a training shows."""

import numpy as np
import pytest

from rcexplainer.viz.training_page import region_corners, training_page

pytest.importorskip("matplotlib")
from matplotlib.colors import to_rgba

LOW, HIGH = np.array([-1.0, -1.0]), np.array([1.0, 1.0])


def corners(*lines: tuple[float, float, float]) -> set[tuple[float, float]]:
    return {(round(u, 6) + 0.0, round(v, 6) + 0.0) for u, v in region_corners(lines, LOW, HIGH)}


def test_a_region_is_what_all_its_lines_leave_of_the_box() -> None:
    assert corners() == {(-1, -1), (1, -1), (1, 1), (-1, 1)}
    assert corners((1, 0, 0)) == {(0, -1), (1, -1), (1, 1), (0, 1)}  # u ≥ 0
    assert corners((1, 0, 0), (0, 1, 0)) == {(0, 0), (1, 0), (1, 1), (0, 1)}
    assert corners((-1, -1, 0)) == {(-1, -1), (1, -1), (-1, 1)}  # u + v ≤ 0, through two corners
    assert corners((0, 0, -1)) == set()
    assert corners((1, 0, -0.5), (-1, 0, -0.5)) == set()


def where(u: float, v: float, inside: bool) -> dict:
    return {"place": [u, v], "inside": inside}


def example(number: int) -> dict:
    """A triangle of this class whose masks go from ½ to two edges kept; what is left stays inside for class 1."""
    return {
        "class": number,
        "nodes": 4,
        "edges": [[0, 1], [0, 2], [1, 2], [2, 3]],
        "motif": [number, number, number, -1],
        "whole": where(0.5, 0.5, True),
        "kept": [where(0.0, 0.1, False), where(0.4, 0.4, True)],
        "left": [where(0.0, 0.2, False), where(-0.4, 0.0, number == 1)],
        "masks": [{"epoch": 0, "mask": [0.5] * 4}, {"epoch": 1, "mask": [1.0, 1.0, 0.0, 0.0]}],
    }


def row(epoch: int, kept: float, terms: dict[str, float] | None) -> dict:
    return {"epoch": epoch, "kept_inside": kept, "left_outside": 0.5, "size": 2.0, "undecided": 0.1, "terms": terms}


RESULT = {
    "classes": ["one", "two"],
    "points": {"place": [[0.6, 0.6], [-0.6, -0.6], [0.5, 0.4]], "class": [0, 1, 0]},
    "regions": [{"class": 0, "lines": [[1.0, 0.0, 0.0]]}, {"class": 1, "lines": [[-1.0, 0.0, 0.0]]}],
    "epochs": [row(0, 0.2, None), row(1, 0.9, {"same": 0.3, "opposite": 0.2, "sparse": 0.0})],
    "examples": [example(0), example(1)],
}


def test_a_page_has_a_plane_two_curves_and_every_mask() -> None:
    plane, losses, sides, *masks = training_page(RESULT).axes
    assert [text.get_text() for text in losses.get_legend().get_texts()] == ["same", "opposite"]  # a term of 0 is none
    assert [list(line.get_ydata()) for line in sides.lines] == [[0.2, 0.9], [0.5, 0.5]]
    titles = [axes.get_title() for axes in masks]
    assert titles[0] == "one\nbefore training\nkept outside, rest outside"
    assert titles[1:] == [
        "after 1 epoch\nkept inside, rest outside",
        "two\nbefore training\nkept outside, rest outside",
        "after 1 epoch\nkept inside, rest inside",
    ]
    names = [text.get_text() for text in plane.get_legend().get_texts()]
    assert names[:2] == ["one", "two"]


def test_an_end_on_the_wrong_side_is_white() -> None:
    plane = training_page(RESULT).axes[0]
    places = {(-0.4, 0.0), (0.4, 0.4)}
    ends = [dots for dots in plane.collections if tuple(dots.get_offsets()[0]) in places]
    white = [tuple(dots.get_facecolors()[0]) == to_rgba("white") for dots in ends]
    assert white == [False, False, False, True]  # what is left of class two is still inside


def test_masks_are_drawn_as_they_are() -> None:
    last = training_page(RESULT).axes[-1]
    shades = sorted(float(line.get_color()) for line in last.lines)
    assert shades == [0.0, 0.0, 0.78, 0.78]


@pytest.mark.parametrize("count", [1, 9])
def test_any_number_of_terms_has_its_greys(count: int) -> None:
    terms = {f"term {number}": 0.5 for number in range(count)}
    losses = training_page(RESULT | {"epochs": [row(0, 0.2, None), row(1, 0.9, terms)]}).axes[1]
    shades = [to_rgba(line.get_color())[0] for line in losses.lines]
    assert len(set(shades)) == count
    assert shades[0] == 0
    assert max(shades) <= 0.7
