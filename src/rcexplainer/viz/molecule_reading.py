"""An explained graph as an RDKit molecule, if it can be read as one.

    1. from `graph.smiles`, if its atoms and bonds are the nodes and edges of the graph
    2. from the features of our own sets of molecules (`formal_charge` and `num_hydrogens` tell them apart)
    3. from `graph.atomic_number` and one-hot `edge_attr` (single, double, triple[, aromatic]), as Mutagenicity has them
    4. from names of features that the caller gives

Atoms are in the order of the nodes. For drawing, hydrogens are fixed, so that an atom which loses a bond is not given
another one, and bonds of aromatic rings alternate (Kekulé's form), so that a ring which was cut can still be drawn.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES
from rcexplainer.datasets.molecules import to_rdkit
from rcexplainer.errors import GraphError, require

MOST_ATOMS = 250  # more do not fit a panel
HYDROGEN = 1
# Bonds of the neutral element, by atomic number, where more or fewer bonds mean a charge.
USUAL_BONDS = {7: (3,), 8: (2,), 9: (1,), 15: (3, 5), 16: (2, 4, 6), 17: (1, 7), 35: (1,), 53: (1, 3, 5, 7)}
METAL_CHARGES = {3: 1, 11: 1, 19: 1, 20: 2}  # Li, Na, K, Ca without bonds are ions


def drawn_molecule(graph: Data, node_names: Sequence[str] = (), edge_names: Sequence[str] = ()) -> Any | None:
    """Read a graph as a molecule for drawing: with fixed hydrogens and alternating bonds.

    Args:
        graph: The graph.
        node_names: As for `read_molecule`.
        edge_names: As for `read_molecule`.

    Returns:
        An RDKit molecule without coordinates; None if the graph is no molecule.

    Raises:
        MissingExtraError: If RDKit is not installed.
    """
    mol = read_molecule(graph, node_names, edge_names)
    return None if mol is None else alternating_bonds(mol)


def read_molecule(graph: Data, node_names: Sequence[str] = (), edge_names: Sequence[str] = ()) -> Any | None:
    """Read a graph as a molecule.

    Args:
        graph: The graph.
        node_names: The element of each one-hot node feature, if the caller knows it.
        edge_names: The kind of bond of each entry of `edge_attr`, if the caller knows it.

    Returns:
        An RDKit molecule, aromatic where its source says so; None if the graph is no molecule.

    Raises:
        MissingExtraError: If RDKit is not installed.
    """
    with require("rdkit.rdBase", "chem").BlockLogs():
        if not 0 < int(graph.num_nodes or 0) <= MOST_ATOMS:
            return None
        mol = _from_smiles(graph)
        return _from_features(graph, node_names, edge_names) if mol is None else mol


def _encodes(text: str) -> bool:
    """Whether a text can be given to RDKit: halves of characters cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_smiles(graph: Data) -> Any | None:
    """The molecule of `graph.smiles`, with or without its hydrogens as nodes."""
    chem = require("rdkit.Chem", "chem")
    smiles = graph.get("smiles")
    mol = chem.MolFromSmiles(smiles) if isinstance(smiles, str) and _encodes(smiles) else None
    if mol is None:
        return None
    pairs = {(min(pair), max(pair)) for pair in graph.edge_index.t().tolist() if pair[0] != pair[1]}
    for one in (mol, chem.AddHs(mol)):
        bonds = {tuple(sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))) for bond in one.GetBonds()}
        if one.GetNumAtoms() == graph.num_nodes and bonds == pairs:
            return one
    return None  # the graph is another one, such as a counterfactual of the molecule


def _from_features(graph: Data, node_names: Sequence[str], edge_names: Sequence[str]) -> Any | None:
    """The molecule of one-hot features."""
    x = graph.get("x")
    if not _one_hot(x):
        return None
    own = "formal_charge" in graph and "num_hydrogens" in graph and x.size(1) == len(ATOM_NAMES)
    if own and not node_names:
        node_names = ATOM_NAMES
    numbers = graph.get("atomic_number")
    if not node_names and isinstance(numbers, Tensor) and numbers.shape == (graph.num_nodes,):
        node_names = ("other",) * x.size(1)  # `to_rdkit` reads these from atomic_number
    kinds = graph.get("edge_attr")
    width = kinds.size(1) if _one_hot(kinds) else 0
    if not edge_names and width in (3, 4):
        edge_names = BOND_NAMES[:width]
    if kinds is not None and (width == 0 or width > len(edge_names)):
        return None
    if x.size(1) > len(node_names) or not set(edge_names) <= set(BOND_NAMES):
        return None
    try:
        mol = to_rdkit(graph, node_names, edge_names, sanitize=False)
    except GraphError:
        return None  # a name is no element
    return mol if "formal_charge" in graph else _with_charges(mol)


def _one_hot(values: Tensor | None) -> bool:
    """Whether every row has a single 1 and is 0 elsewhere."""
    if values is None or values.dim() != 2 or not values.numel():
        return values is not None and values.dim() == 2 and values.size(1) > 0
    binary = ((values == 0) | (values == 1)).all()
    return bool(binary & (values.sum(1) == torch.ones(1, dtype=values.dtype)).all())


def _with_charges(mol: Any) -> Any:
    """The molecule with the charges that its numbers of bonds imply, where all hydrogens are nodes.

    Files such as Mutagenicity's hold no charges: an N with four bonds is N⁺, an O with one bond is O⁻.
    """
    explicit = any(atom.GetAtomicNum() == HYDROGEN for atom in mol.GetAtoms())
    for atom in mol.GetAtoms():
        number = atom.GetAtomicNum()
        bonds = round(sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds()))
        if explicit:
            atom.SetNoImplicit(True)
        if number in METAL_CHARGES and not bonds:
            atom.SetFormalCharge(METAL_CHARGES[number])
        usual = USUAL_BONDS.get(number, ())
        if not usual or bonds in usual or not (explicit or bonds > max(usual)):
            continue
        nearest = min(usual, key=lambda count: (abs(count - bonds), count))
        if abs(bonds - nearest) == 1:  # a larger difference is an error in the file rather than an ion
            atom.SetFormalCharge(bonds - nearest)
    mol.UpdatePropertyCache(strict=False)
    return mol


def alternating_bonds(mol: Any) -> Any:
    """Return a copy of a molecule with fixed hydrogens and, if its rings allow it, alternating bonds."""
    chem = require("rdkit.Chem", "chem")
    mol = chem.Mol(mol)
    mol.UpdatePropertyCache(strict=False)
    for atom in mol.GetAtoms():
        atom.SetNumExplicitHs(atom.GetTotalNumHs())
        atom.SetNoImplicit(True)
    alternating = chem.Mol(mol)
    try:
        with require("rdkit.rdBase", "chem").BlockLogs():
            chem.Kekulize(alternating, clearAromaticFlags=True)
    except chem.MolSanitizeException:
        return mol
    alternating.UpdatePropertyCache(strict=False)
    return alternating


def perceived_rings(mol: Any) -> Any:
    """Return a copy of a molecule whose rings are aromatic wherever RDKit sees them so, without stereochemistry.

    Files such as Mutagenicity's hold one of the two alternating forms of a ring: the same ring must not look different
    in two molecules, or on its two sides. A graph has no stereochemistry that the model could have seen.
    """
    chem = require("rdkit.Chem", "chem")
    mol = chem.Mol(mol)
    mol.UpdatePropertyCache(strict=False)
    chem.RemoveStereochemistry(mol)
    chem.GetSymmSSSR(mol)
    chem.SetAromaticity(mol)
    return mol
