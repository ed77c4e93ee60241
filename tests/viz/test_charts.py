"""Charts of numbers, read back from matplotlib's own objects."""

from math import inf, nan

import pytest

from rcexplainer.viz.category_charts import Level, draw_dots, draw_square
from rcexplainer.viz.charts import BOLD, ORDERED, PENS, Pen, Series, draw_curves, panels, room

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


def test_an_interval_wider_than_all_values_is_cut_a_little_beyond_them(axes) -> None:
    draw_curves(axes, [Series("a", BOLD, (0.0, 1.0), (0.0, 1.0), (5.0, 0.05))])
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((-0.15, 1.15))
    draw_dots(axes, [Level("a", (0.0,), (5.0,)), Level("b", (1.0,), (0.05,))], (Pen(),), ("here",))
    ends = [[x for x, _ in segment] for segment in axes.containers[0].lines[2][0].get_segments()]
    assert ends == [pytest.approx([-0.15, 1.15]), pytest.approx([0.95, 1.05])]
    assert room([(nan,), ()]) == (-inf, inf)


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
