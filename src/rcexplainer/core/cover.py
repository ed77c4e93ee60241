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

Peeling cuts the same cells again and again: those of the intruders are all remembered, those of the members on the way
to the last region.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

import torch
from torch import Tensor

from rcexplainer.core.patterns import BITS, Cell, Patterns
from rcexplainer.errors import RCExplainerError

EPSILON = 1e-3


@dataclass(frozen=True, eq=False)
class Cover:
    """r(P): the chosen rows [p] with the side [p] that is inside, and who is in it."""

    rows: Tensor
    sides: Tensor
    intruders: int  # h(P)
    tolerance: int  # δ
    _members: Cell
    _intruders: Cell

    @cached_property
    def index(self) -> Tensor:
        """[g(P)] the positions of the members covered."""
        return self._members.instances

    @property
    def covered(self) -> Tensor:
        """[g] bool; made when it is asked for, as peeling many regions needs only the positions."""
        return _mask(self.index, len(self._members.group.order))

    @property
    def intruding(self) -> Tensor:
        """[k] bool; peeling many regions needs only the number."""
        return _mask(self._intruders.instances, len(self._intruders.group.order))


def _mask(index: Tensor, length: int) -> Tensor:
    return torch.zeros(length, dtype=torch.bool, device=index.device).index_fill(0, index, True)


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
    if not epsilon > 0:
        raise RCExplainerError(f"epsilon must be a number > 0, got {epsilon}: Eq. 5 divides by 0 where it is not")
    own, other = Patterns.of(members, weights), Patterns.of(intruders)
    remaining, others = Cell.all(own), Cell.all(other)
    left, alike = own.mass.clone(), other.mass_of(own.keys)
    while len(remaining.index):
        fullest = left.argmax()  # r(H̃); at a tie the first member's
        tolerance = int(alike[fullest])
        cuts = _cut(remaining, others, tolerance, epsilon)
        if cuts[-1].intruders.size > tolerance:
            cuts = _cut(remaining, others, tolerance, epsilon, own.positive[fullest] > 0)
        inside, intruding = cuts[-1].members, cuts[-1].intruders
        chosen = _without_redundant(cuts)
        yield Cover(
            torch.tensor([cut.row for cut in chosen], dtype=torch.long, device=members.device),
            torch.tensor([cut.side for cut in chosen], dtype=torch.bool, device=members.device),
            int(intruding.size),
            tolerance,
            inside,
            intruding,
        )
        left.index_fill_(0, inside.index.long(), 0.0)
        remaining = _without_covered(cuts)


@dataclass(frozen=True, eq=False, slots=True)
class _Cut:
    """One row of P, and the cells before it; at the end of a list, the last cells and no row."""

    members: Cell
    intruders: Cell
    row: int = -1
    side: bool = True


def _cut(members: Cell, intruders: Cell, tolerance: int, epsilon: float, sides: Tensor | None = None) -> list[_Cut]:
    """Eq. 5 until h ≤ δ, or until no row excludes an intruder."""
    cuts: list[_Cut] = []
    while intruders.size > tolerance:
        g, h = members.counts, intruders.counts  # the last entry, everybody, excludes nobody and is never chosen
        g_other, h_other = g[-1] - g, h[-1] - h
        side = torch.where(g == g_other, h <= h_other, g > g_other) if sides is None else sides
        lost, excluded = torch.where(side, g_other, g), torch.where(side, h_other, h)
        cost, row = ((lost + epsilon) / excluded).min(0)  # ∞ where nobody is excluded, as ε > 0
        if float(cost) == inf:
            break
        cuts.append(_Cut(members, intruders, int(row), bool(side[row])))
        members, intruders = (cell.halves(cuts[-1].row)[cuts[-1].side] for cell in (members, intruders))
    return [*cuts, _Cut(members, intruders)]


def _without_covered(cuts: list[_Cut]) -> Cell:
    """The members that remain, cut as before: who is covered is gone from each cell on the way there and from no half
    beside it. So what the next region has in common with this one need not be cut and counted again."""
    covered = cuts[-1].members
    left = Cell(covered.group, covered.index[:0], torch.zeros_like(covered.counts))
    for cut in reversed(cuts[:-1]):
        beside = cut.members.halves(cut.row)[not cut.side]
        index = torch.cat([left.index, beside.index])
        halves = (beside, left) if cut.side else (left, beside)
        left = Cell(covered.group, index, cut.members.counts - covered.counts, {cut.row: halves})
    return left


def _without_redundant(cuts: list[_Cut]) -> list[_Cut]:
    """Rows, the last chosen first, are dropped if the cell keeps its members and intruders without them.

    Whoever a row excludes was excluded before it, or by it first. The former still are, as earlier rows have not been
    dropped yet; so it is redundant if the latter are all excluded by a later row that stays.
    """
    kept: list[_Cut] = []
    rows, sides = ([0] * len(cuts[-1].members.group.words) for _ in range(2))  # the same as bits
    for cut in reversed(cuts[:-1]):
        excluded = (cell.halves(cut.row)[not cut.side] for cell in (cut.members, cut.intruders))
        if any(cell.meets(rows, sides) for cell in excluded):
            kept.append(cut)
            word, bit = divmod(cut.row, BITS)
            rows[word] |= 1 << bit
            sides[word] |= cut.side << bit
    return kept[::-1]
