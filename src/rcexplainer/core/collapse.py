"""Collapse of a mask network: masks that are all 0, all 1, or the same for every unit explain nothing.

M_u = σ(f_u) for the units u of an instance
empty      max_u M_u < ε        full      min_u M_u > 1 − ε        flat      max_u f_u − min_u f_u < ε
"""

import torch
from torch import Tensor

COLLAPSE_EPSILON = 0.01  # ε
COLLAPSED_SHARE = 0.95  # of the instances, from which on the network counts as collapsed


def mask_collapse(logits: Tensor, owner: Tensor, num_instances: int) -> str | None:
    """Say how the masks σ(f) of nearly all instances have collapsed.

    Args:
        logits: f [units].
        owner: [units] the instance of each unit.
        num_instances: n.

    Returns:
        The kind of collapse in words, or None.
    """
    low, high = _extremes(logits, owner, num_instances)
    if bool(low.isnan().any() | high.isnan().any()):
        return "the training diverged: masks are not numbers"
    kinds = {
        "all masks are 0: no edge is ever kept": high.sigmoid() < COLLAPSE_EPSILON,
        "all masks are 1: every edge is kept": low.sigmoid() > 1 - COLLAPSE_EPSILON,
        "all edges of a graph get the same score": high - low < COLLAPSE_EPSILON,
    }
    return next((kind for kind, here in kinds.items() if float(here.double().mean()) >= COLLAPSED_SHARE), None)


def ranking_collapse(logits: Tensor, owner: Tensor, num_instances: int) -> str | None:
    """Say how the rankings of nearly all instances have collapsed, where only the order of the units counts.

    Args:
        logits: f [units].
        owner: [units] the instance of each unit.
        num_instances: n.

    Returns:
        The kind of collapse in words, or None.
    """
    low, high = _extremes(logits, owner, num_instances)
    if bool(low.isnan().any() | high.isnan().any()):
        return "the training diverged: scores are not numbers"
    flat = float((high - low < COLLAPSE_EPSILON).double().mean())
    return "all edges of a graph get the same score" if flat >= COLLAPSED_SHARE else None


def _extremes(logits: Tensor, owner: Tensor, num_instances: int) -> tuple[Tensor, Tensor]:
    """The smallest and largest logit of every instance with at least two units."""
    low = logits.new_full((num_instances,), torch.inf).scatter_reduce(0, owner, logits, "amin")
    high = logits.new_full((num_instances,), -torch.inf).scatter_reduce(0, owner, logits, "amax")
    several = torch.bincount(owner, minlength=num_instances) > 1
    return low[several], high[several]
