"""The set `nitro`: made-up molecules, positive with an NO2 or a primary NH2 on an aromatic ring.

The molecules come as twins on one skeleton. The positive carries the group; in the negative the group has moved
to a saturated ring, or something that looks much like it stands in its place. All other substituents, among
them aliphatic amines and nitro groups, are shared. So neither size, rings nor atom counts tell the classes
apart: a network has to see the group and what it sits on.
"""

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from rcexplainer.datasets.dataset import GraphDataset, stratified_split
from rcexplainer.datasets.fragments import (
    ATOM_NAMES,
    BOND_NAMES,
    OUTSIDE,
    Molecule,
    fingerprint,
    hydrogens,
    join,
    neighbours,
    read,
    to_data,
)
from rcexplainer.errors import DatasetError

T = TypeVar("T")
Groups = Mapping[int, str]  # atom of the skeleton → name of the group on it

TOXIC = ("nitro", "amino")  # what makes a molecule positive, on an aromatic ring
GROUPS = {
    name: read(smiles)
    for name, smiles in {
        "nitro": "[N+](=O)[O-]",
        "amino": "N",
        "nitroso": "N=O",
        "methylamino": "NC",
        "dimethylamino": "N(C)C",
        "aminomethyl": "CN",
        "aminoethyl": "CCN",
        "nitromethyl": "C[N+](=O)[O-]",
        "amide": "C(=O)N",
        "nitrile": "C#N",
        "acid": "C(=O)O",
        "aldehyde": "C=O",
        "acetyl": "C(=O)C",
        "hydroxyl": "O",
        "methoxy": "OC",
        "methyl": "C",
        "ethyl": "CC",
        "trifluoromethyl": "C(F)(F)F",
        "fluoro": "F",
        "chloro": "Cl",
        "bromo": "Br",
    }.items()
}


@dataclass(frozen=True)
class Lot:
    """Values to draw from, some more often than others."""

    values: tuple[str, ...]
    bounds: tuple[float, ...]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> "Lot":
        return cls(tuple(weights), tuple(accumulate(weights.values())))

    def draw(self, random: np.random.RandomState) -> str:
        return self.values[bisect(self.bounds, random.random_sample() * self.bounds[-1])]


AROMATIC_RINGS = Lot.of(
    {
        "c1ccccc1": 8,
        "c1ccncc1": 2,
        "c1ccc2ccccc2c1": 2,
        "c1ccsc1": 1.5,
        "c1ccoc1": 1,
        "c1cc[nH]c1": 1,
        "c1ccc2[nH]ccc2c1": 1.5,
        "c1ccc2occc2c1": 1,
        "c1ccc2ncccc2c1": 1,
        "c1ccccc1-c1ccccc1": 1.5,
        "c1ccc2CCCc2c1": 1.5,
        "c1ccc2CCCCc2c1": 1.5,
    }
)
SATURATED_RINGS = Lot.of({"C1CCCCC1": 3, "C1CCCC1": 2, "C1CCNCC1": 2, "CN1CCCCC1": 1, "C1COCCN1": 1.5, "C1CCOCC1": 1.5})
LINKERS = Lot.of({"": 4, "C": 3, "O": 2, "N": 1, "S": 0.5, "C(=O)": 1.5, "CC": 1.5, "CO": 1, "C(=O)N": 2, "NC(=O)": 2})

ANYWHERE = {
    "aminomethyl": 3,
    "aminoethyl": 2,
    "nitromethyl": 3,
    "amide": 2,
    "nitrile": 1.5,
    "acid": 1,
    "aldehyde": 0.7,
    "acetyl": 0.7,
    "hydroxyl": 1,
    "methoxy": 0.7,
    "methyl": 1,
    "ethyl": 0.7,
    "trifluoromethyl": 0.7,
    "fluoro": 0.7,
    "chloro": 1,
    "bromo": 0.7,
}
ON_AROMATIC = Lot.of(ANYWHERE | {"nitroso": 3, "methylamino": 3, "dimethylamino": 2})
ON_SATURATED = Lot.of(ANYWHERE | {"nitro": 10, "amino": 10})
# What stands in the group's place in a negative. Where it holds no nitrogen the classes differ in their atoms,
# where it always does they differ in how many look-alikes they carry: these weights keep both differences small.
STAND_INS = {
    "nitro": Lot.of(
        {"nitromethyl": 2, "nitroso": 2.2, "amide": 0.8, "nitrile": 0.5}
        | {"acid": 0.6, "aldehyde": 0.4, "acetyl": 0.4, "methoxy": 0.4, "ethyl": 0.3, "trifluoromethyl": 0.4}
    ),
    "amino": Lot.of(
        {"aminomethyl": 2, "methylamino": 2.2, "dimethylamino": 1, "aminoethyl": 1, "nitrile": 0.6}
        | {"hydroxyl": 0.7, "methyl": 0.5, "fluoro": 0.4, "chloro": 0.5, "bromo": 0.4}
    ),
}
NUMBER_OF_GROUPS = Lot.of({"1": 0.5, "2": 2.5, "3": 4, "4": 3})
SECOND_RING = 0.55  # how often there is one
SATURATED = 0.65  # how often the second ring is saturated
SECOND_TOXIC = 0.15  # how often a positive has two groups
MOVED = 0.25  # how often the group moves to a saturated ring, where there is one
SIZES = range(8, 29)


@dataclass(frozen=True)
class Ring:
    """A ring system: its carbons that may carry a group, and nitrogens that may only be linked."""

    molecule: Molecule
    places: tuple[int, ...]
    nitrogens: tuple[int, ...]


@dataclass(frozen=True)
class Skeleton:
    """One or two ring systems, and the atoms that may carry a group."""

    molecule: Molecule
    aromatic: tuple[int, ...]
    saturated: tuple[int, ...]


def nitro(root: Path | None = None, seed: int = 0, num_graphs: int = 3000) -> GraphDataset:
    """Small molecules without their hydrogens, a negative and its positive twin by turns.

    Ground truth is the group's bonds and the one that holds it to the ring. Nothing is downloaded, so `root`
    is not used.
    """
    if not isinstance(num_graphs, int) or num_graphs < 2 or num_graphs % 2:
        raise DatasetError(
            "nitro is made of pairs, a negative and a positive molecule each: "
            f"num_graphs must be an even number from 2 up, got {num_graphs!r}"
        )
    twins = islice(_all_twins(np.random.RandomState(seed)), num_graphs // 2)
    graphs = tuple(to_data(twin, label, ground_truth=True) for pair in twins for label, twin in enumerate(pair))
    return GraphDataset(
        name="nitro",
        task="graph",
        graphs=graphs,
        split=stratified_split([int(graph.y) for graph in graphs], seed),
        class_names=("negative", "positive"),
        node_names=ATOM_NAMES,
        edge_names=BOND_NAMES,
    )


def _all_twins(random: np.random.RandomState) -> Iterator[tuple[Molecule, Molecule]]:
    """Pairs without end, negative and positive, no molecule twice."""
    seen: set[tuple[int, ...]] = set()
    while True:
        skeleton = _skeleton(random)
        groups = _groups(random, skeleton)
        pair = _build(skeleton, _harmless(random, skeleton, groups)), _build(skeleton, groups)
        prints = {fingerprint(twin) for twin in pair}
        if seen.isdisjoint(prints) and all(len(twin.atoms) in SIZES for twin in pair):
            seen |= prints
            yield pair


@cache
def _ring(smiles: str) -> Ring:
    molecule = read(smiles)
    around = neighbours(molecule)
    places, nitrogens = [], []
    for position, (atom, free) in enumerate(zip(molecule.atoms, hydrogens(molecule), strict=True)):
        if not free:
            continue
        # Next to the N or O of a saturated ring most groups would make an unstable molecule.
        stable = atom.symbol == "c" or all(molecule.atoms[other].symbol in "Cc" for _, other in around[position])
        if atom.symbol in "Cc" and stable:
            places.append(position)
        elif atom.symbol == "N":
            nitrogens.append(position)
    return Ring(molecule, tuple(places), tuple(nitrogens))


def _skeleton(random: np.random.RandomState) -> Skeleton:
    """An aromatic ring system, alone or linked to a second one."""
    first = _ring(AROMATIC_RINGS.draw(random))
    if random.random_sample() > SECOND_RING:
        return _with_places(first.molecule, first.places)
    saturated = random.random_sample() < SATURATED
    second = _ring((SATURATED_RINGS if saturated else AROMATIC_RINGS).draw(random))
    linker = read(LINKERS.draw(random))
    # No bond from N to N, O or S.
    ends_in_carbon = not linker.atoms or linker.atoms[linker.tail].symbol == "C"
    anchors = second.places + (second.nitrogens if ends_in_carbon else ())
    if not anchors:
        return _with_places(first.molecule, first.places)
    at, by = _one_of(random, first.places), _one_of(random, anchors)
    linked = join(first.molecule, at, linker) if linker.atoms else replace(first.molecule, tail=at)
    shift = len(linked.atoms)
    places = [place for place in first.places if place != at]
    places += [place + shift for place in second.places if place != by]
    return _with_places(join(linked, linked.tail, second.molecule, by), places)


def _with_places(molecule: Molecule, places: Sequence[int]) -> Skeleton:
    aromatic = tuple(place for place in places if molecule.atoms[place].aromatic)
    return Skeleton(molecule, aromatic, tuple(place for place in places if place not in aromatic))


def _groups(random: np.random.RandomState, skeleton: Skeleton) -> Groups:
    """The groups of a positive molecule: one or two that make it so, and others at random."""
    number = int(NUMBER_OF_GROUPS.draw(random))
    toxic = 2 if number > 1 and random.random_sample() < SECOND_TOXIC else 1
    aromatic = _shuffled(random, skeleton.aromatic)
    groups = {place: _one_of(random, TOXIC) for place in aromatic[:toxic]}
    for place in _shuffled(random, (*aromatic[toxic:], *skeleton.saturated))[: number - toxic]:
        groups[place] = (ON_SATURATED if place in skeleton.saturated else ON_AROMATIC).draw(random)
    return groups


def _harmless(random: np.random.RandomState, skeleton: Skeleton, groups: Groups) -> Groups:
    """The groups of the negative twin."""
    twin = dict(groups)
    for place in groups:
        if place not in skeleton.aromatic or groups[place] not in TOXIC:
            continue
        free = [other for other in skeleton.saturated if twin.get(other) not in TOXIC]
        if free and random.random_sample() < MOVED:
            other = _one_of(random, free)
            exchanged = twin.pop(other, None)
            twin[other] = twin.pop(place)
            if exchanged is not None:
                twin[place] = exchanged
        else:
            twin[place] = STAND_INS[groups[place]].draw(random)
    return twin


def _build(skeleton: Skeleton, groups: Groups) -> Molecule:
    molecule, found = skeleton.molecule, 0
    for place, name in sorted(groups.items()):
        toxic = name in TOXIC and place in skeleton.aromatic
        molecule = join(molecule, place, GROUPS[name], motif=found if toxic else OUTSIDE)
        found += toxic
    return molecule


def _one_of(random: np.random.RandomState, values: Sequence[T]) -> T:
    return values[int(random.random_sample() * len(values))]


def _shuffled(random: np.random.RandomState, places: Sequence[int]) -> list[int]:
    return [places[position] for position in random.permutation(len(places))]
