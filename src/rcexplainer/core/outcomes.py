"""Learning from outcomes: explanations drawn from the network's own ranking, really deleted, and judged by the model.

    π ~ Plackett–Luce(β f),  S = its first k units,  k = max(1, round(b·|units|)),  log b ~ U(log low, log high)
    R(S) = 1 − p(c | G without S), c the predicted class; towards another class t: p(t | G without S)
    L = −mean_m R(S_m),   ∇L = −mean_m (R(S_m) − mean of the other draws' R) ∇ log P(π_1 … π_k | β f)

M draws of the same size are compared with each other, so that an instance that is easy to turn teaches no more than a
hard one. Unlike the order of a search, which is the best answer to its own earlier choices only, this says what the
network's own choices lead to: a unit that undoes what others have done is found out, however much it does alone.

draw    f [units], ptr [n + 1], owner [units], kept [n]  →  a ranking's first units, [n, K] positions, −1 after the last
"""

from collections.abc import Callable

import torch
from torch import Tensor

from rcexplainer.core.gates import uniform
from rcexplainer.core.plackett_luce import surprises
from rcexplainer.core.segments import ranks

SHARPNESS = 2.0  # β: how much the draws keep to the ranking
LOW, HIGH = 0.03, 0.3  # shares of the units that an explanation takes

# Units that are removed [units] → R [n]
Outcome = Callable[[Tensor], Tensor]


def outcome_loss(
    logits: Tensor, ptr: Tensor, owner: Tensor, outcome: Outcome, draws: int, generator: torch.Generator
) -> Tensor:
    """L [n]; its value is minus the mean outcome, its gradient that of the expected one."""
    number, counts = len(ptr) - 1, ptr.diff()
    share = LOW * (HIGH / LOW) ** uniform(number, generator, logits)
    kept = (share * counts).round().clamp_min(1).long().minimum(counts)
    # All draws at once, one after the other, as if each were instances of its own.
    copy = torch.arange(draws, device=ptr.device)[:, None]
    all_ptr = torch.cat([ptr[:1], (ptr[1:] + copy * len(owner)).flatten()])
    all_owner = (owner + copy * number).flatten()
    scores = (SHARPNESS * logits).repeat(draws)
    order = draw(scores.detach(), all_ptr, all_owner, kept.repeat(draws), generator)
    removed = torch.zeros_like(all_owner, dtype=torch.bool)
    removed[(all_ptr[:-1, None] + order)[order >= 0]] = True
    reward = torch.stack([outcome(units) for units in removed.view(draws, -1)])
    likelihood = -surprises(scores, all_ptr, all_owner, order).sum(1).view(draws, number)
    advantage = (reward - reward.mean(0)) * draws / (draws - 1)  # over the mean of the others
    estimate = -(advantage * likelihood).mean(0)
    return estimate - estimate.detach() - reward.mean(0)


def draw(scores: Tensor, ptr: Tensor, owner: Tensor, kept: Tensor, generator: torch.Generator) -> Tensor:
    """The first `kept` [n] units of a Plackett–Luce ranking: sorting by score plus Gumbel noise draws one."""
    noise = uniform(len(scores), generator, scores).clamp(1e-9, 1 - 1e-7)
    place = ranks(scores - (-noise.log()).log(), owner, ptr)
    order = torch.full((len(kept), max(1, int(kept.max()))), -1, device=ptr.device)
    taken = (place < kept[owner]).nonzero().squeeze(1)
    order[owner[taken], place[taken]] = taken - ptr[owner[taken]]
    return order
