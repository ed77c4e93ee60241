"""Graphs in files, by row number: Parquet with a graph or a SMILES in each row, or CSV with a column of SMILES.

    table = rc.datasets.GraphTable("molecules/*.parquet")
    len(table);  for graph in table: ...        every graph, in bounded memory, as often as wanted
    table.read(start, stop)                     the graphs of these rows, and an error for each that has none

Rows are counted from 0 through all files, in the order of their names.
"""

import hashlib
import logging
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path

from torch_geometric.data import Data

from rcexplainer.datasets.file_access import access_told
from rcexplainer.datasets.row_file import check_alike, open_rows
from rcexplainer.datasets.row_graphs import RowGraphs
from rcexplainer.errors import DatasetError
from rcexplainer.saving.files import named_file

log = logging.getLogger(__name__)

SUFFIXES = (".parquet", ".csv")
PIECE = 4096  # rows in memory when a table is gone through


class GraphTable:
    """Graphs of one or several files.

    Args:
        path: A Parquet or CSV file, a folder of them, or a pattern such as `molecules/*.parquet`.
        smiles_column: The column of SMILES; found by common names if left out. Tables of tensors need none.
        id_column: The column of what graphs are called; found by common names if left out, and not needed.

    Raises:
        DatasetError: There is no such file, one has no graphs, or they are of different kinds.
        MissingExtraError: pyarrow or, for SMILES, RDKit is not installed.
    """

    def __init__(self, path: str | Path, smiles_column: str | None = None, id_column: str | None = None) -> None:
        self.name = str(path)
        paths = _paths(path)
        self.files = tuple(open_rows(one, smiles_column, id_column) for one in paths)
        for file in self.files:
            check_alike(self.files[0], file)
        self._starts = [0, *accumulate(file.num_rows for file in self.files)]
        if not len(self):
            raise DatasetError(f"{path} has no rows: there is nothing to read")

    @property
    def holds_smiles(self) -> bool:
        """Whether rows are molecules, not tensors."""
        return self.files[0].holds_smiles

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Data]:
        """Every graph; rows that are none are left out, and counted in one warning."""
        bad, first = 0, ""
        for place, graph in self._numbered():
            if isinstance(graph, Data):
                yield graph
                continue
            first = first or f"{self.where(place)}: {graph}"
            bad += 1
        if bad:
            log.warning("%s: %d of %d rows were left out, the first is %s", self.name, bad, len(self), first)

    def first(self, most: int) -> list[Data]:
        """The first graphs; rows that are none are left out without a word, for a table that was gone through before.

        Args:
            most: How many at most.
        """
        return list(islice((graph for _, graph in self._numbered() if isinstance(graph, Data)), most))

    def _numbered(self) -> Iterator[tuple[int, Data | str]]:
        """Every row's number, and its graph or why it has none."""
        for start in range(0, len(self), PIECE):
            yield from enumerate(self.read(start, start + PIECE).graphs(), start)

    def where(self, row: int) -> str:
        """What to call a row for people: its line in a CSV file, its number in others; with several files, the file.

        Args:
            row: Its number through all files.
        """
        number = bisect_right(self._starts, row) - 1
        file = self.files[number]
        named = "" if len(self.files) == 1 else f"{file.path.name}, "
        return named + file.where(row - self._starts[number])

    @property
    def bytes_per_row(self) -> float:
        """What a row takes in memory, roughly."""
        return sum(file.num_bytes for file in self.files) / len(self)

    @property
    def digest(self) -> str:
        """A hash that tables with other rows do not have; where the files are does not matter."""
        return hashlib.sha256(" ".join(file.digest for file in self.files).encode()).hexdigest()

    def read(self, start: int, stop: int) -> RowGraphs:
        """Read rows.

        Args:
            start: The first one.
            stop: One beyond the last; fewer are read at the end.

        Returns:
            Their graphs, and an error for each row that has none.

        Raises:
            DatasetError: A file is damaged, or may not be read.
        """
        found: list[RowGraphs] = []
        for file, first, end in zip(self.files, self._starts, self._starts[1:], strict=False):
            low, high = max(start, first), min(stop, end)
            if low < high:
                with access_told(file.path):
                    found.append(file.read(low - first, high - first))
        return found[0] if len(found) == 1 else _joined(found)


def _joined(parts: Sequence[RowGraphs]) -> RowGraphs:
    """The rows of several files, one after the other."""
    starts = [0, *accumulate(part.count for part in parts)]
    keys = {key for part in parts for key in part.names}
    return RowGraphs(
        starts[-1],
        tuple(
            ([start + place for place in places], group)
            for start, part in zip(starts, parts, strict=False)
            for places, group in part.groups
        ),
        {
            start + place: text
            for start, part in zip(starts, parts, strict=False)
            for place, text in part.errors.items()
        },
        {key: [one for part in parts for one in part.names.get(key, [None] * part.count)] for key in keys},
    )


def _paths(path: str | Path) -> list[Path]:
    """The files that a path, a folder or a pattern names, by name."""
    if not isinstance(path, str | Path):
        raise DatasetError(f"the path of a table is a text, got {type(path).__name__}")
    given = named_file(path, "GraphTable(path)").expanduser()
    with access_told(given):
        inside = list(given.iterdir()) if given.is_dir() else None
        single = given.is_file()
    if inside is not None:
        found = [one for one in inside if one.suffix.lower() in SUFFIXES and not one.name.startswith((".", "_"))]
        if not found:
            raise DatasetError(f"the folder {given} has no file that ends in {' or '.join(SUFFIXES)}")
    else:
        anchor = Path(given.anchor)
        found = [given] if single else list(anchor.glob(str(given.relative_to(anchor))))
        if not found:
            raise DatasetError(f"there is no file {path}, and no file fits it as a pattern")
    for one in found:
        if one.suffix.lower() not in SUFFIXES:
            raise DatasetError(f"{one} must end in {' or '.join(SUFFIXES)}: graphs are read from such files")
    return sorted(found)
