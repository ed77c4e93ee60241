"""Instances as patterns of sides, and the cells that hyperplanes cut them into: what the cover counts in.

    counts(r)_i = Σ_{x ∈ r} mass(x) [x on the positive side of i],  i = 1 … m;   counts(r)_{m+1} = mass of r

sides [n, m] bool → patterns [u, m], u ≤ n: instances on the same sides of all candidates are one pattern with a mass.

Two things make cutting fast. Of the two halves of a cell only the one with fewer patterns is counted, the other is the
difference: all sums are exact. And a cell remembers its halves.
"""

from dataclasses import dataclass, field
from math import frexp

import torch
import torch.nn.functional as F
from torch import Tensor

from rcexplainer.core.segments import gather_ranges

_CHUNK = 8192  # patterns at a time
BITS = 63  # candidates in one integer


@dataclass(frozen=True, eq=False)
class Patterns:
    """A group of instances: the different patterns of their sides, in the order in which they first occur."""

    positive: Tensor  # [u, m + 1] the mass where a pattern is on the positive side, else 0; the last column is the mass
    columns: Tensor  # [m, u] the same as bool: what one candidate does to all patterns is read at once
    words: tuple[Tensor, ...]  # each [u] long, and again, one bit for a candidate: many are compared at once
    mass: Tensor  # [u] how many instances, or the sum of their weights
    keys: Tensor  # [u] a number that names the pattern
    order: Tensor  # [n] the instances of the first pattern, of the second, …
    ptr: Tensor  # [u + 1] where each pattern's begin

    @staticmethod
    def of(sides: Tensor, weights: Tensor | None = None) -> "Patterns":
        keys, place = torch.unique(_keys(sides), return_inverse=True)
        number = torch.arange(len(sides), device=sides.device)
        first = number.new_full(keys.shape, len(sides)).scatter_reduce(0, place, number, "amin")
        first, order = first.sort()
        mass = place.bincount(None if weights is None else _exact(weights), minlength=len(keys))[order]
        # Whole numbers stay exact in float32 up to 2^24, and its products are twice as fast.
        mass = mass.to(torch.float32 if weights is None and len(sides) < 2**24 else torch.float64)
        sides = sides[first]
        positive = torch.cat([sides * mass[:, None], mass[:, None]], 1)
        columns = sides.T.contiguous()
        inverse = order.argsort()[place]
        ptr = F.pad(inverse.bincount(minlength=len(keys)).cumsum(0), (1, 0))
        return Patterns(positive, columns, _words(columns), mass, keys[order], inverse.argsort(stable=True), ptr)

    def counts(self, index: Tensor) -> Tensor:
        """[m + 1] float64: the mass of these patterns on the positive side of each candidate, and of all."""
        starts = torch.arange(0, len(index), _CHUNK, dtype=torch.int32, device=index.device)
        # Gathers rows and adds them up in one go; it is several times faster than doing one after the other.
        return torch.embedding_bag(self.positive, index, starts)[0].sum(0, dtype=torch.float64)

    def mass_of(self, keys: Tensor) -> Tensor:
        """[k] the mass of the patterns with these keys, 0 for those that do not occur."""
        known, order = torch.unique(torch.cat([self.keys, keys]), return_inverse=True)
        mass = self.mass.new_zeros(len(known)).index_add(0, order[: len(self.keys)], self.mass)
        return mass[order[len(self.keys) :]]


def _words(columns: Tensor) -> tuple[Tensor, ...]:
    """The sides [m, u] of each pattern as the bits of integers [u], so many candidates in each."""
    words: list[Tensor] = []
    for part in torch.split(columns, BITS) if len(columns) else ():
        words.append(torch.zeros_like(part[0], dtype=torch.long))
        for bit, column in enumerate(part):
            words[-1] |= column.long() << bit
    return tuple(words)


def _exact(weights: Tensor) -> Tensor:
    """The weights in float64, as multiples of a step so small that nobody notices (2^-52 of their sum, at least one),
    with which every sum of them is exact: a tie is one whatever order they are added up in."""
    step = 2.0 ** (frexp(float(weights.sum(dtype=torch.float64)))[1] - 52)
    return (weights.double() / step).round().clamp_min(1) * step


def _keys(sides: Tensor) -> Tensor:
    """[n] one number for each row of sides [n, m]: the same for the same pattern, and for another one only by a chance
    of about n² / 2^64. Sums of random integers that are small enough to be exact in float64."""
    m = sides.size(1)
    parts = torch.randint(2 ** (52 - m.bit_length()), (m, 2), generator=torch.Generator().manual_seed(0))
    parts = parts.to(sides.device, torch.float64)
    keys = torch.empty(len(sides), dtype=torch.long, device=sides.device)
    for chunk, key in zip(torch.split(sides, _CHUNK), torch.split(keys, _CHUNK), strict=True):
        one, other = (chunk.double() @ parts).long().unbind(1)
        torch.add(one * 0x1E3779B97F4A7C15, other, out=key)
    return keys


@dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """The patterns of a group that lie in one cell, and the halves it was cut into."""

    group: Patterns
    index: Tensor  # [k] int32, as many cells are remembered
    counts: Tensor  # [m + 1]
    parts: dict[int, tuple["Cell", "Cell"]] = field(default_factory=dict)

    @staticmethod
    def all(group: Patterns) -> "Cell":
        index = torch.arange(len(group.mass), dtype=torch.int32, device=group.mass.device)
        return Cell(group, index, group.counts(index))

    @property
    def instances(self) -> Tensor:
        """The positions of the instances with these patterns, in ascending order."""
        group, index = self.group, self.index.long()
        places, _ = gather_ranges(group.ptr[index], group.ptr[index + 1])
        return group.order[places].sort().values

    @property
    def size(self) -> float:
        return float(self.counts[-1])

    def halves(self, row: int) -> tuple["Cell", "Cell"]:
        """What lies on the negative and on the positive side of a candidate."""
        if row not in self.parts:
            positive = self.group.columns[row].index_select(0, self.index)
            index = self.index.masked_select(~positive), self.index.masked_select(positive)
            smaller = len(index[0]) > len(index[1])
            if len(index[smaller]):
                counts = self.group.counts(index[smaller])
                part = Cell(self.group, index[smaller], counts)
                rest = Cell(self.group, index[not smaller], self.counts - counts)
            else:
                part, rest = Cell(self.group, index[smaller], torch.zeros_like(self.counts)), self
            self.parts[row] = (rest, part) if smaller else (part, rest)
        return self.parts[row]

    def meets(self, rows: list[int], sides: list[int]) -> bool:
        """Whether a pattern of the cell is on these sides of these rows, given as the bits of the group's words."""
        if not len(self.index):
            return False
        inside = torch.ones_like(self.index, dtype=torch.bool)
        for word, asked, wanted in zip(self.group.words, rows, sides, strict=True):
            if asked:
                inside &= word.index_select(0, self.index) & asked == wanted
        return bool(inside.any())
