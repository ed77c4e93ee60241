"""Molecules as plain values: read from a subset of SMILES, joined fragment to fragment, turned into graphs.

Hydrogens are implicit as in SMILES: where none are written, an atom carries as many as its valence allows.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch_geometric.data import Data

from rcexplainer.datasets.dataset import OUTSIDE

# The meaning of the one-hot features. Lower case is aromatic, as in SMILES.
ATOM_NAMES = ("C", "N", "O", "F", "Cl", "Br", "S", "c", "n", "o", "s", "I", "P", "other")
BOND_NAMES = ("single", "double", "triple", "aromatic")

_ATOM_POSITION = {name: position for position, name in enumerate(ATOM_NAMES)}
_BOND_POSITION = {name: position for position, name in enumerate(BOND_NAMES)}
_OTHER = _ATOM_POSITION["other"]
_VALENCE = {"C": 4, "N": 3, "O": 2, "S": 2, "P": 3, "F": 1, "Cl": 1, "Br": 1, "I": 1}
_ORDER = {"single": 1.0, "double": 2.0, "triple": 3.0, "aromatic": 1.5}
_WRITTEN_BOND = {"-": "single", "=": "double", "#": "triple"}
_TOKEN = re.compile(
    r"\[(?P<bracket>[A-Za-z][a-z]?)(?P<hydrogens>H\d?)?(?P<charge>[+-])?\]"
    r"|(?P<atom>Cl|Br|[CNOFSPIcnos])|(?P<bond>[-=#])|(?P<ring>\d)|(?P<branch>[()])"
)


class Atom(NamedTuple):
    """An atom.

    Attributes:
        symbol: The element; lower case for an aromatic atom.
        charge: Formal charge.
        hydrogens: Number of hydrogens; None for as many as the valence allows.
    """

    symbol: str
    charge: int = 0
    hydrogens: int | None = None

    @property
    def aromatic(self) -> bool:
        """Whether the atom is aromatic."""
        return self.symbol.islower()


class Bond(NamedTuple):
    """A bond.

    Attributes:
        start: Position of one atom.
        end: Position of the other.
        kind: One of `BOND_NAMES`.
        motif: The motif it belongs to, or `OUTSIDE`.
    """

    start: int
    end: int
    kind: str
    motif: int = OUTSIDE


@dataclass(frozen=True)
class Molecule:
    """A molecule or a fragment of one, which is joined to others by its first atom.

    Attributes:
        atoms: The atoms.
        bonds: The bonds between them.
        tail: Position of the atom that the next fragment is joined to.
    """

    atoms: tuple[Atom, ...] = ()
    bonds: tuple[Bond, ...] = ()
    tail: int = 0


def read_smiles(smiles: str) -> Molecule:
    """Read one connected fragment.

    Only what the built-in fragments need is understood: organic atoms, `[nH]`, `[N+]`, `[O-]`, bonds, branches and
    one-digit rings. A user's SMILES are read by RDKit.

    Args:
        smiles: The fragment.

    Returns:
        Its atoms and bonds; the tail is the last atom.
    """
    atoms: list[Atom] = []
    bonds: list[Bond] = []
    branches: list[int] = []
    rings: dict[str, int] = {}
    here, written = -1, ""

    def bond_to(other: int) -> Bond:
        both_aromatic = atoms[here].aromatic and atoms[other].aromatic
        return Bond(here, other, _WRITTEN_BOND.get(written, "aromatic" if both_aromatic else "single"))

    for token in _TOKEN.finditer(smiles):
        if token["branch"] == "(":
            branches.append(here)
        elif token["branch"] == ")":
            here = branches.pop()
        elif token["bond"]:
            written = token["bond"]
        elif token["ring"] in rings:
            bonds.append(bond_to(rings.pop(token["ring"])))
            written = ""
        elif token["ring"]:
            rings[token["ring"]] = here
        else:
            atoms.append(_atom(token))
            if here >= 0:
                bonds.append(bond_to(len(atoms) - 1))
            here, written = len(atoms) - 1, ""
    return Molecule(tuple(atoms), tuple(bonds), max(here, 0))


def _atom(token: re.Match[str]) -> Atom:
    """The atom of a token of `_TOKEN`."""
    if token["atom"]:
        return Atom(token["atom"])
    hydrogens = int((token["hydrogens"] or "H0")[1:] or 1)
    return Atom(token["bracket"], {"+": 1, "-": -1, None: 0}[token["charge"]], hydrogens)


def join(base: Molecule, at: int, piece: Molecule, by: int = 0, motif: int = OUTSIDE) -> Molecule:
    """Join a fragment to a molecule by a single bond.

    Args:
        base: The molecule.
        at: The atom of `base` to join it to.
        piece: The fragment.
        by: The atom of `piece` to join it by.
        motif: The motif that the new bond and those of the fragment belong to.

    Returns:
        The larger molecule, whose tail is the fragment's.
    """
    shift = len(base.atoms)
    moved = tuple(Bond(bond.start + shift, bond.end + shift, bond.kind, motif) for bond in piece.bonds)
    joint = Bond(at, by + shift, "single", motif)
    return Molecule(base.atoms + piece.atoms, (*base.bonds, joint, *moved), piece.tail + shift)


def hydrogens(molecule: Molecule) -> list[int]:
    """Count the hydrogens of each atom.

    Args:
        molecule: The molecule.

    Returns:
        One number per atom.
    """
    order = [0.0] * len(molecule.atoms)
    for bond in molecule.bonds:
        order[bond.start] += _ORDER[bond.kind]
        order[bond.end] += _ORDER[bond.kind]
    # The third aromatic bond of a fused atom brings the sum to 4.5, and the lone pair of an aromatic O or S is part of
    # its bond order: neither carries a hydrogen.
    return [
        int(max(0.0, _VALENCE[atom.symbol.capitalize()] + atom.charge - used))
        if atom.hydrogens is None
        else atom.hydrogens
        for atom, used in zip(molecule.atoms, order, strict=True)
    ]


def neighbours(molecule: Molecule) -> list[list[tuple[int, int]]]:
    """List the neighbours of each atom.

    Args:
        molecule: The molecule.

    Returns:
        For each atom, pairs of a bond's kind, as a position in `BOND_NAMES`, and the atom at its other end.
    """
    found: list[list[tuple[int, int]]] = [[] for _ in molecule.atoms]
    for bond in molecule.bonds:
        found[bond.start].append((_BOND_POSITION[bond.kind], bond.end))
        found[bond.end].append((_BOND_POSITION[bond.kind], bond.start))
    return found


def molecule_key(molecule: Molecule, rounds: int = 4) -> tuple[int, ...]:
    """Compute a key that does not depend on the order of the atoms, by Weisfeiler–Lehman refinement.

    Args:
        molecule: The molecule.
        rounds: Rounds of refinement.

    Returns:
        The sorted colours of the atoms, the same in every process: only numbers are hashed, never strings.
    """
    around = neighbours(molecule)
    colours = [
        hash((_ATOM_POSITION.get(atom.symbol, _OTHER), atom.charge, atom.hydrogens is None)) for atom in molecule.atoms
    ]
    for _ in range(rounds):
        colours = [
            hash((colour, *sorted((kind, colours[other]) for kind, other in near)))
            for colour, near in zip(colours, around, strict=True)
        ]
    return tuple(sorted(colours))


def to_data(molecule: Molecule, label: int | None, ground_truth: bool = False) -> Data:
    """Convert a molecule to the graph of its heavy atoms, with each bond in both directions and edges sorted.

    `formal_charge` and `num_hydrogens` are no features; `to_rdkit` needs them to restore the molecule.

    Args:
        molecule: The molecule.
        label: Its class; None: it has none, and the graph no `y`.
        ground_truth: Whether to add `edge_motif` and `edge_motif_id`.

    Returns:
        The graph.
    """
    kinds = np.array([_ATOM_POSITION.get(atom.symbol, _OTHER) for atom in molecule.atoms], dtype=np.int64)
    bonds = np.array(
        [(bond.start, bond.end, _BOND_POSITION[bond.kind], bond.motif) for bond in molecule.bonds],
        dtype=np.int64,
    ).reshape(-1, 4)
    both = np.concatenate([bonds, bonds[:, [1, 0, 2, 3]]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    data = Data(
        x=torch.from_numpy(np.eye(len(ATOM_NAMES), dtype=np.float32)[kinds]),
        edge_index=torch.from_numpy(np.ascontiguousarray(both[:, :2].T)),
        edge_attr=torch.from_numpy(np.eye(len(BOND_NAMES), dtype=np.float32)[both[:, 2]]),
        y=None if label is None else torch.tensor([label]),
        formal_charge=torch.tensor([atom.charge for atom in molecule.atoms]),
        num_hydrogens=torch.tensor(hydrogens(molecule)),
    )
    if ground_truth:
        data.edge_motif_id = torch.from_numpy(both[:, 3].copy())
        data.edge_motif = data.edge_motif_id != OUTSIDE
    return data
