"""Pruning: units are put back as long as the prediction stays flipped; what is left is minimal.

    parts    every sixteenth of a very long removal is put back alone, then together what can go back
    blocks   half, then a quarter, … of a long removal's lowest-scoring units are put back at once
    single   every unit is put back alone; of those that can be, the one with the lowest score goes back for good, or
             the longest run 1, 2, 4, … of the lowest scores that can go back together if there are many

until no single unit can be put back.
"""

import torch
from torch import Tensor

from rcexplainer.core.flip_query import FlipQuery, Removal
from rcexplainer.core.search import toggle_each
from rcexplainer.core.segments import first_minimum, gather_ranges, owners, ranks

SMALLEST_BLOCK = 4  # units put back at once, at least
PARTS, VERY_LONG = 16, 256  # a removal of 256 units or more is put back in 16 parts first
MANY = 2 * SMALLEST_BLOCK  # units that can be put back alone, from which on several are tried together


def sizes(query: FlipQuery, state: Tensor) -> Tensor:
    """[n] how many units of each instance are removed."""
    return torch.zeros_like(query.source).index_add(0, owners(query.ptr), state.long())


def prune(query: FlipQuery, scores: Tensor, state: Tensor, flipped: Tensor, needed: Tensor | None = None) -> Removal:
    """Put back units, those with the lowest scores first, as long as the prediction stays flipped.

    Args:
        query: What was searched for.
        scores: [units] the ranking.
        state: [units] bool; the units removed so far.
        flipped: [n] bool; the instances to prune, which flip in this state.
        needed: [units] bool; units for which it is known that putting them back, alone, undoes the flip.

    Returns:
        The units that stay removed. Where the budget ends, pruning ends.
    """
    owner, before = owners(query.ptr), state
    state = _put_back_blocks(query, scores, _put_back_parts(query, scores, state, flipped), flipped)
    known = torch.zeros_like(state) if needed is None else needed & ~_any(before ^ state, owner, flipped)[owner]
    if query.before is not None:  # putting back the only unit gives the instance as it was
        everyone = torch.arange(len(flipped), device=flipped.device)
        undone = (sizes(query, state) == 1) & ~query.flips(query.before, everyone)
        known |= state & undone[owner]
    undecided, minimal = flipped.clone(), torch.zeros_like(flipped)
    while bool(undecided.any()):
        units = (state & undecided[owner] & ~known).nonzero().squeeze(1)
        instance, rows, flips, drop = put_back_each(query, state, units)
        looked = known.clone()
        looked[units[rows]] = True
        still = torch.zeros_like(state)
        still[units[rows]] = flips
        # With a confidence the unit goes back that leaves the model surest: more can follow, and what is left holds.
        key = scores if query.confidence is None else drop.new_zeros(len(scores)).index_copy(0, units[rows], drop)
        least = first_minimum(torch.where(still[units], key[units], torch.inf), instance, len(flipped))
        again = (least >= 0) & undecided
        again[again.clone()] &= still[units[least[again]]]
        # None can be put back, and each was tried: minimal. Where the budget ended before, nothing is known.
        minimal |= undecided & ~again & ~_any(state & ~looked, owner, flipped)
        back = _put_back_together(query, key, state, still)
        back[units[least[again]]] = True
        state = state & ~back
        undecided, known = again, torch.zeros_like(known)
    return Removal(state, flipped, minimal)


def _any(units: Tensor, owner: Tensor, like: Tensor) -> Tensor:
    """[n] whether any of these units [units] bool belongs to the instance."""
    found = torch.zeros_like(like)
    found[owner[units]] = True
    return found


def put_back_each(query: FlipQuery, state: Tensor, units: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Put back each of these units [v] alone: the instance of each [v], those that the budget allowed to try [k],
    whether these still flip [k], and how far they are from flipping [k]."""
    instance = torch.searchsorted(query.ptr, units, right=True) - 1
    rows, log_probs = query.answers(instance, lambda some: toggle_each(query.ptr, state, units[some])[1])
    return instance, rows, query.flips(log_probs, instance[rows]), query.drop(log_probs, instance[rows])


def _put_back_together(query: FlipQuery, scores: Tensor, state: Tensor, needless: Tensor) -> Tensor:
    """[units] the most of the `needless` units, lowest scores first, that can go back together; few are left alone."""
    ptr, owner = query.ptr, owners(query.ptr)
    count = sizes(query, needless)
    many = (count >= MANY).nonzero().squeeze(1)
    together = torch.zeros_like(state)
    if not len(many):
        return together
    rank = ranks(torch.where(needless, -scores, -torch.inf), owner, ptr)  # 0: the lowest score that can go back
    rank = torch.where(needless, rank, len(rank))
    powers = 2 ** torch.arange(1, int(count.max()).bit_length() + 1, device=many.device)
    size = torch.minimum(powers.expand(len(many), -1), count[many, None])  # the last try is all of them
    new = torch.ones_like(size, dtype=torch.bool)
    new[:, 1:] = size.diff(dim=1) > 0
    size, instance = size[new], many[:, None].expand_as(size)[new]

    def removed(rows: Tensor) -> Tensor:
        own = instance[rows]
        index, copy = gather_ranges(ptr[own], ptr[own + 1])
        return state[index] & (rank[index] >= size[rows][copy])

    rows, log_probs = query.answers(instance, removed)
    flips = query.flips(log_probs, instance[rows])
    most = torch.zeros_like(count).scatter_reduce(0, instance[rows][flips], size[rows][flips], "amax")
    return needless & (rank < most[owner])


def _put_back_parts(query: FlipQuery, scores: Tensor, state: Tensor, flipped: Tensor) -> Tensor:
    """Put back the sixteenths of very long removals that are not needed, wherever in the ranking they are."""
    ptr, owner = query.ptr, owners(query.ptr)
    state = state.clone()
    left = flipped & (sizes(query, state) >= VERY_LONG)
    while bool(left.any()):
        ids, size = left.nonzero().squeeze(1), sizes(query, state)
        place = ranks(
            torch.where(state, -scores, -torch.inf), owner, ptr
        )  # removed units come first, lowest scores first
        part = torch.where(state, place * PARTS // size.clamp_min(1)[owner], PARTS)
        instance = ids.repeat_interleave(PARTS)

        def removed(rows: Tensor, part: Tensor = part, instance: Tensor = instance, state: Tensor = state) -> Tensor:
            own = instance[rows]
            index, copy = gather_ranges(ptr[own], ptr[own + 1])
            return state[index] & (part[index] != (rows % PARTS)[copy])

        rows, log_probs = query.answers(instance, removed)
        free = torch.zeros(len(left), PARTS + 1, dtype=torch.bool, device=state.device)
        free[instance[rows], rows % PARTS] = query.flips(log_probs, instance[rows])
        back = _put_back_together(query, scores, state, free[owner, part])
        state = state & ~back
        left = left & _any(back, owner, flipped) & (sizes(query, state) >= VERY_LONG)
    return state


def _put_back_blocks(query: FlipQuery, scores: Tensor, state: Tensor, flipped: Tensor) -> Tensor:
    """Put back half, then a quarter, … of a long removal's lowest-scoring units at once.

    One by one costs a run for every pair of units; with blocks hardly more than a run for every unit that stays.
    """
    owner = owners(query.ptr)
    state = state.clone()
    block = torch.where(flipped, sizes(query, state) // 2, 0)
    block[block < SMALLEST_BLOCK] = 0
    while bool((block > 0).any()):
        busy = (block > 0).nonzero().squeeze(1)
        size = sizes(query, state)
        place = ranks(scores.masked_fill(~state, -torch.inf), owner, query.ptr)  # removed units come first
        tried = state & (place < (size - block)[owner])

        def removed(rows: Tensor, busy: Tensor = busy, tried: Tensor = tried) -> Tensor:
            index, _ = gather_ranges(query.ptr[busy[rows]], query.ptr[busy[rows] + 1])
            return tried[index]

        rows, log_probs = query.answers(busy, removed)
        still = query.flips(log_probs, busy[rows])
        kept = torch.zeros_like(flipped)
        kept[busy[rows][still]] = True
        state = torch.where(kept[owner], tried, state)
        left = torch.where(kept, torch.minimum(block, sizes(query, state) // 2), block // 2)
        block = torch.where((block > 0) & (left >= SMALLEST_BLOCK), left, 0)
    return state
