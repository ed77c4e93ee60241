"""What the derivative of the prediction says about edges: gradient, integrated gradients, Grad-CAM.

    Gradient              g_u = ∂ lo / ∂ M_u  at M = 1                          lo: the log-odds of the predicted class
    IntegratedGradients   g_u = ∫ ∂ lo(α · 1) / ∂ M_u dα,  α from 0 to 1        Σ_u g_u = lo(G) − lo(all weights 0)
    GradCAM               g_u = (s_i + s_j) / 2,  s_i = h_i · mean_k ∂ lo / ∂ h_k   h: the last layer's node embeddings

u = (i, j), both directions together; the mean is over the nodes k of the instance. All are signed: what speaks for the
predicted class is above ½, what speaks against it below; so Grad-CAM goes without its ReLU, which would tie all of the
latter. The map from g to the score is the same for every instance.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.utils import scatter

from rcexplainer.baselines.soft_masks import SoftBatch, in_batches, squash
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method


def slope(soft: SoftBatch, weight: float) -> Tensor:
    """∂ lo / ∂ M where every unit has this weight, [units]."""
    mask = soft.per_unit(weight).requires_grad_()
    return torch.autograd.grad(soft.log_odds(soft.run(mask)).sum(), mask)[0]


class Gradient(Method):
    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return squash(in_batches(instances, labels, lambda soft: slope(soft, 1.0)))


class IntegratedGradients(Method):
    """`steps`: points of the Gauss–Legendre rule, as many as in Captum."""

    def __init__(self, *, steps: int = 50, **common: Any) -> None:
        super().__init__(**common)
        if steps < 1:
            raise RCExplainerError(f"steps must be ≥ 1, got {steps!r}")
        self.steps = steps

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return squash(in_batches(instances, labels, self.integral))

    def integral(self, soft: SoftBatch) -> Tensor:
        """The mean slope on the way from no edges to all of them, [units]."""
        points, weights = np.polynomial.legendre.leggauss(self.steps)  # on [−1, 1]
        total = soft.per_unit(0.0)
        for point, weight in zip(points.tolist(), weights.tolist(), strict=True):
            total += weight / 2 * slope(soft, (1 + point) / 2)
        return total


class GradCAM(Method):
    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return squash(in_batches(instances, labels, class_activation))


def class_activation(soft: SoftBatch) -> Tensor:
    """The mean of the two nodes' s, [units]."""
    done = soft.run(soft.per_unit(1.0).requires_grad_())
    last, of_node = done.layers[-1], soft.batch.batch
    gradient = torch.autograd.grad(soft.log_odds(done).sum(), last)[0]
    weights = scatter(gradient, of_node, dim_size=len(soft.labels), reduce="mean")
    values = (last * weights[of_node]).sum(1)
    return values[soft.units.pair].mean(0)
