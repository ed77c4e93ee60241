"""A file of graphs: its columns, found by name, and its rows as graphs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torch_geometric.data import Data

from rcexplainer.datasets.csv_rows import CSVRows
from rcexplainer.datasets.dataset import BadRow
from rcexplainer.datasets.file_access import access_told
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

if TYPE_CHECKING:
    import pyarrow as pa

TENSOR_COLUMNS = ("edge_index", *NODE_COLUMNS, *EDGE_COLUMNS, "num_nodes")
TEXT_TYPES = ("string", "large_string", "string_view")


@dataclass(frozen=True, eq=False)
class RowFile:
    """A file of graphs.

    Attributes:
        path: The file.
        num_rows: Its rows.
        num_bytes: What its rows take in memory, roughly.
        digest: A hash that another content would not have.
        columns: The columns that graphs are made of.
        holds_smiles: Whether they are molecules, not tensors.
        read: (first row, one beyond the last) → their graphs; can be pickled.
        where: Row → what to call it for people: in a CSV file its line, as an editor shows it; can be pickled.
    """

    path: Path
    num_rows: int
    num_bytes: int
    digest: str
    columns: tuple[str, ...]
    holds_smiles: bool
    read: Callable[[int, int], RowGraphs]
    where: Callable[[int], str] = "row {}".format


def open_rows(path: Path, smiles_column: str | None, id_column: str | None) -> RowFile:
    """Open a file.

    Args:
        path: A Parquet or CSV file.
        smiles_column: The column of SMILES; None: found by common names.
        id_column: The column of ids; None: found by common names, and not needed.

    Raises:
        DatasetError: It cannot be read, or has no graphs.
        MissingExtraError: pyarrow or, for SMILES, RDKit is not installed.
    """
    with access_told(path):  # before pyarrow, whose own error would be taken for damage
        path.open("rb").close()
    if path.suffix.lower() == ".csv":
        require("rdkit.Chem", "chem")
        csv = CSVRows.open(path)
        smiles = _found(path, csv.header, smiles_column, SMILES_COLUMNS, "smiles_column")
        if smiles is None:
            known = ", ".join(csv.header)
            raise DatasetError(
                f"{path} has no column of SMILES; it has {known}: choose one with smiles_column (--smiles-column)"
            )
        own = _found(path, csv.header, id_column, ID_COLUMNS, "id_column")
        read = partial(_csv_molecules, csv, smiles, own)
        return RowFile(path, csv.num_rows, path.stat().st_size, csv.digest, (smiles,), True, read, partial(_line, csv))
    rows = ParquetRows(path)
    names = rows.schema.names
    own = _found(path, names, id_column, ID_COLUMNS, "id_column")
    smiles = _found(path, names, smiles_column, SMILES_COLUMNS, "smiles_column")
    if "edge_index" in names and smiles_column is None:
        if rows.num_rows:  # pandas gives columns without rows no type
            check_columns(rows.schema, str(path))
        columns = tuple(name for name in TENSOR_COLUMNS if name in names)
        read = partial(_parquet_graphs, rows, columns, own)
        return RowFile(path, rows.num_rows, rows.num_bytes(columns), rows.digest, columns, False, read)
    if smiles is None:
        raise DatasetError(
            f"{path} has neither a column edge_index nor one of SMILES; it has {', '.join(names)}: {SCHEMA_HINT}; or "
            "choose a column of SMILES with smiles_column (--smiles-column)"
        )
    require("rdkit.Chem", "chem")
    kind = str(rows.schema.field(smiles).type)
    if kind not in TEXT_TYPES:
        raise DatasetError(f"{path}: column {smiles} is {kind}, it must be string to hold SMILES")
    read = partial(_parquet_molecules, rows, smiles, own)
    return RowFile(path, rows.num_rows, rows.num_bytes([smiles]), rows.digest, (smiles,), True, read)


def check_alike(one: RowFile, other: RowFile) -> None:
    """Refuse files that cannot be read as one table.

    Args:
        one: A file.
        other: Another one.

    Raises:
        DatasetError: They have different columns.
    """
    if one.holds_smiles != other.holds_smiles:
        raise DatasetError(f"{one.path} and {other.path} are of different kinds: one has graphs, the other SMILES")
    if not one.holds_smiles and one.columns != other.columns:
        named = f"{', '.join(one.columns)}; {', '.join(other.columns)}"
        raise DatasetError(f"{one.path} and {other.path} have different columns: {named}")


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


def _csv_molecules(rows: CSVRows, smiles: str, own: str | None, start: int, stop: int) -> RowGraphs:
    cells = [cells for _, cells in rows.rows(start, stop)]
    ids = None if own is None else _cells(cells, rows.header.index(own))
    return molecules_of_rows(_cells(cells, rows.header.index(smiles)), ids)


def _line(rows: CSVRows, row: int) -> str:
    ((line, _),) = rows.rows(row, row + 1)
    return f"line {line}"


def _cells(rows: Sequence[Sequence[str]], column: int) -> list[str]:
    return [cells[column].strip() if column < len(cells) else "" for cells in rows]


def _parquet_molecules(rows: ParquetRows, smiles: str, own: str | None, start: int, stop: int) -> RowGraphs:
    return molecules_of_table(rows.rows(start, stop, [smiles] if own is None else [smiles, own]), smiles, own)


def molecules_of_table(table: "pa.Table", smiles: str, own: str | None) -> RowGraphs:
    """Read the molecules of a table.

    Args:
        table: Its rows.
        smiles: The column of SMILES.
        own: The column of ids, if there is one.
    """
    texts = ["" if text is None else str(text) for text in table.column(smiles).to_pylist()]
    ids = None if own is None else [None if text is None else str(text) for text in table.column(own).to_pylist()]
    return molecules_of_rows(texts, ids)


def _parquet_graphs(rows: ParquetRows, columns: Sequence[str], own: str | None, start: int, stop: int) -> RowGraphs:
    named = [*(["smiles"] if "smiles" in rows.schema.names else []), *([] if own is None else [own])]
    table = rows.rows(start, stop, [*columns, *named])
    return graphs_of_rows(table.rename_columns(["id" if name == own else name for name in table.column_names]))


def common_column(header: Sequence[str], known: Sequence[str]) -> str | None:
    """The first column with one of the common names, however they are capitalised.

    Args:
        header: Names of the columns.
        known: The common names, in lower case.
    """
    lowered = {name.lower(): name for name in reversed(header)}
    return next((lowered[name] for name in known if name in lowered), None)


def _found(path: Path, header: Sequence[str], given: str | None, known: Sequence[str], option: str) -> str | None:
    """The column with the given name, or with a common one."""
    if given is None:
        return common_column(header, known)
    lowered = {name.lower(): name for name in reversed(header)}
    if given.strip().lower() not in lowered:
        raise DatasetError(f"{path} has no column {given!r}, which {option} names; it has {', '.join(header)}")
    return lowered[given.strip().lower()]
