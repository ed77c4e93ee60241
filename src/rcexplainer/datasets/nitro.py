"""The set `nitro`: generated molecules, positive if an NO2 or a primary NH2 is on an aromatic ring.

The molecules come as twins on one skeleton. The positive twin carries the group; in the negative twin the group is on a
saturated ring instead, or a similar group takes its place. All other substituents, among them aliphatic amines and
nitro groups, are shared. So neither size, rings nor atom counts separate the classes: a network has to recognise the
group together with the ring that carries it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from rcexplainer.datasets.dataset import OUTSIDE, GraphDataset, stratified_split
from rcexplainer.datasets.fragments import (
    ATOM_NAMES,
    BOND_NAMES,
    Molecule,
    hydrogens,
    join,
    molecule_key,
    neighbours,
    read_smiles,
    to_data,
)
from rcexplainer.datasets.nitro_vocabulary import (
    AROMATIC_RINGS,
    GROUPS,
    LINKERS,
    NUMBER_OF_GROUPS,
    ON_AROMATIC,
    ON_SATURATED,
    SATURATED_RINGS,
    STAND_INS,
)
from rcexplainer.errors import DatasetError

Value = TypeVar("Value")
Groups = Mapping[int, str]  # atom of the skeleton → name of the group on it

TOXIC = ("nitro", "amino")  # groups that make a molecule positive if they are on an aromatic ring
SECOND_RING = 0.55  # probability of a second ring system
SATURATED = 0.65  # probability that the second one is saturated
SECOND_TOXIC = 0.15  # probability that a positive molecule has two groups
MOVED = 0.25  # probability that the group moves to a saturated ring, if there is one
SIZES = range(8, 29)  # numbers of atoms that are accepted


@dataclass(frozen=True)
class Ring:
    """A ring system.

    Attributes:
        molecule: Its atoms and bonds.
        places: Carbons that may carry a group.
        nitrogens: Nitrogens, which may be linked to another ring but carry no group.
    """

    molecule: Molecule
    places: tuple[int, ...]
    nitrogens: tuple[int, ...]


@dataclass(frozen=True)
class Skeleton:
    """One or two ring systems.

    Attributes:
        molecule: Their atoms and bonds.
        aromatic: Aromatic atoms that may carry a group.
        saturated: Saturated atoms that may carry a group.
    """

    molecule: Molecule
    aromatic: tuple[int, ...]
    saturated: tuple[int, ...]


def nitro(root: Path | None = None, seed: int = 0, num_graphs: int = 3000) -> GraphDataset:
    """Generate small molecules without their hydrogens, a negative and its positive twin in turn.

    The ground truth is the bonds of the group and the bond that attaches it to the ring.

    Args:
        root: Not used; the set is generated.
        seed: Random seed of the molecules and of the split.
        num_graphs: Number of molecules.

    Returns:
        The dataset.

    Raises:
        DatasetError: If `num_graphs` is not an even number of at least 2.
    """
    if not isinstance(num_graphs, int) or num_graphs < 2 or num_graphs % 2:
        raise DatasetError(
            "nitro consists of pairs, a negative and a positive molecule each: "
            f"num_graphs must be an even number of at least 2, got {num_graphs!r}"
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
    """An infinite stream of pairs (negative, positive) without duplicate molecules."""
    seen: set[tuple[int, ...]] = set()
    while True:
        pair = draw_twins(random)
        prints = {molecule_key(twin) for twin in pair}
        if seen.isdisjoint(prints):
            seen |= prints
            yield pair


def draw_twins(random: np.random.RandomState) -> tuple[Molecule, Molecule]:
    """Draw a negative molecule and its positive twin, both of an accepted size.

    Args:
        random: Source of the random numbers.

    Returns:
        The negative molecule and the positive one.
    """
    while True:
        skeleton = _skeleton(random)
        groups = _groups(random, skeleton)
        pair = _build(skeleton, _harmless(random, skeleton, groups)), _build(skeleton, groups)
        if all(len(twin.atoms) in SIZES for twin in pair):
            return pair


@cache
def _ring(smiles: str) -> Ring:
    """Read a ring system and find the atoms that may be substituted."""
    molecule = read_smiles(smiles)
    around = neighbours(molecule)
    places, nitrogens = [], []
    for position, (atom, free) in enumerate(zip(molecule.atoms, hydrogens(molecule), strict=True)):
        if not free:
            continue
        # Next to the N or O of a saturated ring, most groups would make the molecule unstable.
        stable = atom.symbol == "c" or all(molecule.atoms[other].symbol in "Cc" for _, other in around[position])
        if atom.symbol in "Cc" and stable:
            places.append(position)
        elif atom.symbol == "N":
            nitrogens.append(position)
    return Ring(molecule, tuple(places), tuple(nitrogens))


def _skeleton(random: np.random.RandomState) -> Skeleton:
    """Draw an aromatic ring system, alone or linked to a second one."""
    first = _ring(AROMATIC_RINGS.draw(random))
    if random.random_sample() > SECOND_RING:
        return _with_places(first.molecule, first.places)
    saturated = random.random_sample() < SATURATED
    second = _ring((SATURATED_RINGS if saturated else AROMATIC_RINGS).draw(random))
    linker = read_smiles(LINKERS.draw(random))
    # N is never bonded to N, O or S.
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
    """The skeleton with its substitutable atoms divided into aromatic and saturated ones."""
    aromatic = tuple(place for place in places if molecule.atoms[place].aromatic)
    return Skeleton(molecule, aromatic, tuple(place for place in places if place not in aromatic))


def _groups(random: np.random.RandomState, skeleton: Skeleton) -> Groups:
    """Draw the groups of a positive molecule: one or two that make it positive, and others at random."""
    number = int(NUMBER_OF_GROUPS.draw(random))
    toxic = 2 if number > 1 and random.random_sample() < SECOND_TOXIC else 1
    aromatic = _shuffled(random, skeleton.aromatic)
    groups = {place: _one_of(random, TOXIC) for place in aromatic[:toxic]}
    for place in _shuffled(random, (*aromatic[toxic:], *skeleton.saturated))[: number - toxic]:
        groups[place] = (ON_SATURATED if place in skeleton.saturated else ON_AROMATIC).draw(random)
    return groups


def _harmless(random: np.random.RandomState, skeleton: Skeleton, groups: Groups) -> Groups:
    """Draw the groups of the negative twin."""
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
    """Attach the groups; those that make the molecule positive are its motifs."""
    molecule, found = skeleton.molecule, 0
    for place, name in sorted(groups.items()):
        toxic = name in TOXIC and place in skeleton.aromatic
        molecule = join(molecule, place, GROUPS[name], motif=found if toxic else OUTSIDE)
        found += toxic
    return molecule


def _one_of(random: np.random.RandomState, values: Sequence[Value]) -> Value:
    """Draw one value."""
    return values[int(random.random_sample() * len(values))]


def _shuffled(random: np.random.RandomState, places: Sequence[int]) -> list[int]:
    """The places in random order."""
    return [places[position] for position in random.permutation(len(places))]
