"""Derivatives of the prediction by edge weights or node embeddings: gradient, integrated gradients, Grad-CAM.

    Gradient              g_u = ∂ lo / ∂ M_u  at M = 1                          lo: the log-odds of the predicted class
    IntegratedGradients   g_u = ∫ ∂ lo(α · 1) / ∂ M_u dα,  α from 0 to 1        Σ_u g_u = lo(G) − lo(all weights 0)
    GradCAM               g_u = (s_i + s_j) / 2,  s_i = h_i · mean_k ∂ lo / ∂ h_k   h: the last layer's node embeddings

u = (i, j) with both directions; the mean is over the nodes k of the instance. All are signed: evidence for the
predicted class scores above ½, evidence against it below. Grad-CAM is therefore used without its ReLU, which would give
all the latter the same score. |g| is a second reading, the relevance: how much an edge matters, for or against. The
maps from g to score and relevance are the same for every instance.
"""

from typing import Unpack

import numpy as np
import torch
from torch import Tensor
from torch_geometric.utils import scatter

from rcexplainer.baselines.soft_masks import SoftBatch, in_batches, signed_readings
from rcexplainer.errors import SplitError
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method
from rcexplainer.method.settings import CommonSettings, whole
from rcexplainer.method.unit_readings import UnitReadings


def slope(soft: SoftBatch, weight: float) -> Tensor:
    """∂ lo / ∂ M where every unit has this weight, [units]."""
    mask = soft.per_unit(weight).requires_grad_()
    total = soft.log_odds(soft.run(mask)).sum()
    if not total.requires_grad:
        raise SplitError("the model's answer has no gradient: it detaches or copies what it returns; choose Occlusion")
    return torch.autograd.grad(total, mask)[0]


class Gradient(Method):
    """The derivative of the log-odds by edge weights, at the whole graph.

    Its settings are those of every method: `task`, `target_class`, `hops` and `connected`.
    """

    soft_masks = True

    def scores(self, instances: Instances, labels: Tensor) -> UnitReadings:
        return signed_readings(in_batches(instances, labels, lambda soft: slope(soft, 1.0)))


class IntegratedGradients(Method):
    """The derivative averaged on the line from no edge weight to full edge weight.

    Args:
        steps: Points of the Gauss–Legendre rule; 50 as in Captum.
        **common: `task`, `target_class`, `hops` and `connected`, as for every method.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    soft_masks = True

    def __init__(self, *, steps: int = 50, **common: Unpack[CommonSettings]) -> None:
        super().__init__(**common)
        self.steps = whole("steps", steps)

    def scores(self, instances: Instances, labels: Tensor) -> UnitReadings:
        return signed_readings(in_batches(instances, labels, self.integral))

    def integral(self, soft: SoftBatch) -> Tensor:
        """The mean slope from weight 0 to weight 1, [units]."""
        points, weights = np.polynomial.legendre.leggauss(self.steps)  # on [−1, 1]
        total = soft.per_unit(0.0)
        for point, weight in zip(points.tolist(), weights.tolist(), strict=True):
            total += weight / 2 * slope(soft, (1 + point) / 2)
        return total


class GradCAM(Method):
    """Node embeddings weighted by their mean gradient.

    Its settings are those of every method: `task`, `target_class`, `hops` and `connected`.
    """

    soft_masks = True

    def scores(self, instances: Instances, labels: Tensor) -> UnitReadings:
        return signed_readings(in_batches(instances, labels, class_activation))


def class_activation(soft: SoftBatch) -> Tensor:
    """The mean of the two nodes' s, [units]."""
    done = soft.run(soft.per_unit(1.0).requires_grad_())
    if not done.layers:
        name = type(soft.split.model).__name__
        raise SplitError(f"GradCAM needs node embeddings, but no module of {name} returns one row per node")
    last, of_node = done.layers[-1], soft.batch.batch
    gradient = torch.autograd.grad(soft.log_odds(done).sum(), last)[0]
    weights = scatter(gradient, of_node, dim_size=len(soft.labels), reduce="mean")
    values = (last * weights[of_node]).sum(1)
    return values[soft.units.pair].mean(0)
