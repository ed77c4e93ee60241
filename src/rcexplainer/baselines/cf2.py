"""CF²: the smallest mask that is enough for the prediction and without which it is lost, optimised for each instance.

    M = σ(P) [units]                              P starts at 1
    S_f = p(c | G weighed by M)                   factual strength, wanted above the runner-up's p(s | the same)
    S_c = −p(c | G weighed by 1 − M)              counterfactual strength, wanted above −p(s | the same)
    L_f = relu(γ + p(s) − S_f)                    both with a margin of γ
    L_c = relu(γ − p(s) − S_c)
    L   = ‖M‖₁ + λ (α L_f + (1 − α) L_c)

c is the predicted class, s the most probable other one on the graph in question. The score of a unit is M.

α = .6 and γ = .5 are as published. Its λ is from 20 to 1000, set by set; 20 with Adam at a rate of .03 was chosen on
validation graphs of BA-2motifs and training nodes of tree-cycles and tree-grid. Probabilities saturate: a model that is
sure of both graphs has flat hinges, and then it is ‖M‖₁ that moves the mask.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from rcexplainer.baselines.soft_masks import SoftBatch, in_batches
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method


class CF2(Method):
    """`weight` is λ, `alpha` α, the share of the factual side, and `gamma` γ; `steps` of Adam at the rate `lr`."""

    def __init__(
        self,
        *,
        alpha: float = 0.6,
        weight: float = 20.0,
        gamma: float = 0.5,
        steps: int = 500,
        lr: float = 0.03,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        if not 0 <= alpha <= 1:
            raise RCExplainerError(f"alpha must be a share from 0 to 1, got {alpha!r}")
        if not (weight > 0 and gamma >= 0 and steps >= 1 and lr > 0):
            found = f"{weight!r}, {gamma!r}, {steps!r} and {lr!r}"
            raise RCExplainerError(f"weight must be > 0, gamma ≥ 0, steps ≥ 1 and lr > 0, got {found}")
        self.alpha, self.weight, self.gamma, self.steps, self.lr = alpha, weight, gamma, steps, lr

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return in_batches(instances, labels, self.optimise).sigmoid()

    def optimise(self, soft: SoftBatch) -> Tensor:
        """P [units] after training."""
        p = soft.per_unit(1.0).requires_grad_()
        optimizer = torch.optim.Adam([p], lr=self.lr)
        for _ in range(self.steps):
            mask = p.sigmoid()
            loss = mask.sum() + self.weight * self.hinges(lead(soft, mask), lead(soft, 1 - mask)).sum()
            (p.grad,) = torch.autograd.grad(loss, p)
            optimizer.step()
        return p

    def hinges(self, kept: Tensor, left: Tensor) -> Tensor:
        """[instances] α L_f + (1 − α) L_c, from the leads on what the mask keeps and on what it leaves."""
        return self.alpha * (self.gamma - kept).relu() + (1 - self.alpha) * (self.gamma + left).relu()


def lead(soft: SoftBatch, mask: Tensor) -> Tensor:
    """[instances] p(c) − p(s) under a mask [units], between −1 and 1."""
    probs = soft.split.log_probs(soft.run(mask).output).exp()
    own = one_hot(soft.labels, probs.size(1)).bool()
    return probs[own] - probs.masked_fill(own, -1.0).amax(1)
