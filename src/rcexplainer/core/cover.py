"""The greedy submodular cover of Eq. 4, 5, apart from what it covers: it sees sides of hyperplanes, not a GNN.

    max_P g(P)   s.t.   h(P) ≤ δ,                         P ⊆ H̃                                    (4)
    next row  =  argmin_h  (g(P) − g(P ∪ {h}) + ε) / (h(P) − h(P ∪ {h}))                            (5)

members [g, m], intruders [k, m] bool: True where the instance is on the positive side of candidate 1 … m.
g(P), h(P) count the members and intruders in the cell r(P). δ = h(H̃), the intruders in the cell of all candidates
together that holds the most members.

A new row only cuts the current cell: r(P ∪ {h}) is the side of h inside r(P) that keeps more members (at a tie the
one with fewer intruders). So g and h never grow, as the appendix's proof needs; with "the cell with the most members"
taken anew at every step, r could jump. Cut like this the cell can end beside r(H̃) with more than δ intruders and no row
to exclude them; then every row is turned to the side of r(H̃), which reaches δ always.

Two things make it fast. Instances on the same sides of all candidates are one pattern [u, m] with a mass [u]; and
the cells of the intruders are remembered, as peeling cuts the same ones again and again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from rcexplainer.errors import RCExplainerError

EPSILON = 1e-3
_CHUNK = 8192  # patterns at a time


@dataclass(frozen=True, eq=False)
class Cover:
    """r(P): the chosen rows [p] with the side [p] that is inside, and who is in it."""

    rows: Tensor
    sides: Tensor
    covered: Tensor  # [g] bool
    intruders: int  # h(P)
    tolerance: int  # δ
    _intruders: "_Cell"

    @property
    def intruding(self) -> Tensor:
        """[k] bool; made when it is asked for, as peeling many regions needs only the number."""
        return self._intruders.mask[self._intruders.group.inverse]


def greedy_cover(members: Tensor, intruders: Tensor, epsilon: float = EPSILON, weights: Tensor | None = None) -> Cover:
    """One region. `weights` [g] > 0, if given, are what each member counts in g."""
    if not len(members):
        raise RCExplainerError("there are no members to cover: a region is the region of at least one instance")
    return next(peel(members, intruders, epsilon, weights))


def peel(
    members: Tensor, intruders: Tensor, epsilon: float = EPSILON, weights: Tensor | None = None
) -> Iterator[Cover]:
    """Regions one after the other, each made for the members not yet covered, until there are none.

    Every cut keeps at least half of what the members weigh, so each region takes at least one of them away.
    """
    if weights is not None and not bool((weights > 0).all()):
        raise RCExplainerError("the weights of the members must be positive: a member of weight 0 can be left out")
    own, other = _Patterns.of(members, weights), _Patterns.of(intruders)
    remaining, others = own.all(), other.all()
    while len(remaining.index):
        fullest = remaining.index[own.mass[remaining.index].argmax()]  # r(H̃); at a tie the first member's
        tolerance = int(other.mass[other.keys == own.keys[fullest]].sum())
        cuts = _cut(remaining, others, tolerance, epsilon)
        if cuts[-1].intruders.size > tolerance:
            cuts = _cut(remaining, others, tolerance, epsilon, own.columns[:, fullest])
        covered = cuts[-1].members.mask
        chosen = _without_redundant(cuts)
        yield Cover(
            torch.tensor([cut.row for cut in chosen], dtype=torch.long, device=members.device),
            torch.tensor([cut.side for cut in chosen], dtype=torch.bool, device=members.device),
            covered[own.inverse],
            int(cuts[-1].intruders.size),
            tolerance,
            cuts[-1].intruders,
        )
        remaining = _Cell(own, remaining.index[~covered[remaining.index]])


@dataclass(frozen=True, eq=False)
class _Patterns:
    """A group of instances: the different patterns of their sides, in the order in which they first occur."""

    sides: Tensor  # [u, m] 0 or 1, in the type of the mass
    columns: Tensor  # [m, u] the same as bool: what one candidate does to all patterns is read at once
    mass: Tensor  # [u] how many instances, or the sum of their weights
    keys: Tensor  # [u] a number that names the pattern
    inverse: Tensor  # [n] the pattern of each instance

    @staticmethod
    def of(sides: Tensor, weights: Tensor | None = None) -> "_Patterns":
        keys, place = torch.unique(_keys(sides), return_inverse=True)
        number = torch.arange(len(sides), device=sides.device)
        first = number.new_full(keys.shape, len(sides)).scatter_reduce(0, place, number, "amin")
        first, order = first.sort()
        mass = place.bincount(weights, minlength=len(keys))[order]
        # Whole numbers stay exact in float32 up to 2^24, and its products are twice as fast.
        mass = mass.to(torch.float32 if weights is None and len(sides) < 2**24 else torch.float64)
        sides = sides[first]
        return _Patterns(sides.to(mass.dtype), sides.T.contiguous(), mass, keys[order], order.argsort()[place])

    def all(self) -> "_Cell":
        return _Cell(self, torch.arange(len(self.mass), dtype=torch.int32, device=self.mass.device))


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


@dataclass(frozen=True, eq=False)
class _Cell:
    """The patterns of a group that lie in one cell, and the cells it was cut into."""

    group: _Patterns
    index: Tensor  # [k] int32, as many cells are remembered
    parts: dict[tuple[int, bool], "_Cell"] = field(default_factory=dict)

    @property
    def mask(self) -> Tensor:
        """[u] bool."""
        return torch.zeros_like(self.group.mass, dtype=torch.bool).index_fill(0, self.index.long(), True)

    @cached_property
    def size(self) -> float:
        return float(self.group.mass[self.index].sum(dtype=torch.float64))

    @cached_property
    def positive(self) -> Tensor:
        """[m] float64: the mass on the positive side of each candidate."""
        starts = torch.arange(0, len(self.index), _CHUNK, dtype=torch.int32, device=self.index.device)
        mass = self.group.mass[self.index]
        # Gathers rows and adds them up in one go; it is several times faster than doing one after the other.
        sums = F.embedding_bag(self.index, self.group.sides, starts, mode="sum", per_sample_weights=mass)
        return sums.sum(0, dtype=torch.float64)

    def cut(self, row: int, side: bool) -> "_Cell":
        if (row, side) not in self.parts:
            inside = self.group.columns[row][self.index] == side
            self.parts[row, side] = _Cell(self.group, self.index[inside])
        return self.parts[row, side]


@dataclass(frozen=True, eq=False)
class _Cut:
    """One row of P, and the cells before it; at the end of a list, the last cells and no row."""

    members: _Cell
    intruders: _Cell
    row: int = -1
    side: bool = True


def _cut(members: _Cell, intruders: _Cell, tolerance: int, epsilon: float, sides: Tensor | None = None) -> list[_Cut]:
    """Eq. 5 until h ≤ δ, or until no row excludes an intruder."""
    cuts: list[_Cut] = []
    while intruders.size > tolerance:
        g, h = members.positive, intruders.positive
        g_other, h_other = members.size - g, intruders.size - h
        side = (g > g_other) | ((g == g_other) & (h <= h_other)) if sides is None else sides
        lost, excluded = torch.where(side, g_other, g), torch.where(side, h_other, h)
        cost, row = ((lost + epsilon) / excluded).masked_fill(excluded == 0, torch.inf).min(0)
        if bool(cost.isinf()):
            break
        cuts.append(_Cut(members, intruders, int(row), bool(side[row])))
        members, intruders = (cell.cut(cuts[-1].row, cuts[-1].side) for cell in (members, intruders))
    return [*cuts, _Cut(members, intruders)]


def _without_redundant(cuts: list[_Cut]) -> list[_Cut]:
    """Rows, the last chosen first, are dropped if the cell keeps its members and intruders without them.

    Whoever a row excludes was excluded before it, or by it first. The former still are, as earlier rows have not been
    dropped yet; so it is redundant if the latter are all excluded by a later row that stays.
    """
    kept: list[_Cut] = []
    cells = (cuts[-1].members, cuts[-1].intruders)
    later = [torch.zeros_like(cell.group.mass, dtype=torch.bool) for cell in cells]  # whom the rows that stay exclude
    for cut in reversed(cuts[:-1]):
        outside = [cell.group.columns[cut.row] != cut.side for cell in cells]
        here = (cut.members.index, cut.intruders.index)
        alone = (out[index] & ~after[index] for out, after, index in zip(outside, later, here, strict=True))
        if any(bool(mask.any()) for mask in alone):
            kept.append(cut)
            later = [after | out for after, out in zip(later, outside, strict=True)]
    return kept[::-1]
