"""Counterfactuals: the units without which the prediction is another one, verified on graphs that lack them.

    prefix   the shortest prefix of the ranking whose deletion flips the prediction. Flips are not monotone in its
             length, so all prefixes up to `max_share` of the units are tried
    greedy   where no prefix flips, greedy deletion continues from the prefix with the largest drop; where that does not
             flip, or takes several units, greedy deletion from the start is tried too, and taken if it needs fewer
    prune    units are put back as long as the prediction stays flipped; what is left is minimal: putting back
             any single one undoes the flip

    verify   the last word: the model on the graph without these units, and with each of them put back. Claims follow
             from this run alone, whatever the search has seen before

Copies are compared by two keys: one that flips comes before all that do not; then the value decides, and at a tie the
first copy. If nothing flips, the removal with the largest drop is returned.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.flip_query import FlipQuery, Removal, best_of_keys, first_best
from rcexplainer.core.search import greedy, toggle_each
from rcexplainer.core.segments import first_minimum, gather_ranges, owners, ranks, split_by_cost

__all__ = ["FlipQuery", "Removal", "Verified", "greedy_search", "prefix_search", "prune", "verify"]

PREFIX_UNITS = 1 << 22  # units of all prefixes evaluated at a time
LARGE_INSTANCE, GREEDY_CANDIDATES = 256, 64  # with more units than the first, greedy deletion considers the second
SMALLEST_BLOCK = 4  # units put back at once, at least


@dataclass(frozen=True)
class Verified:
    """The model's answers for the graphs without the removed units, and the claims that follow from them.

    Attributes:
        log_probs: [n, C].
        flipped: [n] bool.
        minimal: [n] bool; flipped, and no longer flipped with any single unit put back.
    """

    log_probs: Tensor
    flipped: Tensor
    minimal: Tensor


def verify(query: FlipQuery, removal: Removal) -> Verified:
    """Run the model on every instance without its units and, where the search saw a flip, with each unit put back.

    All copies go through one run. An instance whose units were not put back one by one is not called minimal.

    Args:
        query: The query that was searched for.
        removal: The units that the search removed.

    Returns:
        The answers and the claims.
    """
    everyone = torch.arange(len(query.source), device=removal.removed.device)
    units = (removal.removed & removal.flipped[owners(query.ptr)]).nonzero().squeeze(1)
    instance, put_back = toggle_each(query.ptr, removal.removed, units)
    log_probs = query.log_probs(torch.cat([everyone, instance]), torch.cat([removal.removed, put_back]))
    turned = query.flips(log_probs, torch.cat([everyone, instance]))
    flipped, still = turned[: len(everyone)], turned[len(everyone) :]
    needless = torch.zeros_like(flipped)
    needless[instance[still]] = True
    return Verified(log_probs[: len(everyone)], flipped, flipped & removal.flipped & ~needless)


def prefix_search(query: FlipQuery, scores: Tensor, allowed: Tensor) -> Removal:
    """Find the shortest flipping prefix of every ranking, and prune it.

    Args:
        query: What to search for.
        scores: [units] the ranking, highest first.
        allowed: [units] bool; which units may be removed.

    Returns:
        The units removed and whether that flips.
    """
    state, flipped = _best_prefix(query, scores, allowed)
    return prune(query, scores, state, flipped)


def greedy_search(query: FlipQuery, scores: Tensor, allowed: Tensor) -> Removal:
    """As `prefix_search`, with greedy deletion where that fails or might need fewer units.

    Args:
        query: What to search for.
        scores: [units] the ranking, highest first.
        allowed: [units] bool; which units may be removed.

    Returns:
        The units removed and whether that flips.
    """
    state, flipped = _best_prefix(query, scores, allowed)
    options = _greedy_options(query, scores, allowed)
    steps = torch.where(flipped, 0, query.max_units() - _sizes(query, state)).clamp_min(0)
    first = prune(query, scores, *_greedy_from(query, options, steps, state, flipped))
    sizes = _sizes(query, first.removed)
    steps = torch.where(first.flipped, sizes - 1, query.max_units()).clamp_min(0)
    nothing = torch.zeros_like(state)
    anew = prune(query, scores, *_greedy_from(query, options, steps, nothing, torch.zeros_like(flipped)))
    # The second try had fewer steps than the first removal has units, so wherever it flips, it is the better one.
    removed = torch.where(anew.flipped[owners(query.ptr)], anew.removed, first.removed)
    return Removal(removed, first.flipped | anew.flipped)


def prune(query: FlipQuery, scores: Tensor, state: Tensor, flipped: Tensor) -> Removal:
    """Put back units, those with the lowest scores first, as long as the prediction stays flipped.

    Args:
        query: What was searched for.
        scores: [units] the ranking.
        state: [units] bool; the units removed so far.
        flipped: [n] bool; the instances to prune, which flip in this state.

    Returns:
        The units that stay removed.
    """
    owner = owners(query.ptr)
    state, undecided = _put_back_blocks(query, scores, state, flipped), flipped.clone()
    while bool(undecided.any()):
        units = (state & undecided[owner]).nonzero().squeeze(1)
        instance, removed = toggle_each(query.ptr, state, units)
        still = query.flips(query.log_probs(instance, removed), instance)
        needless = torch.where(still, scores[units], torch.inf)
        least = first_minimum(needless, instance, len(flipped))
        again = (least >= 0) & undecided
        again[again.clone()] &= still[least[again]]
        state[units[least[again]]] = False
        undecided = again  # an instance none of whose units can be put back is minimal
    return Removal(state, flipped)


def _sizes(query: FlipQuery, state: Tensor) -> Tensor:
    """[n] how many units of each instance are removed."""
    return torch.zeros_like(query.source).index_add(0, owners(query.ptr), state.long())


def _greedy_options(query: FlipQuery, scores: Tensor, allowed: Tensor) -> Tensor:
    """[units] what greedy deletion may choose from: in large instances only the units with the highest scores."""
    owner = owners(query.ptr)
    large = (query.ptr.diff() > LARGE_INSTANCE)[owner]
    first = ranks(scores.masked_fill(~allowed, -torch.inf), owner, query.ptr) < GREEDY_CANDIDATES
    return allowed & (first | ~large)


def _greedy_from(
    query: FlipQuery, options: Tensor, steps: Tensor, state: Tensor, flipped: Tensor
) -> tuple[Tensor, Tensor]:
    """Greedily delete up to `steps` [n] more units of each instance, until it flips or to its largest drop."""
    if not int(steps.sum()):
        return state, flipped

    path = greedy(query.ptr, query.keys, options, steps, state, best_of_keys, columns=2)
    start = query.keys(torch.arange(len(flipped), device=state.device), state)[:, 1]
    return _cut_path(path.units, path.values[..., 0] > 0, path.values[..., 1], state, flipped, start)


def _cut_path(
    units: Tensor, flips: Tensor, drops: Tensor, state: Tensor, flipped: Tensor, start: Tensor
) -> tuple[Tensor, Tensor]:
    """Follow each path to its first flip; where there is none, to its smallest drop if that is below the start's.

    units, flips, drops [n, steps]; start [n] the drop before the first step.
    """
    reached = flips.any(1)
    drops = drops.nan_to_num(nan=torch.inf)
    last = torch.where(reached, flips.int().argmax(1), drops.argmin(1))
    walked = torch.arange(units.size(1), device=units.device) <= last[:, None]
    walked &= (reached | (drops.amin(1) < start))[:, None]
    state = state.clone()
    state[units[walked & (units >= 0)]] = True
    return state, flipped | reached


def _best_prefix(query: FlipQuery, scores: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """(units removed [units], flipped [n]): the shortest flipping prefix, or the one with the largest drop."""
    ptr, owner = query.ptr, owners(query.ptr)
    place = ranks(scores.masked_fill(~allowed, -torch.inf), owner, ptr)
    usable = torch.zeros_like(query.source).index_add(0, owner, allowed.long())
    most = torch.minimum(query.max_units(), usable)
    length, instance = gather_ranges(torch.zeros_like(most), most + 1)  # 0: removing nothing may be the best

    def run(rows: Tensor) -> Tensor:
        own = instance[rows]
        index, copy = gather_ranges(ptr[own], ptr[own + 1])
        return query.log_probs(own, place[index] < length[rows][copy])

    # In pieces: the prefixes of one large instance alone have as many units as it has, squared.
    rows = torch.arange(len(length), device=ptr.device)
    log_probs = torch.cat([run(piece) for piece in split_by_cost(rows, ptr.diff()[instance], PREFIX_UNITS)])
    flips = query.flips(log_probs, instance)
    drop = query.drop(log_probs, instance).double()
    best = first_best(flips, torch.where(flips, length.double(), drop), instance, len(most))
    found = best >= 0
    chosen = torch.zeros_like(most)
    chosen[found] = length[best[found]]
    flipped = torch.zeros_like(found)
    flipped[found] = flips[best[found]]
    return place < chosen[owner], flipped


def _put_back_blocks(query: FlipQuery, scores: Tensor, state: Tensor, flipped: Tensor) -> Tensor:
    """Put back half, then a quarter, … of a long removal's lowest-scoring units at once.

    One by one costs a run for every pair of units; with blocks hardly more than a run for every unit that stays.
    """
    owner = owners(query.ptr)
    state = state.clone()
    block = torch.where(flipped, _sizes(query, state) // 2, 0)
    block[block < SMALLEST_BLOCK] = 0
    while bool((block > 0).any()):
        busy = (block > 0).nonzero().squeeze(1)
        size = _sizes(query, state)
        place = ranks(scores.masked_fill(~state, -torch.inf), owner, query.ptr)  # removed units come first
        tried = state & (place < (size - block)[owner])
        index, _ = gather_ranges(query.ptr[busy], query.ptr[busy + 1])
        still = query.flips(query.log_probs(busy, tried[index]), busy)
        kept = torch.zeros_like(flipped)
        kept[busy[still]] = True
        state = torch.where(kept[owner], tried, state)
        left = torch.where(kept, torch.minimum(block, _sizes(query, state) // 2), block // 2)
        block = torch.where((block > 0) & (left >= SMALLEST_BLOCK), left, 0)
    return state
