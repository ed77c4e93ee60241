"""Instances grouped by the sides they lie on, and the cells that hyperplanes cut them into: what the cover counts.

    counts(r)_i = Σ_{x ∈ r} [x on the positive side of candidate i],  i = 1 … m;   counts(r)_{m+1} = |r|

sides [n, m] bool → patterns [u, m], u ≤ n: instances on the same sides of all candidates form one pattern, whose mass
is the number of these instances.

Two things make cutting fast. Only the half with fewer patterns is counted; the other half's counts are the difference,
which is exact because all counts are whole numbers. And a cell caches its halves.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from rcexplainer.core.segments import gather_ranges

WORD_BITS = 63  # candidates packed into one integer
_PATTERNS_AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct side patterns of a group of n instances, in order of first occurrence.

    Attributes:
        positive: [u, m + 1] float; the pattern's mass where it lies on the positive side, else 0. The last column is
            the mass itself.
        columns: [m, u] bool; the same sides, one contiguous row per candidate.
        words: tuple of [u] long; the same sides again as bits, `WORD_BITS` candidates per integer.
        mass: [u] float; the number of instances with each pattern.
        keys: [u] long; a hash of each pattern, comparable between groups.
        order: [n] long; the instances sorted by pattern.
        ptr: [u + 1] long; where each pattern's instances begin in `order`.
    """

    positive: Tensor
    columns: Tensor
    words: tuple[Tensor, ...]
    mass: Tensor
    keys: Tensor
    order: Tensor
    ptr: Tensor

    @staticmethod
    def of(sides: Tensor) -> "Patterns":
        """Group instances by their sides.

        Args:
            sides: [n, m] bool; True where instance n lies on the positive side of candidate m.

        Returns:
            The distinct patterns.
        """
        keys, place = torch.unique(_keys(sides), return_inverse=True)
        number = torch.arange(len(sides), device=sides.device)
        first = number.new_full(keys.shape, len(sides)).scatter_reduce(0, place, number, "amin")
        first, order = first.sort()
        # Whole numbers stay exact in float32 up to 2^24, and its products are twice as fast.
        exact = torch.float32 if len(sides) < 2**24 else torch.float64
        mass = place.bincount(minlength=len(keys))[order].to(exact)
        sides = sides[first]
        positive = torch.cat([sides * mass[:, None], mass[:, None]], 1)
        columns = sides.T.contiguous()
        inverse = order.argsort()[place]
        ptr = F.pad(inverse.bincount(minlength=len(keys)).cumsum(0), (1, 0))
        return Patterns(positive, columns, _words(columns), mass, keys[order], inverse.argsort(stable=True), ptr)

    def counts(self, index: Tensor) -> Tensor:
        """Count the instances of some patterns on the positive side of each candidate, and in all.

        Args:
            index: [k] positions of patterns.

        Returns:
            [m + 1] float64; the last entry is the total.
        """
        starts = torch.arange(0, len(index), _PATTERNS_AT_ONCE, dtype=torch.int32, device=index.device)
        # Gathers and sums the rows in one kernel, several times faster than one after the other.
        return torch.embedding_bag(self.positive, index, starts)[0].sum(0, dtype=torch.float64)

    def mass_of(self, keys: Tensor) -> Tensor:
        """Look up patterns of another group in this one.

        Args:
            keys: [k] keys of patterns.

        Returns:
            [k] the mass of these patterns here, 0 for patterns that do not occur.
        """
        known, order = torch.unique(torch.cat([self.keys, keys]), return_inverse=True)
        mass = self.mass.new_zeros(len(known)).index_add(0, order[: len(self.keys)], self.mass)
        return mass[order[len(self.keys) :]]


def _words(columns: Tensor) -> tuple[Tensor, ...]:
    """The sides [m, u] of each pattern as bits of integers [u], `WORD_BITS` candidates in each."""
    words: list[Tensor] = []
    for part in torch.split(columns, WORD_BITS) if len(columns) else ():
        words.append(torch.zeros_like(part[0], dtype=torch.long))
        for bit, column in enumerate(part):
            words[-1] |= column.long() << bit
    return tuple(words)


def _keys(sides: Tensor) -> Tensor:
    """[n] a hash of each row of sides [n, m]; different patterns collide with a probability of about n² / 2^64.

    Sums of random integers that are small enough to be exact in float64.
    """
    m = sides.size(1)
    parts = torch.randint(2 ** (52 - m.bit_length()), (m, 2), generator=torch.Generator().manual_seed(0))
    parts = parts.to(sides.device, torch.float64)
    keys = torch.empty(len(sides), dtype=torch.long, device=sides.device)
    for chunk, key in zip(torch.split(sides, _PATTERNS_AT_ONCE), torch.split(keys, _PATTERNS_AT_ONCE), strict=True):
        one, other = (chunk.double() @ parts).long().unbind(1)
        torch.add(one * 0x1E3779B97F4A7C15, other, out=key)
    return keys


class PatternCell:
    """The patterns of a group that lie in one cell of the hyperplane arrangement.

    Peeling cuts the same cells again and again, so a cell keeps the halves it was cut into.

    Attributes:
        group: The patterns of the whole group.
        index: [k] int32 positions of the cell's patterns; int32 because many cells are kept.
        counts: [m + 1] what `Patterns.counts` gives for these patterns.
    """

    __slots__ = ("_halves", "counts", "group", "index")

    def __init__(self, group: Patterns, index: Tensor, counts: Tensor) -> None:
        self.group, self.index, self.counts = group, index, counts
        self._halves: dict[int, tuple[PatternCell, PatternCell]] = {}

    @classmethod
    def all(cls, group: Patterns) -> "PatternCell":
        """The cell of the whole space, which holds every pattern of the group."""
        index = torch.arange(len(group.mass), dtype=torch.int32, device=group.mass.device)
        return cls(group, index, group.counts(index))

    @property
    def instances(self) -> Tensor:
        """The positions of the instances in the cell, ascending."""
        index = self.index.long()
        places, _ = gather_ranges(self.group.ptr[index], self.group.ptr[index + 1])
        return self.group.order[places].sort().values

    @property
    def size(self) -> float:
        """The number of instances in the cell."""
        return float(self.counts[-1])

    def half(self, row: int, positive: bool) -> "PatternCell":
        """The part of the cell on one side of a candidate.

        Args:
            row: The candidate.
            positive: Which side.

        Returns:
            That half; the same object every time.
        """
        if row not in self._halves:
            self._halves[row] = self._cut(row)
        negative_half, positive_half = self._halves[row]
        return positive_half if positive else negative_half

    def set_halves(self, row: int, negative: "PatternCell", positive: "PatternCell") -> None:
        """Store halves that are known already, so that they need not be counted again.

        Args:
            row: The candidate that separates them.
            negative: The half on its negative side.
            positive: The half on its positive side.
        """
        self._halves[row] = negative, positive

    def _cut(self, row: int) -> tuple["PatternCell", "PatternCell"]:
        """(negative half, positive half)."""
        on_positive = self.group.columns[row].index_select(0, self.index)
        negative, positive = self.index.masked_select(~on_positive), self.index.masked_select(on_positive)
        if len(negative) <= len(positive):
            return self._count_smaller(negative, positive)
        positive_half, negative_half = self._count_smaller(positive, negative)
        return negative_half, positive_half

    def _count_smaller(self, smaller: Tensor, larger: Tensor) -> tuple["PatternCell", "PatternCell"]:
        """The cells of two parts of the index; only the smaller one is counted."""
        if not len(smaller):
            return PatternCell(self.group, smaller, torch.zeros_like(self.counts)), self
        counts = self.group.counts(smaller)
        return PatternCell(self.group, smaller, counts), PatternCell(self.group, larger, self.counts - counts)

    def meets(self, rows: list[int], sides: list[int]) -> bool:
        """Whether some pattern of the cell lies on the given sides of the given candidates.

        Args:
            rows: The candidates as bits, one integer for each of the group's words.
            sides: The required sides as bits, laid out in the same way.
        """
        if not len(self.index):
            return False
        inside = torch.ones_like(self.index, dtype=torch.bool)
        for word, asked, wanted in zip(self.group.words, rows, sides, strict=True):
            if asked:
                inside &= word.index_select(0, self.index) & asked == wanted
        return bool(inside.any())
