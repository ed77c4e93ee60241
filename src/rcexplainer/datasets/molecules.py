"""Molecules as graphs and as RDKit molecules: the conversion in both directions."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from torch_geometric.data import Data

from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES, Atom, Bond, Molecule
from rcexplainer.errors import GraphError, require

if TYPE_CHECKING:
    from rdkit import Chem


def from_rdkit(mol: "Chem.Mol") -> Molecule:
    """Convert an RDKit molecule to plain values.

    Args:
        mol: The molecule.

    Returns:
        Its atoms and bonds; bonds of rarer kinds, such as dative ones, become single.
    """
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
    """Convert a graph to an RDKit molecule, with atoms in the order of the nodes.

    `formal_charge` and `num_hydrogens` are used if the graph has them. A graph that has lost edges may no longer be a
    valid molecule; with `sanitize=False` it is returned unchecked, which is enough for drawing.

    Args:
        graph: The graph.
        node_names: The element of each node feature, lower case for aromatic; "other" is read from `atomic_number`.
        edge_names: The kind of bond of each entry of `edge_attr`.
        sanitize: Whether to check the molecule.

    Returns:
        The molecule.

    Raises:
        GraphError: If a name is no element, or the molecule is checked and invalid.
        MissingExtraError: If RDKit is not installed.
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
    """The atomic number of each node."""
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
    """The atomic number of an element."""
    try:
        with require("rdkit.rdBase", "chem").BlockLogs():
            return int(require("rdkit.Chem", "chem").GetPeriodicTable().GetAtomicNumber(name.capitalize()))
    except RuntimeError as error:
        raise GraphError(
            f'{name!r} is not a chemical element; every name in node_names must be one, or "other"'
        ) from error


def _bonds(graph: Data, edge_names: Sequence[str]) -> list[tuple[int, int, str]]:
    """Every bond once, whether the graph has one of its directions or both."""
    if graph.edge_attr is None:
        kinds = ["single"] * graph.num_edges
    else:
        kinds = [edge_names[position] for position in graph.edge_attr.argmax(dim=-1).tolist()]
    ends = zip(*graph.edge_index.tolist(), strict=True)
    pairs = {(min(pair), max(pair)): kind for pair, kind in zip(ends, kinds, strict=True)}
    return [(start, end, kind) for (start, end), kind in pairs.items() if start != end]


def _checked(mol: "Chem.Mol") -> "Chem.Mol":
    """The sanitized molecule."""
    chem = require("rdkit.Chem", "chem")
    try:
        with require("rdkit.rdBase", "chem").BlockLogs():
            chem.SanitizeMol(mol)
    except chem.MolSanitizeException as error:
        raise GraphError(f"the graph is not a valid molecule: {error}; sanitize=False skips this check") from error
    return mol


def _unchecked(mol: "Chem.Mol") -> "Chem.Mol":
    """The molecule, prepared for drawing only."""
    mol.UpdatePropertyCache(strict=False)
    require("rdkit.Chem", "chem").GetSymmSSSR(mol)  # drawing needs the rings
    return mol
