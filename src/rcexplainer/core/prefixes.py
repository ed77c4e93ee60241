"""The shortest prefix of a ranking whose deletion flips the prediction.

Flips are not monotone in the length of the prefix, so the first length that flips cannot be bisected: lengths are tried
in growing pieces, 1, 2–3, 4–7, 8–15, …, and an instance is done with the piece in which it flips. Long rankings (of a
hub) are treated in two passes: lengths that grow by a quarter show soon whether, and where at the latest, they
flip; then every length below that is tried, as far as the budget goes.
"""

from contextlib import nullcontext
from math import ceil

import torch
from torch import Tensor

from rcexplainer.core.flip_query import FlipQuery, first_best
from rcexplainer.core.segments import gather_ranges, owners, ranks

DENSE = 63  # lengths that are tried one after the other before a long ranking is probed
GROWTH = 1.25  # of the lengths with which it is probed


class PrefixTrials:
    """The best prefix of every instance so far: the shortest that flips, or the one with the largest drop.

    Args:
        query: What is searched for.
        scores: [units] the ranking, highest first.
        allowed: [units] bool; which units may be removed.
    """

    def __init__(self, query: FlipQuery, scores: Tensor, allowed: Tensor) -> None:
        owner = owners(query.ptr)
        self.query = query
        self.place = ranks(scores.masked_fill(~allowed, -torch.inf), owner, query.ptr)
        usable = torch.zeros_like(query.source).index_add(0, owner, allowed.long())
        self.most = torch.minimum(query.max_units(), usable)
        everyone, start = torch.arange(len(self.most), device=owner.device), query.start()
        self.length = torch.zeros_like(self.most)  # removing nothing may be the best
        self.flipped = query.flips(start, everyone)
        self.drop = query.drop(start, everyone).double()

    def run(self, instance: Tensor, length: Tensor) -> None:
        """Try prefixes of these instances [v], sorted, with these lengths [v], ascending for each instance."""
        if not len(instance):
            return
        query, ptr = self.query, self.query.ptr

        def removed(rows: Tensor) -> Tensor:
            own = instance[rows]
            index, copy = gather_ranges(ptr[own], ptr[own + 1])
            return self.place[index] < length[rows][copy]

        rows, log_probs = query.answers(instance, removed)
        instance, length = instance[rows], length[rows]
        flips, drop = query.flips(log_probs, instance), query.drop(log_probs, instance).double()
        best = first_best(flips, torch.where(flips, length.double(), drop), instance, len(self.most))
        found = (best >= 0).nonzero().squeeze(1)
        best = best[found]
        closer = (drop[best] < self.drop[found]) | (
            (drop[best] == self.drop[found]) & (length[best] < self.length[found])
        )
        shorter = length[best] < self.length[found]
        better = torch.where(flips[best], ~self.flipped[found] | shorter, ~self.flipped[found] & closer)
        found, best = found[better], best[better]
        self.length[found], self.drop[found], self.flipped[found] = length[best], drop[best], flips[best]

    def lengths(self, low: Tensor, high: Tensor, asked: Tensor) -> None:
        """Try all lengths from `low` [n] to `high` [n], inclusive, of the instances `asked` [n] bool."""
        last = torch.where(asked, torch.minimum(high, self.most), low - 1)
        length, instance = gather_ranges(low, torch.maximum(last + 1, low))
        self.run(instance, length)


def best_prefix(query: FlipQuery, scores: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Find the shortest flipping prefix of every instance, or the one with the largest drop.

    Args:
        query: What is searched for.
        scores: [units] the ranking, highest first.
        allowed: [units] bool; which units may be removed.

    Returns:
        The units removed [units]; whether that flips [n]; and the last unit of each flipping prefix [units]: without
        it the prefix does not flip, unless the budget ended before all shorter ones were tried.
    """
    trials = PrefixTrials(query, scores, allowed)
    longest = int(trials.most.max()) if len(trials.most) else 0
    low, width = 1, 1
    while low <= min(longest, DENSE) and not bool(trials.flipped.all()):
        here = torch.full_like(trials.most, low)
        trials.lengths(here, here + width - 1, ~trials.flipped)
        low, width = low + width, 2 * width
    if longest > DENSE:
        # Half of the budget is left for pruning: a long prefix that flips is often pruned to a few units.
        with query.meter.share(0.5) if query.meter is not None else nullcontext():
            _long_rankings(trials, low, longest)
    length = trials.length[owners(query.ptr)]
    shortest = trials.flipped if query.meter is None else trials.flipped & ~query.meter.exhausted
    return trials.place < length, trials.flipped, (trials.place == length - 1) & shortest[owners(query.ptr)]


def _long_rankings(trials: PrefixTrials, low: int, longest: int) -> None:
    """Go on from length `low` where no shorter prefix flips."""
    open_ = ~trials.flipped & (trials.most >= low)
    probes, at = [], float(low)
    while at < longest:
        at = ceil(at * GROWTH)
        probes.append(at)
    ids = open_.nonzero().squeeze(1)
    length = torch.tensor(probes, device=ids.device).long().expand(len(ids), -1)
    length = torch.minimum(length, trials.most[ids, None])
    instance = ids[:, None].expand_as(length)
    new = torch.ones_like(length, dtype=torch.bool)
    new[:, 1:] = length.diff(dim=1) > 0  # the last probe is the longest prefix, once
    trials.run(instance[new], length[new])
    width = low
    while low <= longest:
        latest = torch.where(trials.flipped, trials.length - 1, trials.most)
        here = torch.full_like(trials.most, low)
        trials.lengths(here, torch.minimum(here + width - 1, latest), open_ & (latest >= low))
        open_ &= ~trials.flipped | (trials.length > low + width - 1)
        low, width = low + width, 2 * width
