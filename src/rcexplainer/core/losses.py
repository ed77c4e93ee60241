"""The losses (Eq. 7–11). B_i is taken towards the inside of the graph's region, so B_i(φ_gc(G)) > 0 on its side.

    L_same      (1/|H_G|) Σ_i σ(−B_i(φ_gc(G)) · B_i(φ_gc(G_θ)))        the kept edges stay inside       (Eq. 8)
    L_opp       min_i σ(B_i(φ_gc(G)) · B_i(φ_gc(G'_θ)))                what remains falls outside       (Eq. 9)
    R_sparse    ‖M‖₁, over the real edges                                                              (Eq. 10)
    R_discrete  −(1/|M|) Σ M log M + (1−M) log(1−M)                                                    (Eq. 11)
    L           λ L_same + (1−λ) L_opp + β R_sparse + μ R_discrete                                      (Eq. 7)

Shapes: `inside` and its like [instances, P] with +inf where a region has fewer than P boundaries; masks [units]
with `owner` [units]. Every function gives one value per instance.
"""

import torch
from torch import Tensor


def same(clean: Tensor, kept: Tensor) -> Tensor:
    """L_same from B(φ_gc(G)) and B(φ_gc(G_θ)), both [instances, P]."""
    valid = clean.isfinite()
    product = clean.masked_fill(~valid, 0) * kept.masked_fill(~valid, 0)
    return (torch.sigmoid(-product) * valid).sum(1) / valid.sum(1).clamp_min(1)


def opposite(clean: Tensor, remainder: Tensor) -> Tensor:
    """L_opp from B(φ_gc(G)) and B(φ_gc(G'_θ)), both [instances, P]."""
    valid = clean.isfinite()
    product = (clean.masked_fill(~valid, 0) * remainder.masked_fill(~valid, 0)).masked_fill(~valid, torch.inf)
    return torch.sigmoid(product.amin(1))  # σ is increasing: the min goes inside


def sparse(mask: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """R_sparse: the sum of the mask over the units of each instance."""
    return mask.new_zeros(num_instances).index_add(0, owner, mask)


def discrete(mask: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """R_discrete: the mean entropy of the mask over the units of each instance."""
    p = mask.clamp(1e-6, 1 - 1e-6)
    entropy = -(p * p.log() + (1 - p) * (1 - p).log())
    counts = torch.bincount(owner, minlength=num_instances).clamp_min(1)
    return mask.new_zeros(num_instances).index_add(0, owner, entropy) / counts
