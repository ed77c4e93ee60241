"""Charts of measured numbers: pens, panels, curves with bands. Charts by category are in `category_charts`.

Every series has a `Pen`, whose colour, marker and dashes differ, so that a copy in black and white is still readable.
NaN means not measured and leaves a gap. `axes` is matplotlib's; nothing here opens a window.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcexplainer.errors import require
from rcexplainer.viz.figure import Figure
from rcexplainer.viz.palette import INK as INK  # also used by the figures that take their pens from here

RULE = "#D8D8D8"
SMALL_TEXT, TEXT = 8, 9  # points
BEYOND = 0.15  # how far intervals are drawn beyond all values, as a share of the values' range


@dataclass(frozen=True)
class Pen:
    """The style of one series.

    Attributes:
        colour: Line and marker colour.
        marker: matplotlib's marker; empty for none.
        dashes: matplotlib's line style.
        width: Line width in points.
        hollow: Whether markers are white inside.
    """

    colour: str = INK
    marker: str = "o"
    dashes: Any = "-"
    width: float = 1.3
    hollow: bool = False

    @property
    def face(self) -> str:
        """Fill colour of the markers."""
        return "white" if self.hollow else self.colour


# Okabe and Ito's colours without yellow, which is too light for a line; marker and dashes differ as well.
BOLD = Pen("#000000", "o", "-", 2.6)
REFERENCE = Pen("#6E6E6E", "", (0, (5, 2)), 1.6)
PENS = (
    Pen("#0072B2", "s", (0, (4, 1.5))),
    Pen("#D55E00", "^", "-"),
    Pen("#009E73", "D", (0, (1.2, 1.2))),
    Pen("#CC79A7", "v", (0, (6, 1.5, 1.2, 1.5))),
    Pen("#56B4E9", "P", "-", hollow=True),
    Pen("#A07000", "X", (0, (3, 1, 1, 1)), hollow=True),
    Pen("#6E6E6E", "*", (0, (1, 2))),
)
# For ordered series: from dark to light, none too light for paper.
ORDERED = tuple(
    Pen(colour, pen.marker, "-", 1.6)
    for colour, pen in zip(("#08204F", "#084594", "#2171B5", "#4292C6", "#5FA8D3", "#85BCDB"), PENS, strict=False)
)


@dataclass(frozen=True)
class Series:
    """A curve.

    Attributes:
        label: Its name in the legend.
        pen: Its style.
        x: Positions.
        y: Values.
        half: Half-widths of the values' intervals, NaN if unknown; empty for none.
    """

    label: str
    pen: Pen
    x: tuple[float, ...]
    y: tuple[float, ...]
    half: tuple[float, ...] = ()


def panels(rows: int, columns: int, width: float = 2.7, height: float = 2.4, **shared: Any) -> tuple[Figure, Any]:
    """Make a figure of charts without a window.

    Args:
        rows: Number of rows.
        columns: Number of columns.
        width: Width of one chart in inches.
        height: Height of one chart in inches.
        **shared: Further arguments of matplotlib's `subplots`, such as `sharex`.

    Returns:
        The figure, and its axes as an array [rows, columns].
    """
    figure = require("matplotlib.figure", "figures").Figure((columns * width, rows * height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **shared)
    for one in axes.flat:
        plain(one)
    return figure, axes


def plain(axes: Any) -> None:
    """Style axes: no frame at the top and right, a thin grid, small tick labels.

    Args:
        axes: matplotlib axes.
    """
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=SMALL_TEXT, length=3)
    axes.grid(color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)


def room(values: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Find how far intervals are drawn: slightly beyond all values, as an interval of few seeds can be much wider.

    Args:
        values: The values of all series.

    Returns:
        The lowest and highest position.
    """
    known = [value for own in values for value in own if np.isfinite(value)]
    if not known:
        return -np.inf, np.inf
    low, high = min(known), max(known)
    beyond = BEYOND * (high - low or 1.0)
    return low - beyond, high + beyond


def draw_curves(axes: Any, series: Sequence[Series]) -> None:
    """Draw curves with markers, their intervals as light bands, the boldest on top.

    Args:
        axes: matplotlib axes.
        series: The curves.
    """
    low, high = room([one.y for one in series])
    for one in sorted(series, key=lambda one: one.pen.width):
        pen, order = one.pen, 2 + one.pen.width
        axes.plot(
            *(one.x, one.y),
            label=one.label,
            color=pen.colour,
            linewidth=pen.width,
            linestyle=pen.dashes,
            marker=pen.marker or None,
            markersize=4.5,
            markerfacecolor=pen.face,
            zorder=order,
        )
        if one.half:
            y, half = np.array(one.y), np.array(one.half)
            ends = np.clip([y - half, y + half], low, high)
            axes.fill_between(one.x, *ends, color=pen.colour, alpha=0.12, linewidth=0, zorder=1)


def draw_points(axes: Any, one: Series) -> None:
    """Draw points without a line, such as published values.

    Args:
        axes: matplotlib axes.
        one: The points.
    """
    axes.plot(
        *(one.x, one.y),
        label=one.label,
        linestyle="none",
        marker=one.pen.marker,
        color=one.pen.colour,
        markerfacecolor=one.pen.face,
        markersize=7,
        markeredgewidth=1.2,
        zorder=6,
    )


def beside(axes: Any, title: str = "", handles: Sequence[Any] = (), texts: Sequence[str] = ()) -> None:
    """Put the legend to the right of the axes.

    Args:
        axes: matplotlib axes.
        title: Title of the legend.
        handles: The entries; those drawn on the axes if left out.
        texts: The texts of the given entries.
    """
    own = axes.get_legend_handles_labels()
    axes.legend(
        *((handles, texts) if handles else own),
        loc="upper left",
        bbox_to_anchor=(1.02, 1.02),
        frameon=False,
        fontsize=SMALL_TEXT,
        title=title or None,
        title_fontsize=SMALL_TEXT,
        alignment="left",
        handlelength=3.2,
    )
