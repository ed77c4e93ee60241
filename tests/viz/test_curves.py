"""Charts of numbers, read back from matplotlib's own objects."""

from math import nan

import pytest

from rcexplainer.viz.curves import BOLD, ORDERED, PENS, Level, Pen, Series, draw_curves, draw_dots, draw_square, panels

pytest.importorskip("matplotlib")


@pytest.fixture
def axes():
    return panels(1, 1)[1][0][0]


def test_pens_are_told_apart_without_colour() -> None:
    for pens in (PENS, ORDERED):
        assert len({pen.marker for pen in pens}) == len(pens)
    assert BOLD.width > max(pen.width for pen in (*PENS, *ORDERED))


def test_a_band_reaches_as_far_as_the_interval_and_the_boldest_is_on_top(axes) -> None:
    draw_curves(axes, [Series("ours", BOLD, (0.0, 1.0), (0.5, 0.7), (0.1, nan)), Series("b", PENS[0], (0.0,), (0.3,))])
    assert [line.get_label() for line in sorted(axes.lines, key=lambda line: line.get_zorder())] == ["b", "ours"]
    (band,) = axes.collections
    heights = [y for path in band.get_paths() for y in path.vertices[:, 1]]
    assert (min(heights), max(heights)) == pytest.approx((0.4, 0.6))


def test_dots_lie_on_the_line_of_their_level_first_at_the_top(axes) -> None:
    levels = [Level("first", (0.9, 0.8), (0.1, nan), bold=True), Level("second", (0.5, nan))]
    draw_dots(axes, levels, (Pen(), Pen(hollow=True)), ("here", "there"), apart=0.2)
    here, there = (container.lines[0].get_xydata() for container in axes.containers)
    assert here.tolist() == [[0.9, -0.1], [0.5, 0.9]]
    assert there[0].tolist() == [0.8, 0.1]
    low, high = axes.get_ylim()
    assert low > high
    assert [text.get_text() for text in axes.get_yticklabels()] == ["first", "second"]
    assert axes.get_yticklabels()[0].get_fontweight() == "bold"


def test_texts_of_a_square_can_be_read_on_their_shade(axes) -> None:
    draw_square(axes, [[nan, 0.9], [0.1, nan]], [["–", "a"], ["b", "–"]])
    assert {text.get_text(): text.get_color() for text in axes.texts}["a"] == "white"
    assert {text.get_text(): text.get_color() for text in axes.texts}["b"] == "#202020"
