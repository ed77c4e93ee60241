"""Plain charts of measured numbers: curves with bands, dots with intervals, bars, a shaded square.

Every series has a `Pen`: its colour, marker and dashes together tell it apart, so that a copy in black and white still
can be read. What was not measured is nan, and leaves a gap. `axes` is matplotlib's; nothing here opens a window.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcexplainer.errors import require
from rcexplainer.viz.figure import Figure

INK, RULE = "#202020", "#D8D8D8"
SMALL, TEXT = 8, 9  # points
BEYOND = 0.15  # of the range of all values: as far beyond them are intervals drawn


@dataclass(frozen=True)
class Pen:
    """How one series is told from the others."""

    colour: str = INK
    marker: str = "o"
    dashes: Any = "-"
    width: float = 1.3
    hollow: bool = False

    @property
    def face(self) -> str:
        return "white" if self.hollow else self.colour


# Okabe and Ito's colours without the yellow, which is too light for a line; marker and dashes differ as well.
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
# For values that have an order: from dark to light, none too light for paper.
ORDERED = tuple(
    Pen(colour, pen.marker, "-", 1.6)
    for colour, pen in zip(("#08204F", "#084594", "#2171B5", "#4292C6", "#5FA8D3", "#85BCDB"), PENS, strict=False)
)


@dataclass(frozen=True)
class Series:
    """Values in order, each ± the half-width of its interval (nan or nothing: none is known)."""

    label: str
    pen: Pen
    x: tuple[float, ...]
    y: tuple[float, ...]
    half: tuple[float, ...] = ()


@dataclass(frozen=True)
class Level:
    """Values of one thing that lie beside each other on a line of a dot plot or a bar chart."""

    label: str
    values: tuple[float, ...]
    halves: tuple[float, ...] = ()
    bold: bool = False


def panels(rows: int, columns: int, width: float = 2.7, height: float = 2.4, **shared: Any) -> tuple[Figure, Any]:
    """A figure without a window, and its axes row by row; `width` and `height` of one in inches."""
    figure = require("matplotlib.figure", "figures").Figure((columns * width, rows * height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **shared)
    for one in axes.flat:
        plain(one)
    return figure, axes


def plain(axes: Any) -> None:
    """No frame, thin grid, small clear figures."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=SMALL, length=3)
    axes.grid(color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)


def room(values: Sequence[Sequence[float]]) -> tuple[float, float]:
    """How far intervals are drawn: a little beyond all values. Of few seeds one can be wider than all else together."""
    known = [value for own in values for value in own if np.isfinite(value)]
    if not known:
        return -np.inf, np.inf
    low, high = min(known), max(known)
    beyond = BEYOND * (high - low or 1.0)
    return low - beyond, high + beyond


def draw_curves(axes: Any, series: Sequence[Series]) -> None:
    """A line with markers for each, and its interval as a light band; the boldest on top."""
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
    """Points without a line: what others reported."""
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


def draw_dots(
    axes: Any, levels: Sequence[Level], pens: Sequence[Pen], labels: Sequence[str], apart: float = 0.0
) -> None:
    """A line for each level, a marker for each of its values: `pens` and `labels` say what the places mean. `apart` is
    how far below each other the markers of a level are."""
    low, high = room([one.values for one in levels])
    for place, (pen, label) in enumerate(zip(pens, labels, strict=True)):
        values = np.array([one.values[place] for one in levels], dtype=float)
        halves = np.nan_to_num([one.halves[place] if one.halves else np.nan for one in levels])
        ends = np.clip([values - halves, values + halves], low, high)
        axes.errorbar(
            *(values, np.arange(len(levels)) + apart * (place - (len(pens) - 1) / 2)),
            xerr=np.nan_to_num(np.abs(ends - values)),
            label=label,
            linestyle="none",
            marker=pen.marker,
            color=pen.colour,
            markerfacecolor=pen.face,
            markersize=6 if pen.hollow else 5.5,
            elinewidth=1.0,
            zorder=4 - place,
        )
    name_levels(axes, levels)


def draw_bars(axes: Any, levels: Sequence[Level]) -> None:
    """A bar for each level's first value, on a logarithmic axis."""
    axes.set_xscale("log")
    colours = [INK if one.bold else "#B4B4B4" for one in levels]
    axes.barh(range(len(levels)), [one.values[0] for one in levels], height=0.62, color=colours, zorder=2)
    name_levels(axes, levels)


def name_levels(axes: Any, levels: Sequence[Level]) -> None:
    """The first level at the top."""
    axes.set_yticks(range(len(levels)), [one.label for one in levels])
    axes.set_ylim(len(levels) - 0.4, -0.6)
    for one, text in zip(levels, axes.get_yticklabels(), strict=False):  # axes that share theirs may show none
        text.set_fontweight("bold" if one.bold else "normal")


def draw_square(axes: Any, values: Sequence[Sequence[float]], texts: Sequence[Sequence[str]]) -> None:
    """Cells shaded from 0, white, to 1, dark, with a text in each; nan stays empty."""
    shades = np.array(values, dtype=float)
    axes.imshow(np.ma.masked_invalid(shades), cmap="Greys", vmin=0, vmax=1.4, aspect="auto")
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            dark = shades[row][column] > 0.75
            axes.text(column, row, text, ha="center", va="center", fontsize=TEXT, color="white" if dark else INK)
    for side in (axes.axhline, axes.axvline):
        for place in range(1, len(texts)):
            side(place - 0.5, color="white", linewidth=3)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def beside(axes: Any, title: str = "", handles: Sequence[Any] = (), texts: Sequence[str] = ()) -> None:
    """The legend to the right of the axes: of what is drawn there, or of what is given."""
    own = axes.get_legend_handles_labels()
    axes.legend(
        *((handles, texts) if handles else own),
        loc="upper left",
        bbox_to_anchor=(1.02, 1.02),
        frameon=False,
        fontsize=SMALL,
        title=title or None,
        title_fontsize=SMALL,
        alignment="left",
        handlelength=3.2,
    )
