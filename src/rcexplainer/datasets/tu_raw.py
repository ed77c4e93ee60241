"""The text files of a TU set, checked before graphs are built from them.

NAME_A.txt has one edge per line, `source, target`; every other file has one line per node, edge or graph, in the same
order. Ids count from 1. PyG's reader does not check the files: a truncated copy fails deep inside it, or not at all. So
every file is read here first, and the error names the file and the line.
"""

from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rcexplainer.errors import DatasetError

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

GROUND_TRUTH = "edge_ground_truth.txt"
MOST_ONE_HOT, LIGHT_ONE_HOT = 1 << 30, 1 << 26  # numbers that the labels of a file become; always allowed below
AGAIN = "the file may be truncated or edited; download the set again"


@dataclass(frozen=True)
class RawSet:
    """The checked files of one set, with nodes and graphs counted from 0.

    Attributes:
        folder: Where the files are.
        name: The set's name, with which their names begin.
        edges: [lines of NAME_A.txt, 2], in the order of the file.
        graph_of_node: [nodes], ascending.
        marked: Whether each line of NAME_A.txt is ground truth; None if unknown.
    """

    folder: Path
    name: str
    edges: Integers
    graph_of_node: Integers
    marked: Booleans | None

    @property
    def num_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return len(self.graph_of_node)

    @property
    def num_graphs(self) -> int:
        """Number of graphs."""
        return int(self.graph_of_node[-1]) + 1


def check_raw(folder: Path, name: str, required: tuple[str, ...] = ()) -> RawSet:
    """Read and check all files of a set.

    Args:
        folder: Where the files are.
        name: The set's name.
        required: Optional files of the format that this set must have, such as "node_labels".

    Returns:
        Their content.

    Raises:
        DatasetError: If a file is missing or corrupt, or the set is for regression.
    """

    def path(part: str) -> Path:
        return folder / f"{name}_{part}.txt"

    if path("graph_attributes").exists():
        raise DatasetError(
            f"{name} is a regression set ({path('graph_attributes').name} assigns real numbers to its graphs): "
            "only graph classification sets are supported"
        )
    indicator = _read(path("graph_indicator"))[:, 0]
    _check_indicator(path("graph_indicator"), indicator)
    edges = _read(path("A"), columns=2)
    _check_edges(path("A"), edges, indicator)

    per_graph = (int(indicator[-1]), f"{path('graph_indicator').name} has {indicator[-1]} graphs")
    per_node = (len(indicator), f"{path('graph_indicator').name} has {len(indicator)} nodes")
    per_edge = (len(edges), f"{path('A').name} has {len(edges)} edges")
    _check_length(path("graph_labels"), _read(path("graph_labels")), *per_graph)
    for part, expected in (("node_labels", per_node), ("edge_labels", per_edge)):
        if part in required or path(part).exists():
            labels = _read(path(part), columns=None)
            _check_length(path(part), labels, *expected)
            _check_labels(path(part), labels)
    for part, expected in (("node_attributes", per_node), ("edge_attributes", per_edge)):
        if path(part).exists():
            _check_length(path(part), _read(path(part), columns=None, kind=np.float64), *expected)
    return RawSet(folder, name, edges - 1, indicator - 1, _ground_truth(folder, *per_edge))


def _ground_truth(folder: Path, *per_edge: Any) -> Booleans | None:
    """The marks of `edge_ground_truth.txt`, beside the raw folder or in it; None without such a file."""
    for path in (folder.parent / GROUND_TRUTH, folder / GROUND_TRUTH):
        if path.exists():
            marks = _read(path)[:, 0]
            _check_length(path, marks, *per_edge)
            bad = np.flatnonzero((marks != 0) & (marks != 1))
            if bad.size:
                raise DatasetError(f"{path}: line {bad[0] + 1} is {marks[bad[0]]}, expected 0 or 1")
            return marks == 1
    return None


def _read(path: Path, columns: int | None = 1, kind: type[np.number[Any]] = np.int64) -> NDArray[Any]:
    """The numbers of a file as [lines, columns]; `columns=None` takes as many as the first line has."""
    lines = _lines(path)
    values = _parse(lines, kind)
    if values is None:
        # The first bad line is the last of the shortest beginning of the file that cannot be read.
        bad = bisect_left(range(1, len(lines)), True, key=lambda count: _parse(lines[:count], kind) is None)
    elif columns not in (None, values.shape[1]):
        bad = 0
    else:
        return values
    numbers = "whole numbers" if kind is np.int64 else "finite numbers"
    wanted = {None: f"{numbers}, as many as in the lines before", 1: "one whole number"}
    expected = wanted.get(columns, f"{columns} {numbers} separated by a comma")
    raise DatasetError(f"{path}: line {bad + 1} is {lines[bad][:80]!r}, expected {expected}; {AGAIN}")


def _lines(path: Path) -> list[str]:
    """The lines of a text file, which must have at least two, all complete."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DatasetError(f"{path} is missing; put it beside the others, or download the set again") from error
    except OSError as error:
        raise DatasetError(f"{path} cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is not a text file ({error}); download the set again") from error
    if not text.strip():
        raise DatasetError(f"{path} is empty, expected one line per node, edge or graph; {AGAIN}")
    *lines, rest = text.split("\n")
    # PyG skips a last line without a line break; it may also be half a number, which no other check would detect.
    if rest:
        raise DatasetError(
            f"{path}: the last line is {rest[:80]!r} without a line break; add one if the file is complete, "
            "else download the set again"
        )
    # PyG's reader fails on a single line: its table of numbers loses a dimension.
    if len(lines) < 2:
        raise DatasetError(f"{path} has a single line, expected at least two; {AGAIN}")
    return lines


def _parse(lines: list[str], kind: type[np.number[Any]]) -> NDArray[Any] | None:
    """The numbers of the lines, or None if they cannot be read."""
    if not all(map(str.strip, lines)):  # numpy would skip a blank line and shift all that follow
        return None
    try:
        values: NDArray[Any] = np.loadtxt(lines, dtype=kind, delimiter=",", comments=None, ndmin=2)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _check_length(path: Path, values: NDArray[Any], expected: int, reason: str) -> None:
    """Check the number of lines."""
    if len(values) != expected:
        raise DatasetError(f"{path} has {len(values)} lines, expected {expected} as {reason}; {AGAIN}")


def _check_labels(path: Path, labels: Integers) -> None:
    """Check that one-hot labels fit into memory: PyG makes a column for every number between the least and the most."""
    columns = sum(int(most) - int(least) + 1 for least, most in zip(labels.min(0), labels.max(0), strict=True))
    size = len(labels) * columns
    if size > MOST_ONE_HOT or (size > LIGHT_ONE_HOT and len(labels) < 100 * columns):
        raise DatasetError(
            f"{path} has labels from {labels.min()} to {labels.max()} in {len(labels)} lines: one-hot, they would be "
            f"{size:,} numbers; number the labels 0, 1, 2, … without gaps"
        )


def _check_indicator(path: Path, indicator: Integers) -> None:
    """Check that nodes are listed graph by graph, without gaps."""
    before = np.concatenate(([0], indicator[:-1]))
    bad = np.flatnonzero((indicator < 1) | (indicator < before) | (indicator > before + 1))
    if bad.size:
        line = bad[0]
        raise DatasetError(
            f"{path}: line {line + 1} is graph {indicator[line]} after graph {before[line]}, expected nodes "
            f"listed graph by graph and graphs numbered 1, 2, … without gaps; {AGAIN}"
        )


def _check_edges(path: Path, edges: Integers, indicator: Integers) -> None:
    """Check that edges join existing nodes of one graph."""
    outside = np.flatnonzero(((edges < 1) | (edges > len(indicator))).any(axis=1))
    if outside.size:
        line = outside[0]
        raise DatasetError(
            f"{path}: line {line + 1} is the edge {edges[line, 0]}, {edges[line, 1]}, expected nodes from 1 "
            f"to {len(indicator)}, the number of lines of the graph_indicator file; {AGAIN}"
        )
    graphs = indicator[edges - 1]
    crossing = np.flatnonzero(graphs[:, 0] != graphs[:, 1])
    if crossing.size:
        line = crossing[0]
        raise DatasetError(
            f"{path}: line {line + 1} is the edge {edges[line, 0]}, {edges[line, 1]} from graph "
            f"{graphs[line, 0]} to graph {graphs[line, 1]}, expected both nodes in one graph; {AGAIN}"
        )
