"""A user's own molecules: a CSV file with a column of SMILES, and of classes where a network is to be trained on them.

csv(path)          `csv:PATH`, a dataset with classes and a split
unlabelled(path)   molecules to explain: no classes are needed
smiles_graph(text) one molecule
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch_geometric.data import Data

from rcexplainer.datasets.dataset import BadRow, GraphDataset, Split, stratified_split
from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES, to_data
from rcexplainer.datasets.molecule_rows import ColumnNames, Row, parse_row, parsed_rows, read_rows
from rcexplainer.datasets.molecules import from_rdkit
from rcexplainer.errors import DatasetError, require

if TYPE_CHECKING:
    from rdkit import Chem


def csv(
    path: str | Path,
    root: Path | None = None,
    seed: int = 0,
    smiles_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
) -> GraphDataset:
    """Load molecules from a file with a column of SMILES and a column of classes, which are whole numbers or words.

    Rows that cannot be read are left out and listed in `bad_rows`. Every graph has `smiles` and `row`, its line in the
    file, and `id` where the file has such a column.

    Args:
        path: The file.
        root: Not used.
        seed: Random seed of the split.
        smiles_column: The column of SMILES; found by common names if left out.
        label_column: The column of classes; found by common names if left out.
        id_column: The column of what molecules are called; found by common names if left out, and not needed.

    Returns:
        The dataset.

    Raises:
        DatasetError: If the file or a column is missing, labels are real numbers, or fewer than two classes remain.
        MissingExtraError: If RDKit is not installed.
    """
    require("rdkit.Chem", "chem")  # before anything is read
    if not str(path).strip():
        raise DatasetError("csv: names no file: name one after it, such as csv:molecules.csv")
    file = Path(path).expanduser()
    rows = read_rows(file, ColumnNames(smiles_column, label_column, id_column), labelled=True)
    _refuse_regression(file, rows)
    good, bad = parsed_rows(file, rows)
    class_names, labels = _classes([row.label or "" for row, _ in good])
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


def unlabelled(path: str | Path, smiles_column: str | None = None, id_column: str | None = None) -> GraphDataset:
    """Load molecules to explain; labels are neither needed nor read.

    Args:
        path: The file.
        smiles_column: As for `csv`.
        id_column: As for `csv`.

    Returns:
        A dataset without class names, whose test part holds all molecules; graphs have no `y`.

    Raises:
        DatasetError: If the file or a column is missing, or no row can be used.
        MissingExtraError: If RDKit is not installed.
    """
    require("rdkit.Chem", "chem")
    file = Path(path).expanduser()
    good, bad = parsed_rows(file, read_rows(file, ColumnNames(smiles_column, None, id_column), labelled=False))
    nothing = torch.empty(0, dtype=torch.long)
    return GraphDataset(
        name=f"csv:{path}",
        task="graph",
        graphs=tuple(_graph(row, mol, None) for row, mol in good),
        split=Split(nothing, nothing, torch.arange(len(good))),
        class_names=(),
        node_names=ATOM_NAMES,
        edge_names=BOND_NAMES,
        bad_rows=bad,
    )


def smiles_graph(smiles: str) -> Data:
    """Read one molecule, as the graph that a row of a file would be.

    Args:
        smiles: Its SMILES.

    Returns:
        The graph, without `y`.

    Raises:
        DatasetError: It is not the SMILES of a molecule.
        MissingExtraError: If RDKit is not installed.
    """
    found = row_graph(Row(1, smiles.strip()))
    if isinstance(found, BadRow):
        raise DatasetError(f"the SMILES cannot be read: {found.reason}")
    del found.row
    return found


def row_graph(row: Row) -> Data | BadRow:
    """Read the molecule of a row as a graph without `y`.

    Args:
        row: The row.

    Returns:
        The graph, or why there is none.
    """
    found = parse_row(row)
    return found if isinstance(found, BadRow) else _graph(row, found, None)


def _refuse_regression(file: Path, rows: Sequence[Row]) -> None:
    """Raise an error if a label is a number but not a whole one."""
    for row in rows:
        value = _number(row.label or "")
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


def _graph(row: Row, mol: "Chem.Mol", label: int | None) -> Data:
    """The graph of a row."""
    graph = to_data(from_rdkit(mol), label)
    graph.atomic_number = torch.tensor([atom.GetAtomicNum() for atom in mol.GetAtoms()])
    graph.smiles, graph.row = row.smiles, row.line
    if row.id is not None:
        graph.id = row.id
    return graph
