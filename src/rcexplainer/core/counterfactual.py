"""Counterfactuals: the units without which the prediction is another one, verified on graphs that lack them.

    prefix   the shortest prefix of the ranking whose deletion flips the prediction. Flips are not monotone in its
             length, so all prefixes up to `max_share` of the units are tried
    greedy   where no prefix flips, greedy deletion goes on from the prefix with the largest drop; where that does not
             flip, or takes several units, greedy deletion from the start is tried too, and taken if it needs fewer
    prune    units are put back as long as the prediction stays flipped; what is left is minimal: putting back
             any single one undoes the flip

    verify   the last word: the model on the graph without these units, and with each of them put back. What is
             claimed follows from this run alone, whatever the search has seen before

If nothing flips, the removal with the largest drop is returned.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.search import Evaluate, greedy, toggle_each
from rcexplainer.core.segments import first_minimum, gather_ranges, owners, ranks, split_by_cost

CELLS = 1 << 22  # units of all prefixes that are looked at at a time
LARGE, CANDIDATES = 256, 64  # units of a large instance; those of it that greedy deletion looks at
BLOCK = 4  # units that are put back at once, at least


@dataclass(frozen=True)
class FlipQuery:
    """What is asked of all instances at once: away from `source`, to any other class or to `target`."""

    ptr: Tensor  # [n + 1] the units of each instance
    log_probs: Evaluate  # [v, C] of copies with units removed
    source: Tensor  # [n] the predicted class
    target: int | None = None
    max_share: float = 0.5

    def flips(self, log_probs: Tensor, instance: Tensor) -> Tensor:
        predicted = log_probs.argmax(1)
        turned = predicted != self.source[instance] if self.target is None else predicted == self.target
        return turned & ~log_probs.isnan().any(1)  # to argmax NaN is the largest of all

    def drop(self, log_probs: Tensor, instance: Tensor) -> Tensor:
        """How far the copies are from flipping: smaller is closer."""
        here = log_probs.gather(1, self.source[instance, None]).squeeze(1)
        value = here if self.target is None else here - log_probs[:, self.target]
        return value.nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=-torch.inf)

    def most(self) -> Tensor:
        """How many units may go, [n]: a share of them, and at least one."""
        counts = self.ptr.diff()
        return torch.minimum((counts * self.max_share).floor().long().clamp_min(1), counts)


@dataclass(frozen=True)
class Removal:
    """The answer for all instances."""

    removed: Tensor  # [units]
    flipped: Tensor  # [n], as the search has seen it: a claim is made by `verify` alone


@dataclass(frozen=True)
class Verified:
    """What the model says of the graphs without the units found, and what follows from it."""

    log_probs: Tensor  # [n, C]
    flipped: Tensor  # [n]
    minimal: Tensor  # [n]: flipped, and not flipped any more with any single unit put back


def verify(question: FlipQuery, found: Removal) -> Verified:
    """One run for all copies: every instance without its units, and each that flipped in the search with each of its
    units put back. An instance whose units were not put back one by one is not minimal, whatever this run says."""
    everyone = torch.arange(len(question.source), device=found.removed.device)
    units = (found.removed & found.flipped[owners(question.ptr)]).nonzero().squeeze(1)
    instance, put_back = toggle_each(question.ptr, found.removed, units)
    log_probs = question.log_probs(torch.cat([everyone, instance]), torch.cat([found.removed, put_back]))
    turned = question.flips(log_probs, torch.cat([everyone, instance]))
    flipped, still = turned[: len(everyone)], turned[len(everyone) :]
    needless = torch.zeros_like(flipped)
    needless[instance[still]] = True
    return Verified(log_probs[: len(everyone)], flipped, flipped & found.flipped & ~needless)


def prefix_search(question: FlipQuery, scores: Tensor, allowed: Tensor) -> Removal:
    """The shortest flipping prefix of every ranking, pruned."""
    state, flipped = _best_prefix(question, scores, allowed)
    return prune(question, scores, state, flipped)


def greedy_search(question: FlipQuery, scores: Tensor, allowed: Tensor) -> Removal:
    """As `prefix_search`, and greedy deletion where that fails or might need fewer units."""
    state, flipped = _best_prefix(question, scores, allowed)
    options = _options(question, scores, allowed)
    steps = torch.where(flipped, 0, question.most() - _sizes(question, state)).clamp_min(0)
    found = prune(question, scores, *_greedy_from(question, options, steps, state, flipped))
    sizes = _sizes(question, found.removed)
    steps = torch.where(found.flipped, sizes - 1, question.most()).clamp_min(0)
    nothing = torch.zeros_like(state)
    anew = prune(question, scores, *_greedy_from(question, options, steps, nothing, torch.zeros_like(flipped)))
    better = anew.flipped & (~found.flipped | (_sizes(question, anew.removed) < sizes))
    removed = torch.where(better[owners(question.ptr)], anew.removed, found.removed)
    return Removal(removed, found.flipped | better)


def _sizes(question: FlipQuery, state: Tensor) -> Tensor:
    """How many units of each instance are removed, [n]."""
    return torch.zeros_like(question.source).index_add(0, owners(question.ptr), state.long())


def _options(question: FlipQuery, scores: Tensor, allowed: Tensor) -> Tensor:
    """What greedy deletion may choose from: of large instances only the units with the highest scores."""
    owner = owners(question.ptr)
    large = (question.ptr.diff() > LARGE)[owner]
    first = ranks(scores.masked_fill(~allowed, -torch.inf), owner, question.ptr) < CANDIDATES
    return allowed & (first | ~large)


def _greedy_from(
    question: FlipQuery, options: Tensor, steps: Tensor, state: Tensor, flipped: Tensor
) -> tuple[Tensor, Tensor]:
    """Greedy deletion of up to `steps` [n] more units, each instance's until it flips or to its largest drop."""
    if not int(steps.sum()):
        return state, flipped

    # A copy that flips comes before any that does not, and among these the drop decides: in double precision,
    # where a million more or less leaves the digits of a log-probability alone.
    def value(instance: Tensor, removed: Tensor) -> Tensor:
        log_probs = question.log_probs(instance, removed)
        return question.drop(log_probs, instance).double() - 1e6 * question.flips(log_probs, instance)

    path = greedy(question.ptr, value, options, steps, state)
    start = value(torch.arange(len(flipped), device=state.device), state)
    return _cut_path(path.units, path.values, state, flipped, start)


def _cut_path(units: Tensor, values: Tensor, state: Tensor, flipped: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
    """Follow each path to its first flip; where there is none, to its lowest value if that is below the start."""
    turned = values < -1e5
    values = values.nan_to_num(nan=torch.inf)
    first = torch.where(turned.any(1), turned.float().argmax(1), values.argmin(1))
    walked = torch.arange(units.size(1), device=units.device) <= first[:, None]
    walked &= (values.amin(1) < start)[:, None]
    taken = units[walked & (units >= 0) & (~flipped)[:, None]]
    state = state.clone()
    state[taken] = True
    return state, flipped | turned.any(1)


def _best_prefix(question: FlipQuery, scores: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """(units removed [units], flipped [n]): the shortest flipping prefix, or the one with the largest drop."""
    ptr, owner = question.ptr, owners(question.ptr)
    place = ranks(scores.masked_fill(~allowed, -torch.inf), owner, ptr)
    usable = torch.zeros_like(question.source).index_add(0, owner, allowed.long())
    most = torch.minimum(question.most(), usable)
    length, instance = gather_ranges(torch.zeros_like(most), most + 1)  # nothing is an answer, if all else is worse

    def run(rows: Tensor) -> Tensor:
        own = instance[rows]
        index, copy = gather_ranges(ptr[own], ptr[own + 1])
        return question.log_probs(own, place[index] < length[rows][copy])

    # In pieces: the prefixes of one large instance alone have as many units as it has, squared.
    rows = torch.arange(len(length), device=ptr.device)
    log_probs = torch.cat([run(piece) for piece in split_by_cost(rows, ptr.diff()[instance], CELLS)])
    flips = question.flips(log_probs, instance)
    # Any flip comes before any drop; among flips the shortest prefix. In double precision, where a length is not lost.
    value = torch.where(flips, length.double() - 1e9, question.drop(log_probs, instance).double())
    best = first_minimum(value, instance, len(most))
    found = best >= 0
    chosen = torch.zeros_like(most)
    chosen[found] = length[best[found]]
    flipped = torch.zeros_like(found)
    flipped[found] = flips[best[found]]
    return place < chosen[owner], flipped


def prune(question: FlipQuery, scores: Tensor, state: Tensor, flipped: Tensor) -> Removal:
    """Put back one unit at a time, the lowest score first, as long as the prediction stays flipped."""
    owner = owners(question.ptr)
    state, undecided = _put_back_blocks(question, scores, state, flipped), flipped.clone()
    while bool(undecided.any()):
        units = (state & undecided[owner]).nonzero().squeeze(1)
        instance, removed = toggle_each(question.ptr, state, units)
        still = question.flips(question.log_probs(instance, removed), instance)
        needless = torch.where(still, scores[units], torch.inf)
        least = first_minimum(needless, instance, len(flipped))
        again = (least >= 0) & undecided
        again[again.clone()] &= still[least[again]]
        state[units[least[again]]] = False
        undecided = again  # an instance none of whose units can be put back is minimal
    return Removal(state, flipped)


def _put_back_blocks(question: FlipQuery, scores: Tensor, state: Tensor, flipped: Tensor) -> Tensor:
    """Of long removals, first halves, then quarters, … of the units with the lowest scores at once.

    One by one costs a run for every pair of units; with blocks hardly more than a run for every unit that stays.
    """
    owner = owners(question.ptr)
    state = state.clone()
    block = torch.where(flipped, _sizes(question, state) // 2, 0)
    block[block < BLOCK] = 0
    while bool((block > 0).any()):
        busy = (block > 0).nonzero().squeeze(1)
        size = _sizes(question, state)
        place = ranks(scores.masked_fill(~state, -torch.inf), owner, question.ptr)  # of the removed ones the first
        tried = state & (place < (size - block)[owner])
        index, _ = gather_ranges(question.ptr[busy], question.ptr[busy + 1])
        still = question.flips(question.log_probs(busy, tried[index]), busy)
        kept = torch.zeros_like(flipped)
        kept[busy[still]] = True
        state = torch.where(kept[owner], tried, state)
        left = torch.where(kept, torch.minimum(block, _sizes(question, state) // 2), block // 2)
        block = torch.where((block > 0) & (left >= BLOCK), left, 0)
    return state
