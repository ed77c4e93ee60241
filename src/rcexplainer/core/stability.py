"""Stability under noise: the top units of a graph should be the top units of a noisy copy of it.

    T = the top k units by f(G), without gradient
    L_stable = mean over u ∈ T, v ∉ T of softplus(f(v; G') − f(u; G')),   u and v units of the copy G'

a smooth bound of 1 − AUC, the paper's measure of robustness. An edge that only the copy has is never in T. The ranking
of the graph itself is learnt from the clean graph alone; noise costs it only the network width that both share.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rcexplainer.core.segments import ranks


@dataclass(frozen=True, eq=False)
class NoisyCopy:
    """The network's logits for noisy copies of the instances.

    Attributes:
        logits: f_θ of the copies' units, [copied].
        owner: [copied] the instance of each unit.
        unit: [copied] the same unit in the clean graphs; −1 for an edge that only the copy has.
    """

    logits: Tensor
    owner: Tensor
    unit: Tensor


def stability_loss(logits: Tensor, ptr: Tensor, owner: Tensor, copied: NoisyCopy, k: int) -> Tensor:
    """L_stable, in O(k) per edge.

    Args:
        logits: f(G) [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        copied: f(G').
        k: Number of top units.

    Returns:
        [n]; 0 for a copy without units inside, or outside, the top k.
    """
    number = len(ptr) - 1
    place = ranks(logits.detach(), owner, ptr)
    place = torch.where(copied.unit >= 0, place[copied.unit.clamp_min(0)], k).clamp_max(k)
    first = place < k
    # Empty places hold ∞, which is above everything, so they add nothing. Column k takes what is not in the top.
    empty = logits.new_full((number * (k + 1),), torch.inf)
    tops = empty.index_copy(0, copied.owner * (k + 1) + place, copied.logits).view(number, k + 1)[:, :k]
    beaten = softplus(copied.logits[:, None] - tops.index_select(0, copied.owner)).sum(1)
    missed = logits.new_zeros(number).index_add(0, copied.owner, torch.where(first, 0.0, beaten))
    others = logits.new_zeros(number).index_add(0, copied.owner, (~first).to(logits.dtype))
    return missed / (others * tops.isfinite().sum(1)).clamp_min(1)


def same_units(pair: Tensor, others: Tensor, num_nodes: int) -> Tensor:
    """Find node pairs among the units of a graph.

    Args:
        pair: [2, units] the node pairs of the units, in the order of `find_units`.
        others: [2, k] the node pairs to find.
        num_nodes: Number of nodes.

    Returns:
        [k] units, −1 for pairs that are none.
    """
    codes, wanted = (ends[0] * num_nodes + ends[1] for ends in (pair, others))
    if not len(codes):
        return torch.full_like(wanted, -1)
    found = torch.searchsorted(codes, wanted).clamp_max(len(codes) - 1)
    return torch.where(codes[found] == wanted, found, -1)
