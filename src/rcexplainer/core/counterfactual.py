"""Counterfactuals: the units without which the prediction is another one, verified on graphs that lack them.

    prefix   the shortest prefix of the ranking whose deletion flips the prediction (`core.prefixes`), up to `max_share`
             of the units
    greedy   where no prefix flips, greedy deletion continues from the prefix with the largest drop; where that does not
             flip, or takes several units, greedy deletion from the start is tried too, and taken if it needs fewer
             (with a confidence also if it needs as many, and the model is surer)
    several  where the search finds no flip with one ranking, the prefixes of the next are tried: a plan looks at the
             first deletions alone, and scores lead further
    prune    what can be put back is put back (`core.pruning`); what is left is minimal: putting back any single unit
             undoes the flip

    verify   the last word: the model on the graph without these units. A flip is claimed only if this run shows it,
             whatever the search has seen before

Copies are compared by two keys: one that flips comes before all that do not; then the value decides, and at a tie the
first copy. If nothing flips, the removal with the largest drop is returned, whichever search and ranking it is from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from rcexplainer.core.flip_query import FlipQuery, Removal, first_best
from rcexplainer.core.prefixes import best_prefix
from rcexplainer.core.pruning import prune, put_back_each, sizes
from rcexplainer.core.search import Evaluate, toggle_each
from rcexplainer.core.segments import owners, ranks

__all__ = ["FlipQuery", "Removal", "Verified", "by_rankings", "greedy_search", "prefix_search", "prune", "verify"]

LARGE_INSTANCE, GREEDY_CANDIDATES = 256, 64  # with more units than the first, greedy deletion considers the second
# Units considered after the first step: those with the largest drops in it. A flip that must be sure takes more units.
BEAM, SURE_BEAM = 24, 48

Search = Callable[[FlipQuery, Tensor, Tensor], Removal]


@dataclass(frozen=True, eq=False)
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


def verify(query: FlipQuery, removal: Removal, last_word: Evaluate | None = None) -> Verified:
    """Run the model on every instance without its units and, if the search has not, with each unit put back.

    An instance whose units were not all put back one by one, because the budget is spent, is not called minimal.

    Args:
        query: The query that was searched for.
        removal: The units that the search removed.
        last_word: Runs the instances without their units; None: as the query does.

    Returns:
        The answers and the claims.
    """
    everyone = torch.arange(len(query.source), device=removal.removed.device)
    log_probs = (last_word or query.log_probs)(everyone, removal.removed)
    flipped = query.flips(log_probs, everyone)
    claimed = flipped & removal.flipped
    if removal.minimal is not None:
        return Verified(log_probs, flipped, claimed & removal.minimal)
    units = (removal.removed & claimed[owners(query.ptr)]).nonzero().squeeze(1)
    instance, rows, still, _ = put_back_each(query, removal.removed, units)
    needed = torch.zeros_like(query.source).index_add(0, instance[rows], (~still).long())
    return Verified(log_probs, flipped, claimed & (needed == sizes(query, removal.removed)))


def prefix_search(query: FlipQuery, scores: Tensor, allowed: Tensor) -> Removal:
    """Find the shortest flipping prefix of every ranking, and prune it.

    Args:
        query: What to search for.
        scores: [units] the ranking, highest first.
        allowed: [units] bool; which units may be removed.

    Returns:
        The units removed and whether that flips.
    """
    return prune(query, scores, *best_prefix(query, scores, allowed))


def greedy_search(query: FlipQuery, scores: Tensor, allowed: Tensor) -> Removal:
    """As `prefix_search`, with greedy deletion where that fails or might need fewer units.

    Args:
        query: What to search for.
        scores: [units] the ranking, highest first.
        allowed: [units] bool; which units may be removed.

    Returns:
        The units removed and whether that flips.
    """
    state, flipped, needed = best_prefix(query, scores, allowed)
    options = _greedy_options(query, scores, allowed)
    steps = torch.where(flipped, 0, query.max_units() - sizes(query, state)).clamp_min(0)
    first = prune(query, scores, *_greedy_from(query, options, steps, state, flipped), needed)
    # As many steps as units can be better only where it matters how sure the model is.
    fewer = int(query.confidence is None)
    steps = torch.where(first.flipped, sizes(query, first.removed) - fewer, query.max_units()).clamp_min(0)
    nothing = torch.zeros_like(state)
    anew = prune(query, scores, *_greedy_from(query, options, steps, nothing, torch.zeros_like(flipped)))
    return _better_of(query, first, anew)


def by_rankings(search: Search, query: FlipQuery, rankings: Sequence[Tensor], allowed: Tensor) -> Removal:
    """Search with the first ranking; where that does not flip, among the prefixes of the others.

    Args:
        search: `prefix_search` or `greedy_search`.
        query: What to search for.
        rankings: Each [units], highest first.
        allowed: [units] bool; which units may be removed.

    Returns:
        The units removed and whether that flips.
    """
    first, *others = rankings
    found, owner = search(query, first, allowed), owners(query.ptr)
    for ranking in others:
        if bool(found.flipped.all()):
            break
        found = _better_of(query, found, prefix_search(query, ranking, allowed & ~found.flipped[owner]))
    return found


def _better_of(query: FlipQuery, found: Removal, other: Removal) -> Removal:
    """The better of two removals of each instance; at a tie the first."""
    better = _better(query, other, found)
    assert found.minimal is not None  # pruning always looks
    assert other.minimal is not None
    return Removal(
        torch.where(better[owners(query.ptr)], other.removed, found.removed),
        found.flipped | other.flipped,
        torch.where(better, other.minimal, found.minimal),
    )


def _better(query: FlipQuery, one: Removal, other: Removal) -> Tensor:
    """[n] whether the first removal flips and the second does not, or with more units, or with as many and less surely;
    where neither flips, whether it comes closer.

    How sure the model is comes from one more run of each, which the budget does not count.
    """
    size, others = sizes(query, one.removed), sizes(query, other.removed)
    better = one.flipped & (~other.flipped | (size < others))
    tied = (one.flipped == other.flipped) & (~one.flipped | (size == others))
    alike = owners(query.ptr)[one.removed != other.removed]
    tied = (tied & torch.zeros_like(tied).index_fill(0, alike, True)).nonzero().squeeze(1)
    if len(tied):
        mine, theirs = (query.drop(_at(query, removal.removed, tied), tied) for removal in (one, other))
        better[tied] = mine < theirs
    return better


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
    going = steps > 0
    if not bool(going.any()):
        return state, flipped
    owner, state, flipped = owners(query.ptr), state.clone(), flipped.clone()
    best, ids, units, drop = state.clone(), going.nonzero().squeeze(1), steps[:0], torch.empty(0)
    lowest = torch.full_like(steps, -torch.inf, dtype=torch.double)
    lowest[ids] = query.drop(_at(query, state, ids), ids).double()
    for step in range(int(steps.max())):
        if step == 1:
            options = options & _largest_drops(query, units, drop, owner)
        units = (options & ~state & (going & (steps > step))[owner]).nonzero().squeeze(1)
        if not len(units):
            break
        instance = torch.searchsorted(query.ptr, units, right=True) - 1
        rows, log_probs = query.answers(instance, partial(_toggled, query, state, units))
        units, instance = units[rows], instance[rows]
        flips, drop = query.flips(log_probs, instance), query.drop(log_probs, instance).double()
        chosen = first_best(flips, drop, instance, len(steps))
        going = chosen >= 0  # an instance without options, or without budget, is done
        ids, chosen = going.nonzero().squeeze(1), chosen[going]
        state[units[chosen]] = True
        closer = torch.zeros_like(flipped)
        closer[ids] = flips[chosen] | (drop[chosen] < lowest[ids])
        best = torch.where(closer[owner], state, best)
        lowest[ids] = torch.minimum(lowest[ids], drop[chosen])
        flipped[ids[flips[chosen]]] = True
        going[ids[flips[chosen]]] = False
    return best, flipped


def _toggled(query: FlipQuery, state: Tensor, units: Tensor, rows: Tensor) -> Tensor:
    """The units removed in copies of which each has one more of these units removed."""
    return toggle_each(query.ptr, state, units[rows])[1]


def _largest_drops(query: FlipQuery, units: Tensor, drop: Tensor, owner: Tensor) -> Tensor:
    """[units] the units of each instance whose deletion alone (`drop` [v] of `units` [v]) is closest to a flip: `BEAM`,
    or with a confidence `SURE_BEAM`.

    Later steps choose among these: a unit that does nothing on its own is seldom the best next to others.
    """
    far = torch.full((len(owner),), torch.inf, dtype=drop.dtype, device=drop.device)
    far[units] = drop
    return ranks(-far, owner, query.ptr) < (BEAM if query.confidence is None else SURE_BEAM)


def _at(query: FlipQuery, state: Tensor, ids: Tensor) -> Tensor:
    """log P of instances in a state; nothing is run where nothing is removed and that is known."""
    own = state & torch.isin(owners(query.ptr), ids)
    if query.before is not None and not bool(own.any()):
        return query.before[ids]
    index = (torch.isin(owners(query.ptr), ids)).nonzero().squeeze(1)
    return query.log_probs(ids, state[index])
