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
    num_instances, width = order.size(0), max(1, int(ptr.diff().max()))
    scores = logits.new_full((num_instances, width), -torch.inf)
    scores[owner, torch.arange(len(owner), device=owner.device) - ptr[owner]] = logits
    given = order >= 0
    chosen = scores.gather(1, order.clamp_min(0)).masked_fill(~given, -torch.inf)
    rows = torch.arange(num_instances, device=order.device)[:, None].expand_as(order)
    taken = torch.zeros_like(scores, dtype=torch.bool)
    taken[rows[given], order[given]] = True
    # A finite floor instead of −inf keeps the gradient of an empty rest at 0 instead of NaN.
    rest = scores.masked_fill(taken | scores.isinf(), -1e9).logsumexp(1, keepdim=True)
    steps = torch.cat([rest, chosen.masked_fill(~given, -1e9).flip(1)], 1)
    left = torch.logcumsumexp(steps, 1)[:, 1:].flip(1)
    return torch.where(given, left - chosen.masked_fill(~given, 0.0), torch.zeros_like(left))


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
