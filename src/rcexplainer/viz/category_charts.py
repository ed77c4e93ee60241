"""Charts of measured numbers by category: dots with intervals, bars, a shaded matrix.

NaN means not measured and leaves a gap. `axes` is matplotlib's; nothing here opens a window.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcexplainer.viz.charts import TEXT, Pen, room
from rcexplainer.viz.palette import INK


@dataclass(frozen=True)
class Level:
    """One line of a dot plot or bar chart.

    Attributes:
        label: Its name at the axis.
        values: Its values.
        halves: Half-widths of the values' intervals, NaN if unknown; empty for none.
        bold: Whether to emphasise it.
    """

    label: str
    values: tuple[float, ...]
    halves: tuple[float, ...] = ()
    bold: bool = False


def draw_dots(
    axes: Any, levels: Sequence[Level], pens: Sequence[Pen], labels: Sequence[str], apart: float = 0.0
) -> None:
    """Draw a dot plot: a line for each level, a marker for each of its values.

    Args:
        axes: matplotlib axes.
        levels: The lines.
        pens: The style of the first, second, … value of all levels.
        labels: The name of the first, second, … value of all levels.
        apart: Vertical distance between the markers of a level.
    """
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
    """Draw a bar for each level's first value, on a logarithmic axis.

    Args:
        axes: matplotlib axes.
        levels: The bars.
    """
    axes.set_xscale("log")
    colours = [INK if one.bold else "#B4B4B4" for one in levels]
    axes.barh(range(len(levels)), [one.values[0] for one in levels], height=0.62, color=colours, zorder=2)
    name_levels(axes, levels)


def name_levels(axes: Any, levels: Sequence[Level]) -> None:
    """Label the vertical axis, with the first level at the top.

    Args:
        axes: matplotlib axes.
        levels: The levels.
    """
    axes.set_yticks(range(len(levels)), [one.label for one in levels])
    axes.set_ylim(len(levels) - 0.4, -0.6)
    for one, text in zip(levels, axes.get_yticklabels(), strict=False):  # shared axes may show no labels
        text.set_fontweight("bold" if one.bold else "normal")


def draw_square(axes: Any, values: Sequence[Sequence[float]], texts: Sequence[Sequence[str]]) -> None:
    """Draw a matrix of cells shaded from white (0) to dark (1), with a text in each.

    Args:
        axes: matplotlib axes.
        values: The matrix; NaN stays empty.
        texts: The text of each cell.
    """
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
