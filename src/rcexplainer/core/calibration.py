"""Scores from logits: a monotone map under which the cut at ½ means something.

    score = ½ (1 + t / (1 + |t|)),   t = (logit − τ_c) / s

τ_c is chosen for each class on validation instances, by really deleting {logit > τ}: the cut with the best
(what the predicted class loses in probability, or the class asked for gains) − (share of the units deleted). Unlike σ
the map does not saturate, so that different logits stay different scores.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

MOST = 1 << 23  # logits that quantiles are taken of: torch has none of more than twice as many


@dataclass(frozen=True)
class Calibration:
    threshold: Tensor  # τ_c [C]
    scale: Tensor  # s, a scalar

    def __call__(self, logits: Tensor, label: Tensor) -> Tensor:
        """Scores in (0, 1) of units whose instances have the predicted class `label`, both [units]."""
        t = (logits - self.threshold[label]) / self.scale
        return 0.5 * (1 + t / (1 + t.abs()))


def calibrate(
    logits: Tensor, label: Tensor, gain: Callable[[Tensor], Tensor], num_classes: int, cuts: int = 16
) -> Calibration:
    """`gain(removed [units]) → [instances]` says what deleting these units is worth; `label` [instances]."""
    if not len(logits):
        return Calibration(logits.new_zeros(num_classes), logits.new_ones(()))
    some = logits[:: 1 + len(logits) // MOST]
    levels = torch.quantile(some, torch.linspace(0.5, 0.99, cuts, device=logits.device, dtype=logits.dtype))
    worth = torch.stack([gain(logits > level) for level in levels])  # [cuts, instances]
    overall = levels[worth.mean(1).argmax()]
    threshold = overall.repeat(num_classes)
    for value in torch.unique(label).tolist():
        threshold[value] = levels[worth[:, label == value].mean(1).argmax()]
    return Calibration(threshold, logits.std(correction=0).clamp_min(1e-6))
