"""Learning to plan: after a few deletions of its own, several next ones are really tried, and compared.

    D = {u_1, …, u_{k−1}} drawn from the plan (`DeletionPlan.drawn`), k as in `core.outcomes`, if not too many
    C = m of the other units, drawn without replacement by P(u | D) ∝ exp(β f(u | D))
    R(u) = the outcome of deleting D and u (`core.outcomes`),  u ∈ C
    π = softmax of β f(· | D) over C,  V = Σ_u π(u) R(u)
    L = −mean V + γ mean CE(softmax(R / τ), π),   ∇L of D: −mean (V − mean of the other draws' V) ∇ log P(D)

Of a whole sequence that did well nobody knows which deletion was the good one; of units that were tried after the same
deletions everybody does. So the last step needs less luck: V is the mean over what was tried (the expected outcome if
all units were; of fewer, that of a policy which knows only these), and it also learns directly which of them was best.
What led there is judged by V, draw against draw, as in `core.outcomes`.
"""

import torch
from torch import Tensor

from rcexplainer.core.course import Course, Sequences
from rcexplainer.core.deletion_plan import DeletionPlan
from rcexplainer.core.gates import uniform
from rcexplainer.core.outcomes import SHARPNESS, OutcomeFn, policy_gradient
from rcexplainer.core.plackett_luce import FLOOR
from rcexplainer.core.segments import owners, ranks

BEST = 0.1  # γ
SHARED = 0.02  # τ: outcomes this close share the credit


def next_deletion_loss(
    plan: DeletionPlan, kept: Tensor, outcome: OutcomeFn, draws: int, tried: int, generator: torch.Generator
) -> Tensor:
    """Compute L.

    Args:
        plan: The instances as the plan network sees them.
        kept: k [n], how many units of each instance are deleted.
        outcome: removed [copies, units] → R [copies, n].
        draws: Sequences of each instance, at least two.
        tried: m, units that are compared after each, at least two.
        generator: Source of random numbers.

    Returns:
        [n].
    """
    units, number = plan.pair.size(1), len(kept)
    copies = plan.repeated(draws)
    walk = copies.drawn((kept - 1).clamp_min(0).repeat(draws), SHARPNESS, generator)
    found = walk >= 0
    instance = torch.arange(number, device=kept.device).repeat(draws)
    course = Course.of(plan, Sequences(walk[found] % max(1, units), found.sum(1), instance))

    logits, gone = course.after_last()  # [draws · units], as in the copies
    chosen, copy, row = _drawn_apart(SHARPNESS * logits.detach(), gone, copies.ptr, tried, generator)
    removed = gone.view(draws, units).repeat(tried, 1)  # the first unit tried after every draw, then the second, …
    removed[row * draws + chosen // units, chosen % units] = True
    reward = outcome(removed).view(tried, draws * number)

    given = torch.zeros_like(reward, dtype=torch.bool).index_put((row, copy), torch.ones_like(row, dtype=torch.bool))
    own = torch.full_like(reward, FLOOR).index_put((row, copy), SHARPNESS * logits.index_select(0, chosen))
    own = own.log_softmax(0)
    value = (own.exp() * reward).masked_fill(~given, 0.0).sum(0)
    target = (reward / SHARED).masked_fill(~given, FLOOR).softmax(0)
    surprise = -(target * own).masked_fill(~given, 0.0).sum(0)

    likelihood = course.drawn.summed(course.log_likelihood(SHARPNESS)).view(draws, number)
    before = policy_gradient(value.detach().view(draws, number), likelihood)
    last = (BEST * surprise - value + value.detach()).view(draws, number).mean(0)
    return before + last


def _drawn_apart(
    logits: Tensor, gone: Tensor, ptr: Tensor, number: int, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw units without replacement, by sorting logits plus Gumbel noise.

    Args:
        logits: β f [units].
        gone: [units] bool, which are not there any more.
        ptr: [n + 1] where the units of each instance begin.
        number: How many of each instance, or as many as there are.
        generator: Source of random numbers.

    Returns:
        The units that were drawn, and of each its instance and its place among those drawn there.
    """
    noise = uniform(len(logits), generator, logits).clamp(1e-9, 1 - 1e-7)
    owner = owners(ptr)
    place = ranks((logits - (-noise.log()).log()).masked_fill(gone, -torch.inf), owner, ptr)
    chosen = ((place < number) & ~gone).nonzero().squeeze(1)
    return chosen, owner[chosen], place[chosen]
