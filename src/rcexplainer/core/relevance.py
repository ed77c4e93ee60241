"""The second reading of a unit: does it matter at all, whichever way?

A counterfactual score asks what the prediction needs. Evidence *against* the prediction gets a low score, rightly: to
delete it makes the prediction surer. But it matters too, so relevance is taught by the size of a change:

    e(u) = ‖ centred log p(· | G) − centred log p(· | G without u) ‖₂
    r(u) = e(u) / (e(u) + .1)                                0: nothing happens; ½: a noticeable change, of .1
    L = mean over units u of BCE(σ(g_θ(u)), r(u))
    relevance(u) = calibrated(2 score(u) + σ(g_θ(u)))

The sum, because a change on its own does not see redundancy: of two edges that can replace each other neither changes
anything alone, and the mask network keeps one of them.
"""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from rcexplainer.core.calibration import Calibration

NOTICEABLE = 0.1  # e at which r is ½: odds change by about a tenth
SCORE_WEIGHT = (
    2.0  # of the score beside the size of the change; chosen on networks of other seeds than the reported ones
)
CUTS = 64  # thresholds that the calibration tries


def relative_size(change: Tensor) -> Tensor:
    """r = e / (e + .1), in [0, 1).

    Args:
        change: e, of any shape.
    """
    return change / (change + NOTICEABLE)


def relevance_loss(logits: Tensor, size: Tensor) -> Tensor:
    """L, the cross-entropy between predicted and real sizes of changes.

    Args:
        logits: g_θ [k].
        size: r [k].

    Returns:
        A scalar; 0 without units.
    """
    if not len(size):
        return logits.sum()
    return binary_cross_entropy_with_logits(logits, size)


def combined(scores: Tensor, logits: Tensor) -> Tensor:
    """2 score + σ(g_θ).

    Args:
        scores: [k] of the mask network.
        logits: g_θ [k].
    """
    return SCORE_WEIGHT * scores + logits.sigmoid()


def calibrate_relevance(values: Tensor, size: Tensor) -> Calibration:
    """The monotone map under which a relevance above ½ means: deleting this unit alone is noticed.

    Args:
        values: What `combined` gives for units of validation instances, [k].
        size: r of the same units.

    Returns:
        The map whose cut agrees best with r > ½: with the largest sum of the shares that are right on both sides.
    """
    if not len(values):
        return Calibration(values.new_ones(1), values.new_ones(()))
    noticed = size > 0.5
    levels = torch.quantile(values, torch.linspace(0, 1, CUTS, device=values.device, dtype=values.dtype))
    above = values > levels[:, None]
    found = (above & noticed).sum(1) / noticed.sum().clamp_min(1)
    spared = (~above & ~noticed).sum(1) / (~noticed).sum().clamp_min(1)
    return Calibration(levels[(found + spared).argmax()][None], values.std(correction=0).clamp_min(1e-6))
