"""A page of drawings, and how it becomes a file: the same figure gives the same bytes."""

import io
from pathlib import Path
from typing import Any

from rcexplainer.errors import RCExplainerError, require
from rcexplainer.saving.files import write_whole

Figure = Any  # matplotlib is optional, so its types are not ours to name
KINDS = ("svg", "png", "pdf")


def page(rows: int, columns: int, size: float = 2.6) -> tuple[Figure, list[list[Any]]]:
    """A figure without a window, and its axes row by row; `size` is the side of a drawing in inches."""
    figure = require("matplotlib.figure", "figures").Figure((columns * size, rows * size), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False).tolist()


def save_figure(figure: Figure, path: Path) -> Path:
    """Write the figure, as its name's ending says: .svg, .png or .pdf."""
    kind = figure_kind(path)
    # Names within an SVG are drawn from a fixed seed, and no date is written: no file changes without a reason.
    stable: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    content = io.BytesIO()
    with require("matplotlib", "figures").rc_context({"svg.hashsalt": "rcexplainer"}):
        figure.savefig(content, format=kind, dpi=110, facecolor="white", metadata=stable[kind])
    return write_whole(path, content.getvalue())


def figure_kind(path: Path) -> str:
    """The kind of file a figure is written as; asked before the work is done that is to be drawn."""
    require("matplotlib", "figures")
    kind = path.suffix.lstrip(".").lower()
    if kind not in KINDS:
        raise RCExplainerError(f"a figure is written as .svg, .png or .pdf, got {path.name!r}")
    return kind
