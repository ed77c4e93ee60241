"""Has a mask network collapsed? All masks 0, or all 1, or the same for every unit: then they explain nothing.

M_u = σ(f_u) of the units u of an instance
empty      max_u M_u < ε        full      min_u M_u > 1 − ε        flat      max_u f_u − min_u f_u < ε
"""

import torch
from torch import Tensor

EPSILON = 0.01
MOST = 0.95  # of the instances


def mask_collapse(logits: Tensor, owner: Tensor, num_instances: int) -> str | None:
    """How the masks σ(f) of nearly all instances have collapsed, in words; None if they have not."""
    low, high = _extremes(logits, owner, num_instances)
    if bool(low.isnan().any() | high.isnan().any()):
        return "the training diverged: masks are not numbers"
    kinds = {
        "all masks are 0: no edge is ever kept": high.sigmoid() < EPSILON,
        "all masks are 1: every edge is kept": low.sigmoid() > 1 - EPSILON,
        "all edges of a graph get the same score": high - low < EPSILON,
    }
    return next((kind for kind, here in kinds.items() if float(here.double().mean()) >= MOST), None)


def ranking_collapse(logits: Tensor, owner: Tensor, num_instances: int) -> str | None:
    """The same where only the order counts: a constant for every instance is no collapse."""
    low, high = _extremes(logits, owner, num_instances)
    if bool(low.isnan().any() | high.isnan().any()):
        return "the training diverged: scores are not numbers"
    return "all edges of a graph get the same score" if float((high - low < EPSILON).double().mean()) >= MOST else None


def _extremes(logits: Tensor, owner: Tensor, num_instances: int) -> tuple[Tensor, Tensor]:
    """The smallest and largest logit of every instance with at least two units."""
    low = logits.new_full((num_instances,), torch.inf).scatter_reduce(0, owner, logits, "amin")
    high = logits.new_full((num_instances,), -torch.inf).scatter_reduce(0, owner, logits, "amax")
    several = torch.bincount(owner, minlength=num_instances) > 1
    return low[several], high[several]
