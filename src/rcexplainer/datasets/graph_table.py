"""Graphs in files, by row number: Parquet with a graph or a SMILES in each row, or CSV with a column of SMILES.

    table = rc.datasets.GraphTable("molecules/*.parquet")
    len(table);  for graph in table: ...        every graph, in bounded memory, as often as wanted
    table.read(start, stop)                     the graphs of these rows, and an error for each that has none

Rows are counted from 0 through all files, in the order of their names.
"""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Protocol

from torch_geometric.data import Data

from rcexplainer.datasets.csv_rows import CSVRows
from rcexplainer.datasets.dataset import BadRow
from rcexplainer.datasets.molecule_rows import ID_COLUMNS, SMILES_COLUMNS, Row
from rcexplainer.datasets.parquet_rows import ParquetRows
from rcexplainer.datasets.row_graphs import (
    EDGE_COLUMNS,
    NODE_COLUMNS,
    SCHEMA_HINT,
    RowGraphs,
    check_columns,
    graphs_of_rows,
)
from rcexplainer.datasets.smiles_file import row_graph
from rcexplainer.errors import DatasetError, require

log = logging.getLogger(__name__)

SUFFIXES = (".parquet", ".csv")
PIECE = 4096  # rows in memory when a table is gone through
TENSOR_COLUMNS = ("edge_index", *NODE_COLUMNS, *EDGE_COLUMNS, "num_nodes")


class RowFile(Protocol):
    """A file of graphs."""

    @property
    def num_rows(self) -> int:
        """Its rows."""
        ...

    @property
    def num_bytes(self) -> int:
        """What its rows take in memory, roughly."""
        ...

    @property
    def digest(self) -> str:
        """A hash that another content would not have."""
        ...

    def read(self, start: int, stop: int) -> RowGraphs:
        """The graphs of rows of this file."""
        ...


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
        self.files = tuple(_open(one, smiles_column, id_column) for one in paths)
        self.holds_smiles = isinstance(self.files[0], CSVMolecules | ParquetMolecules)
        for one, file in zip(paths, self.files, strict=True):
            if isinstance(file, CSVMolecules | ParquetMolecules) != self.holds_smiles:
                raise DatasetError(f"{paths[0]} and {one} are of different kinds: one has graphs, the other SMILES")
            if isinstance(file, ParquetGraphs) and isinstance(self.files[0], ParquetGraphs):
                _check_alike(paths[0], self.files[0], one, file)
        self._starts = [0, *accumulate(file.num_rows for file in self.files)]
        if not len(self):
            raise DatasetError(f"{path} has no rows: there is nothing to read")

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Data]:
        """Every graph; rows that are none are left out, and counted in one warning."""
        bad: list[str] = []
        for start in range(0, len(self), PIECE):
            for place, graph in enumerate(self.read(start, start + PIECE).graphs()):
                if isinstance(graph, Data):
                    yield graph
                else:
                    bad.append(f"row {start + place}: {graph}")
        if bad:
            log.warning("%s: %d of %d rows were left out, the first is %s", self.name, len(bad), len(self), bad[0])

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
            DatasetError: A file is damaged.
        """
        found: list[RowGraphs] = []
        for file, first, end in zip(self.files, self._starts, self._starts[1:], strict=False):
            low, high = max(start, first), min(stop, end)
            if low < high:
                found.append(file.read(low - first, high - first))
        return found[0] if len(found) == 1 else _joined(found)


@dataclass(frozen=True, eq=False)
class ParquetGraphs:
    """A Parquet file with a graph in each row."""

    rows: ParquetRows
    id_column: str | None

    @property
    def num_rows(self) -> int:
        """Its rows."""
        return self.rows.num_rows

    @property
    def num_bytes(self) -> int:
        """Their size in memory, roughly."""
        return self.rows.num_bytes(self.columns())

    @property
    def digest(self) -> str:
        """A hash of its content."""
        return self.rows.digest

    def columns(self) -> list[str]:
        """The columns of tensors that it has."""
        return [name for name in TENSOR_COLUMNS if name in self.rows.schema.names]

    def read(self, start: int, stop: int) -> RowGraphs:
        """The graphs of rows of this file."""
        names = self.rows.schema.names
        smiles = ["smiles"] if "smiles" in names else []
        own = [] if self.id_column is None else [self.id_column]
        table = self.rows.rows(start, stop, [*self.columns(), *smiles, *own])
        renamed = ["id" if name == self.id_column else name for name in table.column_names]
        return graphs_of_rows(table.rename_columns(renamed))


@dataclass(frozen=True, eq=False)
class ParquetMolecules:
    """A Parquet file with a SMILES in each row."""

    rows: ParquetRows
    smiles_column: str
    id_column: str | None

    @property
    def num_rows(self) -> int:
        """Its rows."""
        return self.rows.num_rows

    @property
    def num_bytes(self) -> int:
        """Their size in memory, roughly."""
        return self.rows.num_bytes([self.smiles_column])

    @property
    def digest(self) -> str:
        """A hash of its content."""
        return self.rows.digest

    def read(self, start: int, stop: int) -> RowGraphs:
        """The graphs of rows of this file."""
        own = [] if self.id_column is None else [self.id_column]
        table = self.rows.rows(start, stop, [self.smiles_column, *own])
        smiles = ["" if text is None else str(text) for text in table.column(0).to_pylist()]
        ids = [None if text is None else str(text) for text in table.column(1).to_pylist()] if own else None
        return molecules_of_rows(smiles, ids)


@dataclass(frozen=True, eq=False)
class CSVMolecules:
    """A CSV file with a SMILES in each row."""

    rows: CSVRows
    smiles_column: str
    id_column: str | None

    @property
    def num_rows(self) -> int:
        """Its rows."""
        return self.rows.num_rows

    @property
    def num_bytes(self) -> int:
        """Their size in memory, roughly."""
        return self.rows.path.stat().st_size

    @property
    def digest(self) -> str:
        """A hash of its content."""
        return self.rows.digest

    def read(self, start: int, stop: int) -> RowGraphs:
        """The graphs of rows of this file."""
        cells = [cells for _, cells in self.rows.rows(start, stop)]
        smiles = _cells(cells, self.rows.header.index(self.smiles_column))
        ids = None if self.id_column is None else _cells(cells, self.rows.header.index(self.id_column))
        return molecules_of_rows(smiles, ids)


def molecules_of_rows(smiles: Sequence[str], ids: Sequence[str | None] | None = None) -> RowGraphs:
    """Read molecules.

    Args:
        smiles: The SMILES of each row.
        ids: What they are called, if known.

    Returns:
        Their graphs, and RDKit's reason for each that it refuses.
    """
    found = [row_graph(Row(place, text.strip())) for place, text in enumerate(smiles)]
    errors = {
        place: f"SMILES {one.value!r}: {one.reason}" for place, one in enumerate(found) if isinstance(one, BadRow)
    }
    places = [place for place in range(len(found)) if place not in errors]
    graphs = [graph for graph in found if isinstance(graph, Data)]
    names: dict[str, list[str | None]] = {"smiles": list(smiles)}
    if ids is not None:
        names["id"] = list(ids)
    return RowGraphs(len(found), ((places, graphs),) if places else (), errors, names)


def _cells(rows: Sequence[Sequence[str]], column: int) -> list[str]:
    return [cells[column].strip() if column < len(cells) else "" for cells in rows]


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
    given = Path(path).expanduser()
    if given.is_dir():
        found = [
            one for one in given.iterdir() if one.suffix.lower() in SUFFIXES and not one.name.startswith((".", "_"))
        ]
        if not found:
            raise DatasetError(f"the folder {given} has no file that ends in {' or '.join(SUFFIXES)}")
    else:
        anchor = Path(given.anchor)
        found = [given] if given.is_file() else list(anchor.glob(str(given.relative_to(anchor))))
        if not found:
            raise DatasetError(f"there is no file {path}, and no file fits it as a pattern")
    for one in found:
        if one.suffix.lower() not in SUFFIXES:
            raise DatasetError(f"{one} must end in {' or '.join(SUFFIXES)}: graphs are read from such files")
    return sorted(found)


def _open(path: Path, smiles_column: str | None, id_column: str | None) -> RowFile:
    if path.suffix.lower() == ".csv":
        require("rdkit.Chem", "chem")
        csv = CSVRows.open(path)
        smiles = _found(path, csv.header, smiles_column, SMILES_COLUMNS, "smiles_column")
        if smiles is None:
            raise DatasetError(
                f"{path} has no column of SMILES; it has {', '.join(csv.header)}: choose one with smiles_column"
            )
        return CSVMolecules(csv, smiles, _found(path, csv.header, id_column, ID_COLUMNS, "id_column"))
    rows = ParquetRows(path)
    names = rows.schema.names
    identity = _found(path, names, id_column, ID_COLUMNS, "id_column")
    smiles = _found(path, names, smiles_column, SMILES_COLUMNS, "smiles_column")
    if "edge_index" in names and smiles_column is None:
        check_columns(rows.schema, str(path))
        return ParquetGraphs(rows, identity)
    if smiles is None:
        raise DatasetError(
            f"{path} has neither a column edge_index nor one of SMILES; it has {', '.join(names)}: {SCHEMA_HINT}; or "
            "choose a column of SMILES with smiles_column"
        )
    require("rdkit.Chem", "chem")
    kind = rows.schema.field(smiles).type
    if str(kind) not in ("string", "large_string", "string_view"):
        raise DatasetError(f"{path}: column {smiles} is {kind}, it must be string to hold SMILES")
    return ParquetMolecules(rows, smiles, identity)


def _found(path: Path, header: Sequence[str], given: str | None, known: Sequence[str], option: str) -> str | None:
    """The column with the given name, or with a common one."""
    lowered = {name.lower(): name for name in reversed(header)}
    if given is None:
        return next((lowered[name] for name in known if name in lowered), None)
    if given.strip().lower() not in lowered:
        raise DatasetError(f"{path} has no column {given!r}, which {option} names; it has {', '.join(header)}")
    return lowered[given.strip().lower()]


def _check_alike(first: Path, one: ParquetGraphs, path: Path, other: ParquetGraphs) -> None:
    if one.columns() != other.columns():
        raise DatasetError(
            f"{first} and {path} have different columns: {', '.join(one.columns())}; {', '.join(other.columns())}"
        )
