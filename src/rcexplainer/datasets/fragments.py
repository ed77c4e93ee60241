"""Molecules as plain values: read from a small part of SMILES, joined piece to piece, turned into graphs.

Hydrogens are implicit as in SMILES: where none are written an atom takes as many as its valence leaves room for.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch_geometric.data import Data

# What the one-hot features stand for. Lower case is aromatic, as in SMILES.
ATOM_NAMES = ("C", "N", "O", "F", "Cl", "Br", "S", "c", "n", "o", "s", "I", "P", "other")
BOND_NAMES = ("single", "double", "triple", "aromatic")

OUTSIDE = -1  # the motif of a bond that belongs to none

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
    symbol: str
    charge: int = 0
    hydrogens: int | None = None  # None: as many as the valence leaves room for

    @property
    def aromatic(self) -> bool:
        return self.symbol.islower()


class Bond(NamedTuple):
    start: int
    end: int
    kind: str
    motif: int = OUTSIDE


@dataclass(frozen=True)
class Molecule:
    """A molecule or a piece of one. It is joined to others by its first atom, and they go on from its `tail`."""

    atoms: tuple[Atom, ...] = ()
    bonds: tuple[Bond, ...] = ()
    tail: int = 0


def read(smiles: str) -> Molecule:
    """Read one connected piece: organic atoms, `[nH]`, `[N+]`, `[O-]`, bonds, branches, rings of one digit.

    This is what the built-in pieces are written in; a user's SMILES go through RDKit.
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
    if token["atom"]:
        return Atom(token["atom"])
    hydrogens = int((token["hydrogens"] or "H0")[1:] or 1)
    return Atom(token["bracket"], {"+": 1, "-": -1, None: 0}[token["charge"]], hydrogens)


def join(base: Molecule, at: int, piece: Molecule, by: int = 0, motif: int = OUTSIDE) -> Molecule:
    """Bind atom `by` of `piece` to atom `at` of `base`; the piece's bonds and the new one belong to `motif`."""
    shift = len(base.atoms)
    moved = tuple(Bond(bond.start + shift, bond.end + shift, bond.kind, motif) for bond in piece.bonds)
    joint = Bond(at, by + shift, "single", motif)
    return Molecule(base.atoms + piece.atoms, (*base.bonds, joint, *moved), piece.tail + shift)


def hydrogens(molecule: Molecule) -> list[int]:
    """How many hydrogens each atom carries."""
    order = [0.0] * len(molecule.atoms)
    for bond in molecule.bonds:
        order[bond.start] += _ORDER[bond.kind]
        order[bond.end] += _ORDER[bond.kind]
    # The third aromatic bond of a fused atom brings the sum to 4.5, and the lone pair of an aromatic O or S
    # stands for part of its order: both have no hydrogen.
    return [
        int(max(0.0, _VALENCE[atom.symbol.capitalize()] + atom.charge - used))
        if atom.hydrogens is None
        else atom.hydrogens
        for atom, used in zip(molecule.atoms, order, strict=True)
    ]


def neighbours(molecule: Molecule) -> list[list[tuple[int, int]]]:
    """Of each atom: the kind of bond, as a position in `BOND_NAMES`, and the atom at its other end."""
    found: list[list[tuple[int, int]]] = [[] for _ in molecule.atoms]
    for bond in molecule.bonds:
        found[bond.start].append((_BOND_POSITION[bond.kind], bond.end))
        found[bond.end].append((_BOND_POSITION[bond.kind], bond.start))
    return found


def fingerprint(molecule: Molecule, rounds: int = 4) -> tuple[int, ...]:
    """Equal for the same molecule in whatever order its atoms come (Weisfeiler–Lehman refinement).

    Only numbers are hashed: Python salts the hash of a string anew in every process.
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


def to_data(molecule: Molecule, label: int, ground_truth: bool = False) -> Data:
    """The graph of the heavy atoms, each bond in both directions, edges sorted.

    `formal_charge` and `num_hydrogens` are not features; they are what it takes to get the molecule back.
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
        y=torch.tensor([label]),
        formal_charge=torch.tensor([atom.charge for atom in molecule.atoms]),
        num_hydrogens=torch.tensor(hydrogens(molecule)),
    )
    if ground_truth:
        data.edge_motif_id = torch.from_numpy(both[:, 3].copy())
        data.edge_motif = data.edge_motif_id != OUTSIDE
    return data
