"""The rows of a file of molecules: its columns, and each row as an RDKit molecule or the reason why it is none."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from csv import Error as CSVError
from csv import reader as read_csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rcexplainer.datasets.dataset import BadRow
from rcexplainer.datasets.file_access import access_told
from rcexplainer.errors import DatasetError, require

if TYPE_CHECKING:
    from rdkit import Chem

log = logging.getLogger(__name__)

SMILES_COLUMNS = ("smiles", "canonical_smiles", "isomeric_smiles", "mol", "molecule", "structure")
LABEL_COLUMNS = ("label", "labels", "y", "class", "target", "activity")
ID_COLUMNS = ("id", "identifier", "molecule_id", "mol_id", "compound_id", "chembl_id", "cid", "cas", "name", "title")
# How programs write a missing value. The word "none" is not among them: it may well be a class.
MISSING = ("", "nan", "na", "n/a", "null")
WITHOUT_LABELS = "; molecules without labels can be explained: `rcexplainer explain --input FILE`"
MOST_CHARACTERS = 10_000  # of a SMILES: RDKit takes seconds for these, and minutes for ten times as many
ROWS_SHOWN = 5  # in messages; `bad_rows` has them all
# Whether messages quote rows. Only a command line knows what may be told, and rows are read deep below it.
_QUOTED: ContextVar[bool] = ContextVar("quoted", default=True)


@dataclass(frozen=True)
class Row:
    """A row of the file.

    Attributes:
        line: Its line as an editor shows it; the header is line 1.
        smiles: Its SMILES.
        label: Its class; None where labels are not read.
        id: What the file calls the molecule; None where it has no such column.
    """

    line: int
    smiles: str
    label: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class ColumnNames:
    """Names of columns; None: the first one with a common name.

    Attributes:
        smiles: The column of SMILES.
        label: The column of classes.
        id: The column of what molecules are called, which a file need not have.
    """

    smiles: str | None = None
    label: str | None = None
    id: str | None = None


def read_rows(file: Path, columns: ColumnNames, labelled: bool) -> list[Row]:
    """Read the rows below the header.

    Args:
        file: The file.
        columns: Which columns to read.
        labelled: Whether the file must have classes; otherwise they are not read.

    Returns:
        A row for each line that is not blank.

    Raises:
        DatasetError: If the file or a column is missing, or there are no rows.
    """
    lines = _lines(file)
    if not lines:
        raise DatasetError(f"{file} is empty; it needs a line of column names and one line per molecule")
    header = [name.strip() for name in lines[0][1]]
    by = " of rcexplainer.datasets.load" if labelled else ""  # what takes the name of a column
    smiles = _column(file, header, f"smiles_column{by}", columns.smiles, SMILES_COLUMNS)
    label = _column(file, header, f"label_column{by}", columns.label, LABEL_COLUMNS) if labelled else None
    known = columns.id is not None or any(name.lower() in ID_COLUMNS for name in header)
    named = _column(file, header, f"id_column{by}", columns.id, ID_COLUMNS) if known else None
    if len(lines) == 1:
        raise DatasetError(f"{file} has column names but no rows below them; it needs one line per molecule")
    return [
        Row(
            line,
            _cell(cells, smiles),
            None if label is None else _cell(cells, label),
            None if named is None else _cell(cells, named),
        )
        for line, cells in lines[1:]
    ]


def parsed_rows(file: Path, rows: Sequence[Row]) -> "tuple[list[tuple[Row, Chem.Mol]], tuple[BadRow, ...]]":
    """Read the SMILES of rows; those that cannot be read are named in one warning.

    Args:
        file: The file, for messages.
        rows: Its rows.

    Returns:
        The rows with their molecules, and the rows that cannot be used.

    Raises:
        DatasetError: If no row can be used.
    """
    parsed = [(row, parse_row(row)) for row in rows]
    bad = tuple(found for _, found in parsed if isinstance(found, BadRow))
    good = [(row, found) for row, found in parsed if not isinstance(found, BadRow)]
    if not good:
        raise DatasetError(f"{file}: none of its {len(rows)} rows can be used: {_shown(bad)}")
    if bad:
        log.warning("%s: %d of %d rows were left out: %s", file, len(bad), len(rows), _shown(bad))
    return good, bad


@contextmanager
def rows_quoted(quoted: bool) -> Iterator[None]:
    """Say whether messages quote the rows that cannot be read: their SMILES are their graphs.

    Args:
        quoted: If not, messages name them by their lines alone.
    """
    before = _QUOTED.set(quoted)
    try:
        yield
    finally:
        _QUOTED.reset(before)


def _lines(file: Path) -> list[tuple[int, list[str]]]:
    """Line number and cells of every non-blank line."""
    with access_told(file):
        folder, found = file.is_dir(), file.is_file()
    if folder:
        raise DatasetError(f"{file} is a folder, not a file: name a CSV file in it after csv:")
    if not found:
        raise DatasetError(f"there is no file {file}; check the path after csv:")
    try:
        with access_told(file), file.open(newline="", encoding="utf-8-sig") as stream:  # Excel writes a byte-order mark
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
        f"Rename a column, or choose one with {option}{WITHOUT_LABELS if known is LABEL_COLUMNS else ''}"
    )


def _cell(cells: Sequence[str], column: int) -> str:
    """A cell of a row, empty if the row is too short."""
    return cells[column].strip() if column < len(cells) else ""


def parse_row(row: Row) -> "Chem.Mol | BadRow":
    """Read the molecule of a row.

    Args:
        row: The row.

    Returns:
        RDKit's molecule, or why there is none.
    """
    if row.label is not None and row.label.lower() in MISSING:
        return BadRow(row.line, row.smiles, "the label is missing")
    if not row.smiles:
        return BadRow(row.line, row.smiles, "the SMILES is missing")
    if len(row.smiles) > MOST_CHARACTERS:
        long = f"the SMILES has {len(row.smiles):,} characters; up to {MOST_CHARACTERS:,} are read"
        return BadRow(row.line, f"{row.smiles[:60]}…", long)
    chem = require("rdkit.Chem", "chem")
    with require("rdkit.rdBase", "chem").BlockLogs():  # its complaints become the reason
        mol = chem.MolFromSmiles(row.smiles)
        if mol is None:
            return BadRow(row.line, row.smiles, "; ".join(_problems(row.smiles)) or "not a SMILES")
    return mol if mol.GetNumAtoms() else BadRow(row.line, row.smiles, "a molecule without atoms")


def _problems(smiles: str) -> list[str]:
    """What RDKit finds wrong with a molecule that it does not accept; nothing if it cannot say."""
    chem = require("rdkit.Chem", "chem")
    raw = chem.MolFromSmiles(smiles, sanitize=False)
    try:
        return [] if raw is None else [problem.Message() for problem in chem.DetectChemistryProblems(raw)]
    except RuntimeError:  # RDKit before 2024.9 looks for rings that it has not perceived yet
        return []


def _shown(bad: Sequence[BadRow]) -> str:
    """The first bad rows, for a message."""
    quoted = _QUOTED.get()
    lines = [f"line {row.row}" + (f": {row.value!r}, {row.reason}" if quoted else "") for row in bad[:ROWS_SHOWN]]
    return "; ".join(lines) + (f"; and {len(bad) - ROWS_SHOWN} more" if len(bad) > ROWS_SHOWN else "")
