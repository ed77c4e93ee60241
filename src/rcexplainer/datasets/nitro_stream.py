"""As many molecules of `nitro` as one likes, made when they are read: none of them is kept in memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from rcexplainer.datasets.fragments import molecule_key, to_data
from rcexplainer.datasets.nitro import draw_twins


@dataclass(frozen=True)
class NitroStream:
    """Molecules of `nitro`, a negative and its positive twin in turn; each pass over them gives the same ones.

    Pair i depends on the seed and i alone, so the first n of two streams with the same seed are equal. Unlike in
    `nitro`, a molecule may come more than once.

    Attributes:
        num_graphs: Number of molecules; where molecules are left out, their pairs are left out whole.
        seed: Random seed.
        left_out: Keys of molecules that must not occur, see `keys`.
    """

    num_graphs: int
    seed: int = 0
    left_out: frozenset[tuple[int, ...]] = frozenset()

    def __len__(self) -> int:
        return self.num_graphs

    def __iter__(self) -> Iterator[Data]:
        made, pair = 0, 0
        while made < self.num_graphs:
            twins = draw_twins(np.random.RandomState([self.seed, pair]))
            pair += 1
            if self.left_out and not self.left_out.isdisjoint(molecule_key(twin) for twin in twins):
                continue
            for label, twin in enumerate(twins[: self.num_graphs - made]):
                yield to_data(twin, label)
                made += 1

    def keys(self) -> frozenset[tuple[int, ...]]:
        """Return keys of all these molecules, which do not depend on the order of atoms."""
        pairs = (draw_twins(np.random.RandomState([self.seed, pair])) for pair in range((self.num_graphs + 1) // 2))
        return frozenset(molecule_key(twin) for twins in pairs for twin in twins)
