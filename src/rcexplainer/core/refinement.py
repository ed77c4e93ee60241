"""A better ranking for a few model runs: units are really deleted, and the path of the best deletions comes first.

    v(S) = P(source | G without S)    or    1 − P(target | G without S)
    path u_1, …, u_d                  the first units of the new ranking: those with a small Σ_j v({u_1, …, u_j})

The path is searched for within N model runs per instance, and is a quarter of the units long: no sparsity in use asks
for more. Step by step the partial paths are extended by several units each, and the best are kept. With few runs it
matters which units are tried: they are taken in turn from two lists,

    new      units that the path has not tried yet, by the ranking, or by a plan that knows what the path has deleted
    tried    units that it has tried, by the drop in log-odds when they were last deleted

since the drop of a unit changes little when another one goes, unless the two share a node. Several paths are kept only
where N is enough to try half of the units on each of them; below that a single path with more units is better. However
large N is, there are at most `MOST_PATHS` of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from rcexplainer.core.budget import Meter
from rcexplainer.core.flip_query import FlipQuery
from rcexplainer.core.segments import first_minimum, gather_ranges, owners, ranks, sorted_units

PATH_SHARE = 0.25  # share of the units on a path
TRIED_SHARE = 0.5  # share of the units that a path can try in a step before a second path is kept
MOST_PATHS = 64  # without a bound, a number of runs without end would never come back
FORESIGHT = 0.7  # weight of the present value for the steps to come, when partial paths are compared
SURE = 30.0  # log-odds beyond which nothing is told apart
LEAST_RUNS = 3  # for a step: a path is shorter where there would be fewer
DIGITS = 4  # of log-odds: what a batch adds by rounding must not decide between symmetric units
LOGIT_WEIGHT = 1e-3  # decides between copies whose probabilities are all 0, or all 1, and hardly anywhere else
SPREAD = 1e-3  # of the scores on a path: none of them ties
# Instances [v] and the units removed from copies of them, copy after copy → a value for each of these units
Propose = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class RefinedRanking:
    """A ranking after real deletions.

    Attributes:
        scores: [units] in [0, 1]: the units of the path come first, the others follow in their old order.
        path: [n, steps] the units that come first, −1 after the last one.
        runs: [n] model runs spent on each instance.
    """

    scores: Tensor
    path: Tensor
    runs: Tensor


def refined(
    query: FlipQuery, scores: Tensor, allowed: Tensor, runs: int, propose: Propose | None = None
) -> RefinedRanking:
    """Improve a ranking by deleting units.

    Args:
        query: The instances, the model, and the class to leave or to reach. Its meter bounds the time.
        scores: [units] the ranking, in [0, 1].
        allowed: [units] bool; which units may be deleted.
        runs: N, the model runs that an instance may cost.
        propose: Which units to try next on a path, those with the highest values; None: by the ranking.

    Returns:
        The new ranking; where the time is up before the path is complete, with the part of it that was found.
    """
    number, counts, owner = len(query.source), query.ptr.diff(), owners(query.ptr)
    meter = Meter(number, runs, scores.device) if query.meter is None else query.meter.stage(runs)
    query = replace(query, meter=meter)
    usable = torch.zeros_like(counts).index_add(0, owner, allowed.long())
    depth = (counts * PATH_SHARE).round().long().clamp(1, max(1, runs // LEAST_RUNS)).minimum(usable)
    width = (runs / (depth * counts * TRIED_SHARE).clamp_min(1)).long().clamp(1, MOST_PATHS)
    found = torch.full((number, int(depth.max()) if number else 0), -1, device=scores.device)
    paths = _empty_paths(query)
    for step in range(found.size(1)):
        left = depth - step
        quota = torch.where(left > 0, (runs - meter.spent) // left.clamp_min(1), 0)
        value = scores[paths.unit] if propose is None else propose(paths.instance, paths.removed)
        slots = _options(paths, value, allowed, quota)
        paths = _extended(paths, *_tried(query, paths, slots), left - 1, width)
        if not len(paths.instance):  # the time is up, or nothing is left to delete
            break
        lowest = first_minimum(paths.cost, paths.instance, number)
        here = lowest >= 0
        found[here, : step + 1] = paths.order[lowest[here]]
    return RefinedRanking(_path_first(query.ptr, scores, found), found, meter.spent)


@dataclass(frozen=True, eq=False)
class _Paths:
    """Partial paths, those of one instance next to each other. A slot is a unit of the instance of a path."""

    instance: Tensor  # [b]
    ptr: Tensor  # [b + 1] where the slots of each path begin
    unit: Tensor  # [slots]
    removed: Tensor  # bool [slots]
    drop: Tensor  # [slots] in log-odds, when the unit was last deleted; NaN: never
    order: Tensor  # [b, steps] the units of the path
    cost: Tensor  # [b] Σ of the values along the path
    odds: Tensor  # [b] log-odds at its end


def _empty_paths(query: FlipQuery) -> _Paths:
    """One path without a unit for every instance."""
    everyone, units = torch.arange(len(query.source), device=query.ptr.device), int(query.ptr[-1])
    odds = _odds(query, query.start(), everyone)
    unit = torch.arange(units, device=query.ptr.device)
    nothing, unknown = torch.zeros_like(unit, dtype=torch.bool), odds.new_full((units,), torch.nan)
    return _Paths(everyone, query.ptr, unit, nothing, unknown, everyone[:, None][:, :0], torch.zeros_like(odds), odds)


def _odds(query: FlipQuery, log_probs: Tensor, instance: Tensor) -> Tensor:
    """[v] log-odds of the class to leave, or of all classes but the one to reach: the smaller the better.

    They are taken from both sides of the odds: 1 − p has no digits left where the model is sure.
    """
    chosen = query.source[instance] if query.target is None else torch.full_like(instance, query.target)
    other = torch.ones_like(log_probs, dtype=torch.bool).scatter(1, chosen[:, None], False)
    rest = log_probs.double().masked_fill(~other, -torch.inf).logsumexp(1)
    odds = log_probs.double().gather(1, chosen[:, None]).squeeze(1) - rest
    odds = odds if query.target is None else -odds
    return odds.nan_to_num(nan=SURE).clamp(-SURE, SURE).round(decimals=DIGITS)


def _values(odds: Tensor) -> Tensor:
    """[v] what a path has to pay for a copy with these log-odds."""
    return odds.sigmoid() + LOGIT_WEIGHT * odds


def _options(paths: _Paths, value: Tensor, allowed: Tensor, quota: Tensor) -> Tensor:
    """The slots to try, by their value [slots]: `quota` [n] of each instance, shared by its paths."""
    owner = owners(paths.ptr)
    free = allowed[paths.unit] & ~paths.removed
    tried = free & ~paths.drop.isnan()
    new_place = ranks(value.double().masked_fill(~free | tried, -torch.inf), owner, paths.ptr)
    tried_place = ranks(paths.drop.masked_fill(~tried, -torch.inf), owner, paths.ptr)
    turn = torch.where(tried, 2 * tried_place + 1, 2 * new_place)
    place = ranks((-turn.double()).masked_fill(~free, -torch.inf), owner, paths.ptr)
    each = quota // torch.bincount(paths.instance, minlength=len(quota)).clamp_min(1)
    return (free & (place < each[paths.instance][owner])).nonzero().squeeze(1)


def _tried(query: FlipQuery, paths: _Paths, slots: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Delete the unit of each slot on its path; equal sets of units, on several paths, are run once.

    Returns the slots that were run [v], the number of the set that each leads to [v], and its log-odds [v].
    """
    own = torch.searchsorted(paths.ptr, slots, right=True) - 1
    instance = paths.instance[own]
    sets = _set_numbers(query, paths, slots, own)
    first = first_minimum(torch.zeros_like(slots, dtype=torch.double), sets, int(sets.max()) + 1 if len(sets) else 0)
    first = first.sort().values  # the copies of one instance next to each other

    def removed(rows: Tensor) -> Tensor:
        chosen = first[rows]
        index, copy = gather_ranges(paths.ptr[own[chosen]], paths.ptr[own[chosen] + 1])
        return paths.removed[index] | (index == slots[chosen][copy])

    rows, log_probs = query.answers(instance[first], removed)
    odds = torch.full((len(first),), torch.nan, dtype=torch.double, device=slots.device)
    odds[sets[first[rows]]] = _odds(query, log_probs, instance[first[rows]])
    ran = ~odds[sets].isnan()
    return slots[ran], sets[ran], odds[sets[ran]]


def _set_numbers(query: FlipQuery, paths: _Paths, slots: Tensor, own: Tensor) -> Tensor:
    """[v] a number for each set of units, path and slot together: equal sets, equal numbers."""
    if not bool((paths.instance.diff() == 0).any()):  # one path each: no two sets are equal
        return torch.arange(len(slots), device=slots.device)
    generator = torch.Generator().manual_seed(0)
    key = torch.randint(-(2**62), 2**62, (int(query.ptr[-1]),), generator=generator).to(slots.device)
    before = key[paths.order].sum(1)  # of random numbers with 63 bits, sums are equal for equal sets alone
    numbers: Tensor = torch.unique(before[own] + key[paths.unit[slots]], return_inverse=True)[1]
    return numbers


def _extended(paths: _Paths, slots: Tensor, sets: Tensor, odds: Tensor, left: Tensor, width: Tensor) -> _Paths:
    """The best `width` [n] paths of each instance after one more unit; `left` [n] steps are to come."""
    own = torch.searchsorted(paths.ptr, slots, right=True) - 1
    drop = paths.drop.index_put((slots,), paths.odds[own] - odds)
    cost = paths.cost[own] + _values(odds)
    cheapest = first_minimum(cost, sets, int(sets.max()) + 1 if len(sets) else 0)
    chosen = cheapest[cheapest >= 0].sort().values  # of several orders of the same units
    instance = paths.instance[own[chosen]]
    outlook = cost[chosen] + FORESIGHT * left[instance] * _values(odds[chosen])
    place = ranks(-outlook, instance, _starts(torch.bincount(instance, minlength=len(left))))
    chosen = chosen[place < width[instance]]
    own = own[chosen]
    index, copy = gather_ranges(paths.ptr[own], paths.ptr[own + 1])
    return _Paths(
        instance=paths.instance[own],
        ptr=_starts(paths.ptr.diff()[own]),
        unit=paths.unit[index],
        removed=paths.removed[index] | (index == slots[chosen][copy]),
        drop=drop[index],
        order=torch.cat([paths.order[own], paths.unit[slots[chosen], None]], 1),
        cost=cost[chosen],
        odds=odds[chosen],
    )


def _starts(sizes: Tensor) -> Tensor:
    """[k + 1] where ranges of these sizes [k] begin."""
    return torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])


def _path_first(ptr: Tensor, scores: Tensor, path: Tensor) -> Tensor:
    """[units] scores with which the path comes first.

    The scores of an instance are dealt out anew, the highest to the first unit of the path, so that no more of them
    than before are above any threshold. On the path none ties; others that tied still do.
    """
    owner, onto = owners(ptr), path >= 0
    old, length = scores.double(), onto.sum(1)
    place = torch.arange(path.size(1), device=path.device).expand_as(path)
    first = old.index_put((path[onto],), (2.0 + path.size(1) - place[onto]).to(old.dtype))
    ordered = sorted_units(first, owner)  # the path, then the others as before
    rank = torch.arange(len(old), device=owner.device) - ptr[owner]
    dealt, long = old[sorted_units(old, owner)], length[owner]
    dealt = torch.where(rank < long, dealt.clamp_min(SPREAD * SPREAD), dealt)  # with 0 none would come first
    dealt = dealt * (1 - SPREAD * (rank + 1) / (long + 1)).clamp_min(1 - SPREAD)
    new = (first[ordered].diff() != 0) | (owner.diff() != 0)
    group = torch.cat([rank[:1], new.cumsum(0)])  # those that tied have the lowest of their seats
    lowest = dealt.new_full((len(old),), torch.inf).scatter_reduce(0, group, dealt, "amin")
    found = torch.where(long > 0, lowest[group], old[ordered])
    return old.index_put((ordered,), found).to(scores.dtype)
