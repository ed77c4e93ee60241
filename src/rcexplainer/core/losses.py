"""The losses (Eq. 7–11). Every B_i points into the graph's region: B_i(φ_gc(G)) > 0 for a graph inside it.

    L_same      (1/|H_G|) Σ_i σ(−B_i(φ_gc(G)) · B_i(φ_gc(G_θ)))        the kept edges stay inside       (Eq. 8)
    L_opp       min_i σ(B_i(φ_gc(G)) · B_i(φ_gc(G'_θ)))                what remains falls outside       (Eq. 9)
    R_sparse    ‖M‖₁, over the real edges                                                              (Eq. 10)
    R_discrete  −(1/|M|) Σ M log M + (1−M) log(1−M)                                                    (Eq. 11)
    L           λ L_same + (1−λ) L_opp + β R_sparse + μ R_discrete                                      (Eq. 7)
    L_conf      −log P(c | G_θ) − η / log P(c | G'_θ)              the ablation: no boundaries         (appendix)

Shapes: `clean`, `kept`, `remainder` are B of the graph, of G_θ and of G'_θ, [instances, P], with +inf where a region
has fewer than P boundaries; masks [units] with `owner` [units]. Every function returns one value per instance.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import softplus

POLE = 0.01  # keeps 1 / log P finite


def same(clean: Tensor, kept: Tensor) -> Tensor:
    """L_same (Eq. 8).

    Args:
        clean: B(φ_gc(G)) [instances, P].
        kept: B(φ_gc(G_θ)) [instances, P].

    Returns:
        [instances]; 0 without boundaries.
    """
    valid = clean.isfinite()
    product = clean.masked_fill(~valid, 0) * kept.masked_fill(~valid, 0)
    return (torch.sigmoid(-product) * valid).sum(1) / valid.sum(1).clamp_min(1)


def opposite(clean: Tensor, remainder: Tensor) -> Tensor:
    """L_opp (Eq. 9).

    Args:
        clean: B(φ_gc(G)) [instances, P].
        remainder: B(φ_gc(G'_θ)) [instances, P].

    Returns:
        [instances]; 1 without boundaries.
    """
    valid = clean.isfinite()
    product = (clean.masked_fill(~valid, 0) * remainder.masked_fill(~valid, 0)).masked_fill(~valid, torch.inf)
    return torch.sigmoid(product.amin(1))  # σ is increasing: the min goes inside


def same_softplus(clean: Tensor, kept: Tensor) -> Tensor:
    """(1/|H_G|) Σ_i log(1 + exp(−B_i(φ_gc(G_θ)))): the aim of `same`, with a gradient that does not vanish far away.

    Args:
        clean: B(φ_gc(G)) [instances, P].
        kept: B(φ_gc(G_θ)) [instances, P].

    Returns:
        [instances]; 0 without boundaries.
    """
    valid = clean.isfinite()
    return (softplus(-kept.masked_fill(~valid, 0)) * valid).sum(1) / valid.sum(1).clamp_min(1)


def opposite_softplus(clean: Tensor, remainder: Tensor) -> Tensor:
    """min_i log(1 + exp(B_i(φ_gc(G'_θ)))): the aim of `opposite`, with a gradient that does not vanish far away.

    Args:
        clean: B(φ_gc(G)) [instances, P].
        remainder: B(φ_gc(G'_θ)) [instances, P].

    Returns:
        [instances]; 0 without boundaries, as an infinite term would outweigh all others.
    """
    least = remainder.masked_fill(clean.isinf(), torch.inf).amin(1)
    return softplus(least.masked_fill(least.isposinf(), -torch.inf))


def confident(log_p: Tensor) -> Tensor:
    """−log P(c | G_θ): low where the kept edges alone suffice for the prediction.

    Args:
        log_p: log P(c | G_θ) [instances].

    Returns:
        [instances].
    """
    return -log_p


def doubtful(log_p: Tensor) -> Tensor:
    """−1 / log P(c | G'_θ): low where the prediction is lost without the kept edges.

    P → 1 is a pole, and the graph itself is often that close to it: log P is moved away from 0 by `POLE`.

    Args:
        log_p: log P(c | G'_θ) [instances].

    Returns:
        [instances].
    """
    return 1 / (POLE - log_p)


def sparse(mask: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """R_sparse (Eq. 10): the sum of the mask over the units of each instance.

    Args:
        mask: M [units].
        owner: [units] the instance of each unit.
        num_instances: n.

    Returns:
        [n].
    """
    return mask.new_zeros(num_instances).index_add(0, owner, mask)


def discrete(mask: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """R_discrete (Eq. 11): the mean entropy of the mask over the units of each instance.

    Args:
        mask: M [units].
        owner: [units] the instance of each unit.
        num_instances: n.

    Returns:
        [n].
    """
    p = mask.clamp(1e-6, 1 - 1e-6)
    entropy = -(p * p.log() + (1 - p) * (1 - p).log())
    counts = mask.new_zeros(num_instances).index_add(0, owner, torch.ones_like(p)).clamp_min(1)
    return mask.new_zeros(num_instances).index_add(0, owner, entropy) / counts


Side = Callable[[Tensor, Tensor], Tensor]
# By name: the losses that hold the kept graph inside the region and push the remainder out of it.
SIDES: dict[str, tuple[Side, Side]] = {"product": (same, opposite), "softplus": (same_softplus, opposite_softplus)}
