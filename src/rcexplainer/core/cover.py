"""The greedy submodular cover of Eq. 4, 5, apart from what it covers: it sees sides of hyperplanes, not a GNN.

    max_P g(P)   s.t.   h(P) ≤ δ,                         P ⊆ H̃                                    (4)
    next row  =  argmin_h  (g(P) − g(P ∪ {h}) + ε) / (h(P) − h(P ∪ {h}))                            (5)

members [g, m], intruders [k, m] bool: True where the instance is on the positive side of candidate 1 … m.
g(P), h(P) count the members and intruders in the cell r(P). δ = h(H̃), the intruders in the cell of all candidates
together that holds the most members.

A new row only cuts the current cell: r(P ∪ {h}) is the side of h inside r(P) that keeps more members (at a tie the
one with fewer intruders). So g and h never grow, as the appendix's proof needs; with "the cell with the most members"
taken anew at every step, r could jump. Cut like this, the cell may end up beside r(H̃) with more than δ intruders and no
row left to exclude them; then the cover is repeated with every row turned to the side of r(H̃), which always reaches δ.

Peeling cuts the same cells repeatedly: all cells of the intruders are cached, and the members' cells on the way to the
last region.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from rcexplainer.core.patterns import WORD_BITS, PatternCell, Patterns
from rcexplainer.errors import RCExplainerError

COVER_EPSILON = 1e-3  # ε of Eq. 5


@dataclass(frozen=True, eq=False)
class Cover:
    """One region r(P).

    Attributes:
        rows: [p] long; the chosen candidates P.
        sides: [p] bool; the side of each that is inside.
        index: [g(P)] long; positions of the members covered, ascending.
        intruders: h(P).
    """

    rows: Tensor
    sides: Tensor
    index: Tensor
    intruders: int


def peel(members: Tensor, intruders: Tensor, epsilon: float = COVER_EPSILON) -> Iterator[Cover]:
    """Yield regions until every member is covered, each made for the members that no earlier region covers.

    Every cut keeps at least half of the members, so each region covers at least one of those left.

    Args:
        members: [g, m] bool; the sides of the instances to cover.
        intruders: [k, m] bool; the sides of the instances to exclude.
        epsilon: ε of Eq. 5.

    Yields:
        The regions, in order.

    Raises:
        RCExplainerError: If `epsilon` is not positive.
    """
    if not epsilon > 0:
        raise RCExplainerError(
            f"epsilon must be a number > 0, got {epsilon}: otherwise Eq. 5 is 0 / 0 for a row that excludes nobody; "
            "choose a small positive number such as 0.001"
        )
    own, other = Patterns.of(members), Patterns.of(intruders)
    remaining, others = PatternCell.all(own), PatternCell.all(other)
    left, alike = own.mass.clone(), other.mass_of(own.keys)
    while len(remaining.index):
        fullest = left.argmax()  # r(H̃); at a tie the first member's
        tolerance = int(alike[fullest])
        cuts = _cut(remaining, others, tolerance, epsilon)
        if cuts[-1].intruders.size > tolerance:
            cuts = _cut(remaining, others, tolerance, epsilon, own.positive[fullest] > 0)
        inside, chosen = cuts[-1].members, _without_redundant(cuts)
        yield Cover(
            torch.tensor([cut.row for cut in chosen], dtype=torch.long, device=members.device),
            torch.tensor([cut.side for cut in chosen], dtype=torch.bool, device=members.device),
            inside.instances,
            int(cuts[-1].intruders.size),
        )
        left.index_fill_(0, inside.index.long(), 0.0)
        remaining = _without_covered(cuts)


@dataclass(frozen=True, eq=False, slots=True)
class _Cut:
    """One row of P, and the cells before it; at the end of a list, the last cells and no row."""

    members: PatternCell
    intruders: PatternCell
    row: int = -1
    side: bool = True


def _cut(
    members: PatternCell, intruders: PatternCell, tolerance: int, epsilon: float, sides: Tensor | None = None
) -> list[_Cut]:
    """Eq. 5 until h ≤ δ, or until no row excludes an intruder; `sides` [m + 1] fixes the side of every row."""
    cuts: list[_Cut] = []
    while intruders.size > tolerance:
        g, h = members.counts, intruders.counts  # the last entry, the total, excludes nobody and is never chosen
        g_other, h_other = g[-1] - g, h[-1] - h
        side = torch.where(g == g_other, h <= h_other, g > g_other) if sides is None else sides
        lost, excluded = torch.where(side, g_other, g), torch.where(side, h_other, h)
        cost, row = ((lost + epsilon) / excluded).min(0)  # ∞ where nobody is excluded, as ε > 0
        if float(cost) == inf:
            break
        cut = _Cut(members, intruders, int(row), bool(side[row]))
        members, intruders = members.half(cut.row, cut.side), intruders.half(cut.row, cut.side)
        cuts.append(cut)
    return [*cuts, _Cut(members, intruders)]


def _without_covered(cuts: list[_Cut]) -> PatternCell:
    """The members that remain, cut as before.

    Covered members disappear from each cell on the way to the region and from no half beside that way. So whatever the
    next region has in common with this one need not be cut and counted again.
    """
    covered = cuts[-1].members
    left = PatternCell(covered.group, covered.index[:0], torch.zeros_like(covered.counts))
    for cut in reversed(cuts[:-1]):
        beside = cut.members.half(cut.row, not cut.side)
        index = torch.cat([left.index, beside.index])
        whole = PatternCell(covered.group, index, cut.members.counts - covered.counts)
        if cut.side:
            whole.set_halves(cut.row, negative=beside, positive=left)
        else:
            whole.set_halves(cut.row, negative=left, positive=beside)
        left = whole
    return left


def _without_redundant(cuts: list[_Cut]) -> list[_Cut]:
    """The cuts without redundant rows, which exclude no instance that the others do not; tried from last to first.

    An instance that a row excludes was already excluded by an earlier row, or first by this one. The former stay
    excluded, as earlier rows have not been dropped yet; so a row is redundant if a later row that stays excludes all of
    the latter.
    """
    kept: list[_Cut] = []
    rows = [0] * len(cuts[-1].members.group.words)  # the kept rows as bits
    sides = [0] * len(rows)
    for cut in reversed(cuts[:-1]):
        excluded = (cell.half(cut.row, not cut.side) for cell in (cut.members, cut.intruders))
        if any(cell.meets(rows, sides) for cell in excluded):
            kept.append(cut)
            word, bit = divmod(cut.row, WORD_BITS)
            rows[word] |= 1 << bit
            sides[word] |= cut.side << bit
    return kept[::-1]
