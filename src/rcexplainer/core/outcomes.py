"""Learning from outcomes: explanations are drawn from the network's ranking, really deleted, and judged by the model.

    π ~ Plackett–Luce(β f),  S = its first k units,  k = max(1, round(b·|units|)),  log b ~ U(log low, log high)
    R(S) = 1 − p(c | G without S), c the predicted class; towards another class t: p(t | G without S)
    L = −mean_m R(S_m),   ∇L = −mean_m (R(S_m) − mean of the other draws' R) ∇ log P(π_1 … π_k | β f)

A draw's baseline is the mean of the other draws of the same size, so easy instances do not dominate hard ones. The
order of a search is the best continuation of its own earlier choices only; this loss evaluates the network's own
choices, and so detects a unit that undoes what others have done, however large its effect alone.

draw    f [units], ptr [n + 1], owner [units], kept [n]  →  a ranking's first units, [n, K] positions, −1 after the last
"""

from collections.abc import Callable

import torch
from torch import Tensor

from rcexplainer.core.gates import uniform
from rcexplainer.core.plackett_luce import surprises
from rcexplainer.core.segments import ranks

SHARPNESS = 2.0  # β: how closely the draws follow the ranking
SMALLEST_SHARE, LARGEST_SHARE = 0.03, 0.3  # of an instance's units in an explanation

# Units that are removed [units] → R [n]
OutcomeFn = Callable[[Tensor], Tensor]


def outcome_loss(
    logits: Tensor, ptr: Tensor, owner: Tensor, outcome: OutcomeFn, draws: int, generator: torch.Generator
) -> Tensor:
    """Compute L, whose value is minus the mean outcome and whose gradient is an estimate of the expected one's.

    Args:
        logits: f [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        outcome: removed [units] → R [n].
        draws: M, at least two.
        generator: Source of random numbers.

    Returns:
        [n].
    """
    number, counts = len(ptr) - 1, ptr.diff()
    share = SMALLEST_SHARE * (LARGEST_SHARE / SMALLEST_SHARE) ** uniform(number, generator, logits)
    kept = (share * counts).round().clamp_min(1).long().minimum(counts)
    # All draws in one batch, as if each were made of instances of its own.
    copy = torch.arange(draws, device=ptr.device)[:, None]
    all_ptr = torch.cat([ptr[:1], (ptr[1:] + copy * len(owner)).flatten()])
    all_owner = (owner + copy * number).flatten()
    scores = (SHARPNESS * logits).repeat(draws)
    order = draw(scores.detach(), all_ptr, all_owner, kept.repeat(draws), generator)
    removed = torch.zeros_like(all_owner, dtype=torch.bool)
    removed[(all_ptr[:-1, None] + order)[order >= 0]] = True
    reward = torch.stack([outcome(units) for units in removed.view(draws, -1)])
    likelihood = -surprises(scores, all_ptr, all_owner, order).sum(1).view(draws, number)
    advantage = (reward - reward.mean(0)) * draws / (draws - 1)  # relative to the mean of the other draws
    estimate = -(advantage * likelihood).mean(0)
    return estimate - estimate.detach() - reward.mean(0)


def draw(scores: Tensor, ptr: Tensor, owner: Tensor, kept: Tensor, generator: torch.Generator) -> Tensor:
    """Draw the top of a Plackett–Luce ranking, by sorting scores plus Gumbel noise.

    Args:
        scores: β f [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        kept: [n] how many units to draw.
        generator: Source of random numbers.

    Returns:
        [n, K] positions within the instance, −1 after the last.
    """
    noise = uniform(len(scores), generator, scores).clamp(1e-9, 1 - 1e-7)
    place = ranks(scores - (-noise.log()).log(), owner, ptr)
    order = torch.full((len(kept), max(1, int(kept.max()))), -1, device=ptr.device)
    taken = (place < kept[owner]).nonzero().squeeze(1)
    order[owner[taken], place[taken]] = taken - ptr[owner[taken]]
    return order
