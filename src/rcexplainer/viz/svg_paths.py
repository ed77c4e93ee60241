"""RDKit's drawing of a molecule as matplotlib shapes, so that one figure can be an SVG, a PNG or a PDF.

RDKit writes nothing but `<path class="bond-3 atom-1 atom-2" d="M … L … Q … Z" style="fill:…;stroke:…">`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rcexplainer.errors import require

_PATH = re.compile(r"<path\s+(?:class='(?P<names>[^']*)'\s+)?d='(?P<d>[^']*)'[^>]*?(?:fill[:=]'?(?P<fill>[^;' ]+))")
_TOKEN = re.compile(r"[MLQCZ]|-?\d+(?:\.\d+)?")
_POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}


@dataclass(frozen=True, eq=False)
class Shape:
    """One path of the drawing.

    Attributes:
        bond: The bond it draws; None for the text of an atom.
        note: Whether it is part of the note beside an atom.
        filled: Whether it is an area rather than a line.
        points: [n, 2] in RDKit's pixels.
        codes: [n] matplotlib's path codes.
    """

    bond: int | None
    note: bool
    filled: bool
    points: NDArray[np.float64]
    codes: list[int]


def read_shapes(svg: str) -> Iterator[Shape]:
    """Read the paths of an SVG written by RDKit.

    Args:
        svg: The text.

    Yields:
        Its paths.
    """
    for path in _PATH.finditer(svg):
        points, codes = _commands(path["d"])
        names = path["names"] or ""
        bond = re.search(r"\bbond-(\d+)", names)
        yield Shape(
            None if bond is None else int(bond[1]), "note" in names.split(), path["fill"] != "none", points, codes
        )


def _commands(text: str) -> tuple[NDArray[np.float64], list[int]]:
    """The points and codes of a path's commands, which are all absolute."""
    path = require("matplotlib.path", "figures").Path
    code_of = {"M": path.MOVETO, "L": path.LINETO, "Q": path.CURVE3, "C": path.CURVE4}
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    tokens = _TOKEN.findall(text)
    place, command = 0, "M"
    while place < len(tokens):
        if tokens[place] == "Z":
            points.append((0.0, 0.0))
            codes.append(path.CLOSEPOLY)
            place += 1
            continue
        if tokens[place] in _POINTS:
            command = tokens[place]
            place += 1
        count = _POINTS[command]
        numbers = [float(token) for token in tokens[place : place + 2 * count]]
        points += list(zip(numbers[::2], numbers[1::2], strict=True))
        codes += [code_of[command]] * count
        place += 2 * count
    return np.array(points, dtype=np.float64).reshape(-1, 2), codes


def add_shape(axes: Any, shape: Shape, points: NDArray[np.float64], colour: str, width: float, style: Any) -> None:
    """Draw a path.

    Args:
        axes: matplotlib axes.
        shape: The path.
        points: Its points in data coordinates.
        colour: Its colour.
        width: Line width in points.
        style: matplotlib's line style.
    """
    path = require("matplotlib.path", "figures").Path(points, shape.codes)
    face = {"facecolor": colour, "linewidth": 0} if shape.filled else {"facecolor": "none", "linewidth": width}
    patch = require("matplotlib.patches", "figures").PathPatch
    height = 6 if shape.note else 3  # numbers are read above the crosses of deleted bonds
    axes.add_patch(patch(path, edgecolor=colour, linestyle=style, capstyle="round", zorder=height, **face))
