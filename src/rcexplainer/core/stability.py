"""Staying put under noise: what comes first in a graph should come first in a noisy copy of it.

    T = the first k units by f(G), taken as they are
    L_stable = mean over u ∈ T, v ∉ T of softplus(f(v; G') − f(u; G')),   u and v units of the copy G'

a smooth bound of 1 − AUC, the paper's measure of robustness. An edge that only the copy has is never in T. The ranking
of the graph itself is learnt from the graph itself: noise costs it nothing but the width that the two share.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rcexplainer.core.segments import ranks


@dataclass(frozen=True)
class NoisyCopy:
    """What the network says of a noisy copy."""

    logits: Tensor  # f_θ of the copy's units, [copied]
    owner: Tensor  # [copied]
    unit: Tensor  # the same unit in the graph itself, [copied]; −1 for an edge that only the copy has


def stability_loss(logits: Tensor, ptr: Tensor, owner: Tensor, copied: NoisyCopy, k: int) -> Tensor:
    """L_stable [n] from f(G) [units] and f(G'); 0 where there is nothing to tell apart. O(k) an edge."""
    place = ranks(logits.detach(), owner, ptr)
    place = torch.where(copied.unit >= 0, place[copied.unit.clamp_min(0)], k)
    first = place < k
    # Places without a unit hold ∞, which is above everything, so that they add nothing.
    tops = logits.new_full((len(ptr) - 1, k), torch.inf)
    tops[copied.owner[first], place[first]] = copied.logits[first]
    others, of = copied.logits[~first], copied.owner[~first]
    missed = logits.new_zeros(len(tops)).index_add(0, of, softplus(others[:, None] - tops[of]).sum(1))
    pairs = torch.bincount(of, minlength=len(tops)) * tops.isfinite().sum(1)
    return missed / pairs.clamp_min(1)


def same_units(pair: Tensor, others: Tensor, num_nodes: int) -> Tensor:
    """Which of the node pairs [2, units], in the order of `find_units`, each of others [2, …] is; −1 for none."""
    codes, wanted = (ends[0] * num_nodes + ends[1] for ends in (pair, others))
    if not len(codes):
        return torch.full_like(wanted, -1)
    found = torch.searchsorted(codes, wanted).clamp_max(len(codes) - 1)
    return torch.where(codes[found] == wanted, found, -1)
