"""The plot of `scaling`: seconds against size in log–log panels, one for graphs, edges and classes each."""

from pathlib import Path
from typing import TYPE_CHECKING

from rcexplainer.benchmark.speed.options import Rows

if TYPE_CHECKING:
    from rcexplainer.viz.charts import Pen, Series

MOST_TICKS = 5
LABELS = {"graphs": "graphs", "edges": "edges of one graph", "classes": "classes"}


def scaling_plot(rows: Rows, path: Path) -> Path | None:
    """Draw the measured points; the legend says the slopes.

    Args:
        rows: The rows of the benchmark.
        path: The file, an SVG.

    Returns:
        The path; None if matplotlib is not installed, or nothing was measured.
    """
    from rcexplainer.errors import MissingExtraError
    from rcexplainer.viz.charts import PENS, draw_curves, panels
    from rcexplainer.viz.figure import save_figure

    shown = [name for name in LABELS if any(row["row"] == name for row in rows)]
    if not shown:
        return None
    try:
        figure, axes = panels(1, len(shown), width=3.2, height=2.8)
    except MissingExtraError:
        return None
    for own, name in zip(axes.flat, shown, strict=True):
        kinds = list(dict.fromkeys(row["what"] for row in rows if row["row"] == name))
        draw_curves(own, [_curve(rows, name, what, pen) for what, pen in zip(kinds, PENS, strict=False)])
        own.set(xscale="log", yscale="log", xlabel=LABELS[name], ylabel="seconds")
        sizes = sorted({row["size"] for row in rows if row["row"] == name and "size" in row})
        if len(sizes) > MOST_TICKS:
            sizes = sizes[:: len(sizes) // MOST_TICKS + 1]
        own.set_xticks(sizes, [f"{size:,}" for size in sizes])
        own.set_xticks([], minor=True)  # their labels would run into each other
        own.legend(fontsize=7, frameon=False)
    return save_figure(figure, path)


def _curve(rows: Rows, name: str, what: str, pen: "Pen") -> "Series":
    """One series; its label says the slope once it is complete."""
    from rcexplainer.viz.charts import Series

    own = [row for row in rows if (row["row"], row["what"]) == (name, what)]
    x, y = zip(*((row["size"], row["seconds"]) for row in own if "size" in row), strict=True)
    steep = "".join(f", slope {row['slope']:.2f}" for row in own if "slope" in row)
    return Series(f"{what}{steep}", pen, x, y)
