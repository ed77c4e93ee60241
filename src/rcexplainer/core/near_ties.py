"""Answers within rounding of a tie between two classes, or of the confidence asked for, decided by a run alone.

The same sums in another order differ by rounding, so for a copy whose best two classes are as good as tied, the class
predicted in a batch need not be the class predicted alone; nor need a copy reach alone a confidence that it just
reaches in a batch. Such copies are few: each gets a run of its own, and what that says stands.
"""

from math import log

import torch
from torch import Tensor

from rcexplainer.core.search import Evaluate
from rcexplainer.core.segments import gather_ranges

TIE = 1e-4  # log p of the best two classes, or of the best class and the confidence, that differ by no more


def settle(
    log_probs: Tensor, ids: Tensor, removed: Tensor, ptr: Tensor, alone: Evaluate, confidence: float | None = None
) -> Tensor:
    """Replace the answers that are within rounding of a tie.

    Args:
        log_probs: [v, C] of copies that were run in batches.
        ids: [v] the instance of each copy.
        removed: Boolean [Σ their units], copy after copy.
        ptr: [n + 1] where the units of each instance begin.
        alone: log p of copies, each in a run of its own.
        confidence: The probability that the best class must reach; None: it need only be the best.

    Returns:
        [v, C].
    """
    if not len(log_probs):
        return log_probs
    best = log_probs.topk(2, 1).values
    close = best[:, 0] - best[:, 1] <= TIE  # never true for NaN
    if confidence is not None:
        close |= (best[:, 0] - log(confidence)).abs() <= TIE
    near = close.nonzero().squeeze(1)
    if not len(near):
        return log_probs
    sizes = ptr.diff()[ids]
    ends = sizes.cumsum(0)
    units, _ = gather_ranges((ends - sizes)[near], ends[near])
    settled = log_probs.clone()
    settled[near] = alone(ids[near], removed[units]).to(settled)
    return settled


def settled(batched: Evaluate, ptr: Tensor, alone: Evaluate, confidence: float | None = None) -> Evaluate:
    """Runs in batches, with near ties decided alone; arguments as for `settle`."""

    def log_probs(ids: Tensor, removed: Tensor) -> Tensor:
        return settle(batched(ids, removed), ids, removed, ptr, alone, confidence)

    return log_probs


def nothing_removed(ptr: Tensor) -> tuple[Tensor, Tensor]:
    """(ids [n], removed [units]) of all instances as they are."""
    units = int(ptr[-1])
    return torch.arange(len(ptr) - 1, device=ptr.device), torch.zeros(units, dtype=torch.bool, device=ptr.device)
