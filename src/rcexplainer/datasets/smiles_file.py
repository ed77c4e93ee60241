"""A user's own molecules: a CSV file with a column of SMILES and a column of classes, `csv:PATH`."""

import logging
import math
from collections.abc import Sequence
from csv import Error as CSVError
from csv import reader as read_csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch_geometric.data import Data

from rcexplainer.datasets.dataset import BadRow, GraphDataset, stratified_split
from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES, to_data
from rcexplainer.datasets.molecules import from_rdkit
from rcexplainer.errors import DatasetError, require

if TYPE_CHECKING:
    from rdkit import Chem

log = logging.getLogger(__name__)

SMILES_COLUMNS = ("smiles", "canonical_smiles", "isomeric_smiles", "mol", "molecule", "structure")
LABEL_COLUMNS = ("label", "labels", "y", "class", "target", "activity")
# How programs write a missing value. The word "none" is not among them: it may well be a class.
MISSING = ("", "nan", "na", "n/a", "null")
ROWS_SHOWN = 5  # in messages; `bad_rows` has them all


@dataclass(frozen=True)
class Row:
    """A row of the file.

    Attributes:
        line: Its line as an editor shows it; the header is line 1.
        smiles: Its SMILES.
        label: Its class.
    """

    line: int
    smiles: str
    label: str


def csv(
    path: str | Path,
    root: Path | None = None,
    seed: int = 0,
    smiles_column: str | None = None,
    label_column: str | None = None,
) -> GraphDataset:
    """Load molecules from a file with a column of SMILES and a column of classes, which are whole numbers or words.

    Rows that cannot be read are left out and listed in `bad_rows`.

    Args:
        path: The file.
        root: Not used.
        seed: Random seed of the split.
        smiles_column: The column of SMILES; found by common names if left out.
        label_column: The column of classes; found by common names if left out.

    Returns:
        The dataset.

    Raises:
        DatasetError: If the file or a column is missing, labels are real numbers, or fewer than two classes remain.
        MissingExtraError: If RDKit is not installed.
    """
    require("rdkit.Chem", "chem")  # before anything is read
    file = Path(path).expanduser()
    rows = _rows(file, smiles_column, label_column)
    _refuse_regression(file, rows)
    parsed = [(row, _parse(row)) for row in rows]
    bad = tuple(found for _, found in parsed if isinstance(found, BadRow))
    good = [(row, found) for row, found in parsed if not isinstance(found, BadRow)]
    if not good:
        raise DatasetError(f"{file}: none of its {len(rows)} rows can be used: {_shown(bad)}")
    if bad:
        log.warning("%s: %d of %d rows were left out: %s", file, len(bad), len(rows), _shown(bad))
    class_names, labels = _classes([row.label for row, _ in good])
    if len(class_names) == 1:
        raise DatasetError(
            f"{file}: all {len(good)} usable rows are of class {class_names[0]!r}; at least two classes are needed"
        )
    return GraphDataset(
        name=f"csv:{path}",
        task="graph",
        graphs=tuple(_graph(row, mol, label) for (row, mol), label in zip(good, labels, strict=True)),
        split=stratified_split(labels, seed),
        class_names=class_names,
        node_names=ATOM_NAMES,
        edge_names=BOND_NAMES,
        bad_rows=bad,
    )


def _rows(file: Path, smiles_column: str | None, label_column: str | None) -> list[Row]:
    """The rows below the header."""
    lines = _lines(file)
    if not lines:
        raise DatasetError(f"{file} is empty; it needs a line of column names and one line per molecule")
    header = [name.strip() for name in lines[0][1]]
    smiles = _column(file, header, "smiles_column", smiles_column, SMILES_COLUMNS)
    label = _column(file, header, "label_column", label_column, LABEL_COLUMNS)
    if len(lines) == 1:
        raise DatasetError(f"{file} has column names but no rows below them; it needs one line per molecule")
    return [Row(line, _cell(cells, smiles), _cell(cells, label)) for line, cells in lines[1:]]


def _lines(file: Path) -> list[tuple[int, list[str]]]:
    """Line number and cells of every non-blank line."""
    if not file.is_file():
        raise DatasetError(f"there is no file {file}; check the path after csv:")
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:  # Excel writes a byte-order mark
            first = stream.readline()
            stream.seek(0)
            cells = read_csv(stream, delimiter=max(",;\t", key=first.count))
            lines, begin = [], 1
            for row in cells:
                if any(cell.strip() for cell in row):
                    lines.append((begin, row))
                begin = cells.line_num + 1  # a quoted cell may run over several lines
            return lines
    except (CSVError, UnicodeDecodeError) as error:
        raise DatasetError(f"{file} is not a text file of comma-separated values in UTF-8: {error}") from error


def _column(file: Path, header: Sequence[str], option: str, given: str | None, known: Sequence[str]) -> int:
    """The position of a column, by its given name or a known one."""
    lowered = [name.lower() for name in header]
    for name in known if given is None else (given.strip().lower(),):
        if name in lowered:
            return lowered.index(name)
    missing = f"column {given!r}" if given is not None else f"column named {', '.join(known[:-1])} or {known[-1]}"
    raise DatasetError(
        f"{file} has no {missing}; its first line, which must name the columns, reads: {', '.join(header)}. "
        f"Choose a column with {option}"
    )


def _cell(cells: Sequence[str], column: int) -> str:
    """A cell of a row, empty if the row is too short."""
    return cells[column].strip() if column < len(cells) else ""


def _refuse_regression(file: Path, rows: Sequence[Row]) -> None:
    """Raise an error if a label is a number but not a whole one."""
    for row in rows:
        value = _number(row.label)
        if value is not None and not value.is_integer():
            raise DatasetError(
                f"{file}, line {row.line}: the label {row.label} is not a class; regression is not supported. "
                "Labels must be whole numbers or words: bin the values into classes first"
            )


def _number(label: str) -> float | None:
    """The label as a finite number, or None."""
    try:
        value = float(label)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _classes(labels: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """Class names in order, as the user spelt them, and the class of each label. Numbers are sorted as numbers."""
    numbers = [_number(label) for label in labels]
    words = None in numbers
    keys = [(0.0, label) if words else (number or 0.0, "") for label, number in zip(labels, numbers, strict=True)]
    names = dict(
        zip(reversed(keys), reversed(labels), strict=True)
    )  # "1" and "1.0" are one class, spelt as it first occurs
    order = {key: position for position, key in enumerate(sorted(names))}
    return tuple(names[key] for key in order), [order[key] for key in keys]


def _parse(row: Row) -> "Chem.Mol | BadRow":
    """The molecule of a row, or why there is none."""
    if row.label.lower() in MISSING:
        return BadRow(row.line, row.smiles, "the label is missing")
    if not row.smiles:
        return BadRow(row.line, row.smiles, "the SMILES is missing")
    chem = require("rdkit.Chem", "chem")
    with require("rdkit.rdBase", "chem").BlockLogs():  # its complaints become the reason
        mol = chem.MolFromSmiles(row.smiles)
        if mol is None:
            raw = chem.MolFromSmiles(row.smiles, sanitize=False)
            problems = [] if raw is None else [problem.Message() for problem in chem.DetectChemistryProblems(raw)]
            return BadRow(row.line, row.smiles, "; ".join(problems) or "not a SMILES")
    return mol if mol.GetNumAtoms() else BadRow(row.line, row.smiles, "a molecule without atoms")


def _shown(bad: Sequence[BadRow]) -> str:
    """The first bad rows, for a message."""
    lines = [f"line {row.row}: {row.value!r}, {row.reason}" for row in bad[:ROWS_SHOWN]]
    return "; ".join(lines) + (f"; and {len(bad) - ROWS_SHOWN} more" if len(bad) > ROWS_SHOWN else "")


def _graph(row: Row, mol: "Chem.Mol", label: int) -> Data:
    """The graph of a row."""
    graph = to_data(from_rdkit(mol), label)
    graph.atomic_number = torch.tensor([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    graph.smiles, graph.row = row.smiles, row.line
    return graph
