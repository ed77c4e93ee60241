"""Learning from outcomes: explanations are drawn from the network's ranking, really deleted, and judged by the model.

    π ~ Plackett–Luce(β f),  S = its first k units,  k = max(1, round(b·|units|)),  log b ~ U(log low, log high)
    R(S) = 1 − p(c | G without S), c the predicted class; towards another class t: p(t | G without S)
    L = −mean_m R(S_m),   ∇L = −mean_m (R(S_m) − mean of the other draws' R) ∇ log P(π_1 … π_k | β f)

A draw's baseline is the mean of the other draws of the same size, so easy instances do not dominate hard ones. The
order of a search is the best continuation of its own earlier choices only; this loss evaluates the network's own
choices, and so detects a unit that undoes what others have done, however large its effect alone.

The draws of different sizes are never padded to the largest: memory is linear in the units.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.gates import uniform
from rcexplainer.core.plackett_luce import remaining_weights, rest_weight
from rcexplainer.core.segments import gather_ranges, sorted_units

SHARPNESS = 2.0  # β: how closely the draws follow the ranking
SMALLEST_SHARE, LARGEST_SHARE = 0.03, 0.3  # of an instance's units in an explanation
NARROW, WIDENING = 64, 8  # draws of up to 64 units are padded to one width, larger ones by factors of 8

# Units that are removed, [draws, units] → R [draws, n]
OutcomeFn = Callable[[Tensor], Tensor]


def outcome_loss(
    logits: Tensor, ptr: Tensor, owner: Tensor, outcome: OutcomeFn, draws: int, generator: torch.Generator
) -> Tensor:
    """Compute L, whose value is minus the mean outcome and whose gradient is an estimate of the expected one's.

    Args:
        logits: f [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        outcome: removed [draws, units] → R [draws, n].
        draws: M, at least two.
        generator: Source of random numbers.

    Returns:
        [n].
    """
    number, kept = len(ptr) - 1, drawn_sizes(ptr.diff(), generator, logits)
    # All draws in one batch, as if each were made of instances of its own.
    copy = torch.arange(draws, device=ptr.device)[:, None]
    all_ptr = torch.cat([ptr[:1], (ptr[1:] + copy * len(owner)).flatten()])
    all_owner = (owner + copy * number).flatten()
    scores = (SHARPNESS * logits).repeat(draws)
    drawn = draw(scores.detach(), all_ptr, all_owner, kept.repeat(draws), generator)
    removed = torch.zeros_like(all_owner, dtype=torch.bool).index_fill(0, drawn.units, True)
    reward = outcome(removed.view(draws, -1))
    return policy_gradient(reward, log_likelihood(scores, all_owner, drawn).view(draws, number))


def drawn_sizes(counts: Tensor, generator: torch.Generator, like: Tensor) -> Tensor:
    """k [n], a size for the explanations that are drawn of each instance.

    Args:
        counts: [n] its units.
        generator: Source of random numbers.
        like: A tensor of the type to compute with.
    """
    share = SMALLEST_SHARE * (LARGEST_SHARE / SMALLEST_SHARE) ** uniform(len(counts), generator, like)
    return (share * counts).round().clamp_min(1).long().minimum(counts)


def policy_gradient(reward: Tensor, likelihood: Tensor) -> Tensor:
    """[n] minus the mean reward of draws, with the gradient of the expected one.

    Args:
        reward: R [draws, n].
        likelihood: log P of the draws, [draws, n].
    """
    draws = len(reward)
    advantage = (reward - reward.mean(0)) * draws / (draws - 1)  # relative to the mean of the other draws
    estimate = -(advantage * likelihood).mean(0)
    return estimate - estimate.detach() - reward.mean(0)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The tops of rankings, one after the other.

    Attributes:
        units: [Σ kept] the units, instance after instance, each in the order in which they were drawn.
        kept: [n] how many each instance has.
    """

    units: Tensor
    kept: Tensor


def draw(scores: Tensor, ptr: Tensor, owner: Tensor, kept: Tensor, generator: torch.Generator) -> Drawn:
    """Draw the top of a Plackett–Luce ranking, by sorting scores plus Gumbel noise.

    Args:
        scores: β f [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        kept: [n] how many units to draw, at most as many as there are.
        generator: Source of random numbers.

    Returns:
        The units that were drawn.
    """
    noise = uniform(len(scores), generator, scores).clamp(1e-9, 1 - 1e-7)
    order = sorted_units(scores - (-noise.log()).log(), owner)
    places, _ = gather_ranges(ptr[:-1], ptr[:-1] + kept)
    return Drawn(order[places], kept)


def log_likelihood(scores: Tensor, owner: Tensor, drawn: Drawn) -> Tensor:
    """log P(π_1 … π_k) of what was drawn, under Plackett–Luce.

    Args:
        scores: β f [units].
        owner: [units] the instance of each unit.
        drawn: The draws.

    Returns:
        [n]; 0 for an instance of which nothing was drawn.
    """
    number, start = len(drawn.kept), drawn.kept.cumsum(0) - drawn.kept
    rest = rest_weight(scores, owner, drawn.units, number)
    chosen = torch.cat([scores.index_select(0, drawn.units), scores.new_zeros(1)])
    total, rows = scores.new_zeros(number), torch.arange(number, device=owner.device)
    longest, low = int(drawn.kept.max()), 0
    while low < longest:  # draws of about one size are padded to the largest of them
        high = min(max(NARROW, low * WIDENING), longest)
        inside = rows if high == longest and not low else rows[(drawn.kept > low) & (drawn.kept <= high)]
        step = torch.arange(high, device=owner.device)
        given = step < drawn.kept[inside, None]
        place = torch.where(given, start[inside, None] + step, len(chosen) - 1)
        logit = chosen.index_select(0, place.flatten()).view(place.shape)
        terms = torch.where(given, logit - remaining_weights(rest[inside], logit, given), 0.0).sum(1)
        total = total.index_add(0, inside, terms)
        low = high
    return total
