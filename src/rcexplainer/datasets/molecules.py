"""Molecules: the built-in set `nitro`, a user's own file `csv:PATH`, and the way to RDKit and back."""

import logging
import math
from collections.abc import Sequence
from csv import Error as CSVError
from csv import reader as read_csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch_geometric.data import Data

from rcexplainer.datasets.dataset import BadRow, GraphDataset, stratified_split
from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES, Atom, Bond, Molecule, to_data
from rcexplainer.datasets.nitro import nitro
from rcexplainer.errors import DatasetError, GraphError, require

if TYPE_CHECKING:
    from rdkit import Chem

__all__ = ["csv", "from_rdkit", "nitro", "to_rdkit"]

log = logging.getLogger(__name__)

SMILES_COLUMNS = ("smiles", "canonical_smiles", "isomeric_smiles", "mol", "molecule", "structure")
LABEL_COLUMNS = ("label", "labels", "y", "class", "target", "activity")
# How programs write "nothing". The word "none" is not among them: it may well be a class.
MISSING = ("", "nan", "na", "n/a", "null")
ROWS_TOLD = 5  # in messages; `bad_rows` has them all


@dataclass(frozen=True)
class Row:
    """A row of the file; `line` is the one an editor shows, with the header in line 1."""

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
    """Molecules from a file with a column of SMILES and one of classes, which are whole numbers or words.

    Rows that cannot be read are left out and listed in `bad_rows`. The path says it all, so `root` is not used.
    """
    require("rdkit.Chem", "chem")  # before anything is read
    file = Path(path).expanduser()
    rows = _rows(file, smiles_column, label_column)
    _refuse_regression(file, rows)
    parsed = [(row, _parse(row)) for row in rows]
    bad = tuple(found for _, found in parsed if isinstance(found, BadRow))
    good = [(row, found) for row, found in parsed if not isinstance(found, BadRow)]
    if not good:
        raise DatasetError(f"{file}: none of its {len(rows)} rows can be used: {_told(bad)}")
    if bad:
        log.warning("%s: %d of %d rows were left out: %s", file, len(bad), len(rows), _told(bad))
    class_names, labels = _classes([row.label for row, _ in good])
    if len(class_names) == 1:
        raise DatasetError(
            f"{file}: all {len(good)} rows that can be used are of class {class_names[0]!r}; "
            "at least two classes are needed"
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
    lines = _lines(file)
    if not lines:
        raise DatasetError(f"{file} is empty; a line of column names and a line for each molecule are needed")
    header = [name.strip() for name in lines[0][1]]
    smiles = _column(file, header, "smiles_column", smiles_column, SMILES_COLUMNS)
    label = _column(file, header, "label_column", label_column, LABEL_COLUMNS)
    if len(lines) == 1:
        raise DatasetError(f"{file} has column names but no rows below them; one for each molecule is needed")
    return [Row(line, _cell(cells, smiles), _cell(cells, label)) for line, cells in lines[1:]]


def _lines(file: Path) -> list[tuple[int, list[str]]]:
    """Line number and cells of every line that is not blank."""
    if not file.is_file():
        raise DatasetError(f"there is no file {file}; check the path after csv:")
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:  # Excel begins its files with a mark
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
    lowered = [name.lower() for name in header]
    for name in known if given is None else (given.strip().lower(),):
        if name in lowered:
            return lowered.index(name)
    missing = f"column {given!r}" if given is not None else f"column named {', '.join(known[:-1])} or {known[-1]}"
    raise DatasetError(
        f"{file} has no {missing}; its first line, which has to name the columns, reads: {', '.join(header)}. "
        f"Say which one to take with {option}"
    )


def _cell(cells: Sequence[str], column: int) -> str:
    return cells[column].strip() if column < len(cells) else ""


def _refuse_regression(file: Path, rows: Sequence[Row]) -> None:
    for row in rows:
        value = _number(row.label)
        if value is not None and not value.is_integer():
            raise DatasetError(
                f"{file}, line {row.line}: the label {row.label} is not a class; regression is not supported. "
                "Labels have to be whole numbers or words: cut the values into classes first"
            )


def _number(label: str) -> float | None:
    try:
        value = float(label)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _classes(labels: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """Class names in order, in the user's words, and the class of each label. Numbers sort as numbers."""
    numbers = [_number(label) for label in labels]
    words = None in numbers
    keys = [(0.0, label) if words else (number or 0.0, "") for label, number in zip(labels, numbers, strict=True)]
    names = dict(zip(reversed(keys), reversed(labels), strict=True))  # of "1" and "1.0" the first to come stays
    order = {key: position for position, key in enumerate(sorted(names))}
    return tuple(names[key] for key in order), [order[key] for key in keys]


def _parse(row: Row) -> "Chem.Mol | BadRow":
    if row.label.lower() in MISSING:
        return BadRow(row.line, row.smiles, "the label is missing")
    if not row.smiles:
        return BadRow(row.line, row.smiles, "the SMILES is missing")
    chem = require("rdkit.Chem", "chem")
    with require("rdkit.rdBase", "chem").BlockLogs():  # its complaints go into the reason
        mol = chem.MolFromSmiles(row.smiles)
        if mol is None:
            raw = chem.MolFromSmiles(row.smiles, sanitize=False)
            problems = [] if raw is None else [problem.Message() for problem in chem.DetectChemistryProblems(raw)]
            return BadRow(row.line, row.smiles, "; ".join(problems) or "not a SMILES")
    return mol if mol.GetNumAtoms() else BadRow(row.line, row.smiles, "a molecule without atoms")


def _told(bad: Sequence[BadRow]) -> str:
    told = [f"line {row.row}: {row.value!r}, {row.reason}" for row in bad[:ROWS_TOLD]]
    return "; ".join(told) + (f"; and {len(bad) - ROWS_TOLD} more" if len(bad) > ROWS_TOLD else "")


def _graph(row: Row, mol: "Chem.Mol", label: int) -> Data:
    graph = to_data(from_rdkit(mol), label)
    graph.atomic_number = torch.tensor([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    graph.smiles, graph.row = row.smiles, row.line
    return graph


def from_rdkit(mol: "Chem.Mol") -> Molecule:
    """The molecule as plain values. Bonds of rarer kinds, such as dative ones, count as single."""
    kinds = {bond: str(bond.GetBondType()).lower() for bond in mol.GetBonds()}
    return Molecule(
        tuple(
            Atom(
                atom.GetSymbol().lower() if atom.GetIsAromatic() else atom.GetSymbol(),
                atom.GetFormalCharge(),
                atom.GetTotalNumHs(),
            )
            for atom in mol.GetAtoms()
        ),
        tuple(
            Bond(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), kind if kind in BOND_NAMES else "single")
            for bond, kind in kinds.items()
        ),
    )


def to_rdkit(
    graph: Data,
    node_names: Sequence[str] = ATOM_NAMES,
    edge_names: Sequence[str] = BOND_NAMES,
    sanitize: bool = True,
) -> "Chem.Mol":
    """The molecule a graph stands for, atoms in the order of its nodes.

    `formal_charge` and `num_hydrogens` are read where the graph has them. A graph that has lost edges may be no
    molecule any more: `sanitize=False` gives it unchecked, good enough to draw.
    """
    chem = require("rdkit.Chem", "chem")
    mol = chem.RWMol()
    charges, hydrogens = graph.get("formal_charge"), graph.get("num_hydrogens")
    for node, number in enumerate(_atomic_numbers(graph, node_names)):
        atom = chem.Atom(number)
        if charges is not None:
            atom.SetFormalCharge(int(charges[node]))
        if hydrogens is not None:
            atom.SetNumExplicitHs(int(hydrogens[node]))
            atom.SetNoImplicit(True)
        mol.AddAtom(atom)
    for start, end, kind in _bonds(graph, edge_names):
        mol.AddBond(start, end, getattr(chem.BondType, kind.upper()))
        if kind == "aromatic":
            mol.GetBondBetweenAtoms(start, end).SetIsAromatic(True)
            mol.GetAtomWithIdx(start).SetIsAromatic(True)
            mol.GetAtomWithIdx(end).SetIsAromatic(True)
    return _checked(mol.GetMol()) if sanitize else _unchecked(mol.GetMol())


def _atomic_numbers(graph: Data, node_names: Sequence[str]) -> list[int]:
    known = graph.get("atomic_number")
    numbers = []
    for node, position in enumerate(graph.x.argmax(dim=-1).tolist()):
        if node_names[position] == "other":
            numbers.append(0 if known is None else int(known[node]))  # 0 is RDKit's "any atom"
        else:
            numbers.append(_atomic_number(node_names[position]))
    return numbers


@cache
def _atomic_number(name: str) -> int:
    try:
        with require("rdkit.rdBase", "chem").BlockLogs():
            return int(require("rdkit.Chem", "chem").GetPeriodicTable().GetAtomicNumber(name.capitalize()))
    except RuntimeError as error:
        raise GraphError(f'{name!r} is not a chemical element; node_names have to be, or "other"') from error


def _bonds(graph: Data, edge_names: Sequence[str]) -> list[tuple[int, int, str]]:
    """Every bond once, whichever of its directions are there."""
    if graph.edge_attr is None:
        kinds = ["single"] * graph.num_edges
    else:
        kinds = [edge_names[position] for position in graph.edge_attr.argmax(dim=-1).tolist()]
    ends = zip(*graph.edge_index.tolist(), strict=True)
    pairs = {(min(pair), max(pair)): kind for pair, kind in zip(ends, kinds, strict=True)}
    return [(start, end, kind) for (start, end), kind in pairs.items() if start != end]


def _checked(mol: "Chem.Mol") -> "Chem.Mol":
    chem = require("rdkit.Chem", "chem")
    try:
        with require("rdkit.rdBase", "chem").BlockLogs():
            chem.SanitizeMol(mol)
    except chem.MolSanitizeException as error:
        raise GraphError(f"the graph is not a molecule: {error}; sanitize=False takes it as it is") from error
    return mol


def _unchecked(mol: "Chem.Mol") -> "Chem.Mol":
    mol.UpdatePropertyCache(strict=False)
    require("rdkit.Chem", "chem").GetSymmSSSR(mol)  # drawing asks for the rings
    return mol
