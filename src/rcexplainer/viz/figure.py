"""Figures: their axes, and their files. The same figure always gives the same bytes."""

import io
from pathlib import Path
from typing import Any

from rcexplainer.errors import RCExplainerError, require
from rcexplainer.method.settings import positive, whole
from rcexplainer.saving.files import named_file, write_whole

Figure = Any  # matplotlib's own; it is an optional package, so its types cannot be named here
FIGURE_KINDS = ("svg", "png", "pdf")


def subplots(rows: int, columns: int, size: float = 2.6) -> tuple[Figure, list[list[Any]]]:
    """Make a figure without a window.

    Args:
        rows: Number of rows.
        columns: Number of columns.
        size: Width and height of one drawing in inches.

    Returns:
        The figure, and its axes row by row.

    Raises:
        RCExplainerError: A number is none, or too small.
        MissingExtraError: If matplotlib is not installed.
    """
    whole("rows", rows)
    whole("columns", columns)
    positive("size", size)
    figure = require("matplotlib.figure", "figures").Figure((columns * size, rows * size), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False).tolist()


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file, in the format of the file's suffix: .svg, .png or .pdf.

    Args:
        figure: The figure.
        path: The file.

    Returns:
        The path.

    Raises:
        RCExplainerError: If the suffix is none of these.
        MissingExtraError: If matplotlib is not installed.
    """
    path = named_file(path, "save_figure(figure, path)")
    if not hasattr(figure, "savefig"):
        raise RCExplainerError(f"figure must be matplotlib's, got {type(figure).__name__}")
    return write_whole(path, figure_bytes(figure, figure_kind(path)))


def figure_bytes(figure: Figure, kind: str, dpi: int = 110, **settings: Any) -> bytes:
    """Render a figure.

    Args:
        figure: The figure.
        kind: "svg", "png" or "pdf".
        dpi: Dots per inch of a PNG.
        **settings: matplotlib's own settings, with `_` for the dot in their names.

    Returns:
        The content of its file.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    # Ids within an SVG come from a fixed seed, and no date is written: a file changes only if its content does.
    stable: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    named = {name.replace("_", ".", 1): value for name, value in settings.items()}
    content = io.BytesIO()
    with require("matplotlib", "figures").rc_context({"svg.hashsalt": "rcexplainer", **named}):
        figure.savefig(content, format=kind, dpi=dpi, facecolor="white", metadata=stable[kind])
    return content.getvalue()


def figure_kind(path: Path) -> str:
    """Return the format of a figure's file; called early, it refuses a wrong suffix before any work is done.

    Args:
        path: The file.

    Returns:
        "svg", "png" or "pdf".

    Raises:
        RCExplainerError: If the suffix is none of these.
        MissingExtraError: If matplotlib is not installed.
    """
    require("matplotlib", "figures")
    kind = path.suffix.lstrip(".").lower()
    if kind not in FIGURE_KINDS:
        raise RCExplainerError(f"the file of a figure must end in .svg, .png or .pdf, got {path.name!r}")
    return kind
