"""Scores from logits: a monotone map under which the cut at ½ has a meaning.

    score = ½ (1 + t / (1 + |t|)),   t = (logit − τ_c) / s

τ_c is chosen for each class on validation instances, by really deleting {logit > τ}: the cut with the best
(probability that the predicted class loses, or the target class gains) − (share of the units deleted). Unlike σ the map
does not saturate, so different logits remain different scores.

A network that learns rankings gives shares, which add up to 1 in every instance: in a large one each is smaller. Its
cut is one of *relative* shares, log(share · number of units): how many times an equal share a unit has. So the
explanation as a set grows with the instance.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

QUANTILE_LIMIT = 1 << 23  # logits used for quantiles: torch.quantile refuses more than twice as many


@dataclass(frozen=True, eq=False)
class Calibration:
    """The map from logits to scores.

    Attributes:
        threshold: τ_c [C].
        scale: s, a scalar.
        relative: Whether it takes shares relative to an equal share, see `relative_shares`.
    """

    threshold: Tensor
    scale: Tensor
    relative: bool = False

    def __call__(self, logits: Tensor, label: Tensor) -> Tensor:
        """Map logits to scores.

        Args:
            logits: [units].
            label: [units] the class of each unit's instance.

        Returns:
            [units] in (0, 1).
        """
        t = (logits - self.threshold[label]) / self.scale
        return 0.5 * (1 + t / (1 + t.abs()))


def relative_shares(shares: Tensor, counts: Tensor, owner: Tensor) -> Tensor:
    """log(share · number of units of the instance), [units].

    Args:
        shares: Logarithms of shares, [units].
        counts: [instances] how many units each has.
        owner: [units] the instance of each unit.
    """
    return shares + counts.clamp_min(1).to(shares.dtype).log()[owner]


def calibrate(
    logits: Tensor, label: Tensor, gain: Callable[[Tensor], Tensor], num_classes: int, cuts: int = 16
) -> Calibration:
    """Choose the threshold of every class.

    Args:
        logits: [units] of the validation instances.
        label: [instances] their classes.
        gain: removed [units] → [instances]; what deleting these units is worth.
        num_classes: C; a class without validation instances gets the threshold that is best for all of them.
        cuts: Number of thresholds to try, between the median and the 99 % quantile of the logits.

    Returns:
        The calibrated map.
    """
    if not len(logits):
        return Calibration(logits.new_zeros(num_classes), logits.new_ones(()))
    some = logits[:: 1 + len(logits) // QUANTILE_LIMIT]
    levels = torch.quantile(some, torch.linspace(0.5, 0.99, cuts, device=logits.device, dtype=logits.dtype))
    worth = torch.stack([gain(logits > level) for level in levels])  # [cuts, instances]
    overall = levels[worth.mean(1).argmax()]
    threshold = overall.repeat(num_classes)
    for value in torch.unique(label).tolist():
        threshold[value] = levels[worth[:, label == value].mean(1).argmax()]
    return Calibration(threshold, logits.std(correction=0).clamp_min(1e-6))
