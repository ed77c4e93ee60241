"""A search as teacher of the ranking: the units' own effects, and the order in which greedy deletion took them.

    effect e_u = p(c | G) − p(c | G without u), c the predicted class
    L_effect = −Σ_u q_u log softmax(f)_u,   q = softmax(e / τ)

Where several units would do equally well the search takes one of them, and no network can predict which; q shares the
credit among them.

    order π = (u_1, …, u_K), found by deleting for real against the region's boundaries
    L_order = Σ_t w_t [ log Σ_{u not in u_1…u_{t−1}} exp f(u) − f(u_t) ] / Σ_t w_t,   w_t = 1/t

the negative log-likelihood of π under Plackett–Luce: at each step the unit deleted next should have the largest score
of those left. Early deletions do most of the work, hence the weights.
"""

import torch
from torch import Tensor

FLOOR = -1e9  # the logit of what is not there


def order_loss(logits: Tensor, ptr: Tensor, owner: Tensor, order: Tensor) -> Tensor:
    """L_order.

    Args:
        logits: f [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        order: π [n, K] positions within the instance, −1 after the last.

    Returns:
        [n]; 0 for an instance without an order.
    """
    weight = (order >= 0) / torch.arange(1, order.size(1) + 1, device=order.device)
    surprise = surprises(logits, ptr, owner, order)
    return (weight * surprise).sum(1) / weight.sum(1).clamp_min(1e-9)


def surprises(logits: Tensor, ptr: Tensor, owner: Tensor, order: Tensor) -> Tensor:
    """−log of the probability that u_t comes next, for every step of π.

    Args:
        logits: f [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        order: π [n, K] positions within the instance, −1 after the last.

    Returns:
        [n, K]; 0 after the last step.
    """
    given = order >= 0
    place = torch.where(given, ptr[:-1, None] + order, len(logits))  # one past the end: no unit
    chosen = torch.cat([logits, logits.new_zeros(1)]).index_select(0, place.flatten()).view_as(order)
    rest = rest_weight(logits, owner, place.flatten(), len(order))
    return torch.where(given, remaining_weights(rest, chosen, given) - chosen, 0.0)


def rest_weight(logits: Tensor, owner: Tensor, taken: Tensor, num_instances: int) -> Tensor:
    """log Σ exp f over the units of each instance that were not taken.

    Args:
        logits: f [units].
        owner: [units] the instance of each unit.
        taken: Positions of units; `len(logits)` stands for none.
        num_instances: n.

    Returns:
        [n]; `FLOOR` where nothing is left: unlike −∞ it has a gradient of 0 instead of NaN.
    """
    left = torch.ones(len(logits) + 1, dtype=torch.bool, device=logits.device).index_fill(0, taken, False)[:-1]
    values = torch.where(left, logits, FLOOR)
    largest = values.new_full((num_instances,), FLOOR).scatter_reduce(0, owner, values.detach(), "amax")
    shares = torch.where(left, (values - largest.index_select(0, owner)).exp(), 0.0)
    total = values.new_zeros(num_instances).index_add(0, owner, shares)
    return torch.where(total > 0, largest + total.clamp_min(torch.finfo(total.dtype).tiny).log(), FLOOR)


def remaining_weights(rest: Tensor, chosen: Tensor, given: Tensor) -> Tensor:
    """log Σ exp f over what is left before each step: the steps to come, and the units that are never taken.

    Args:
        rest: [n] from `rest_weight`.
        chosen: [n, K] the logit of the unit taken at each step.
        given: [n, K] whether there is such a step.

    Returns:
        [n, K].
    """
    backwards = torch.cat([rest[:, None], chosen.masked_fill(~given, FLOOR).flip(1)], 1)
    return torch.logcumsumexp(backwards, 1)[:, 1:].flip(1)


def effect_loss(logits: Tensor, owner: Tensor, num_instances: int, effect: Tensor, temperature: float) -> Tensor:
    """L_effect.

    Args:
        logits: f [units].
        owner: [units] the instance of each unit.
        num_instances: n.
        effect: e [units].
        temperature: τ.

    Returns:
        [n]; 0 for an instance without units.
    """
    target = log_softmax(effect / temperature, owner, num_instances).exp()
    surprise = -target * log_softmax(logits, owner, num_instances)
    return logits.new_zeros(num_instances).index_add(0, owner, surprise)


def log_softmax(values: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """log softmax over the units of each instance.

    Args:
        values: [units].
        owner: [units] the instance of each unit.
        num_instances: n.

    Returns:
        [units].
    """
    # For numerical stability only, so it needs no gradient.
    largest = values.new_full((num_instances,), -torch.inf).scatter_reduce(0, owner, values.detach(), "amax")
    shifted = values - largest[owner]
    total = values.new_zeros(num_instances).index_add(0, owner, shifted.exp())
    return shifted - total[owner].log()
