"""CF²: the smallest mask that is sufficient for the prediction and necessary for it, optimised for each instance.

    M = σ(P) [units]                              P starts at 1
    S_f = p(c | G weighted by M)                  factual strength; should exceed the runner-up's p(s | the same)
    S_c = −p(c | G weighted by 1 − M)             counterfactual strength; should exceed −p(s | the same)
    L_f = relu(γ + p(s) − S_f)                    both with a margin of γ
    L_c = relu(γ − p(s) − S_c)
    L   = ‖M‖₁ + λ (α L_f + (1 − α) L_c)

c is the predicted class, s the most probable other class on the masked graph. The score of a unit is M.

α = .6 and γ = .5 are as published. The published λ is between 20 and 1000, depending on the dataset; λ = 20 and Adam
with learning rate .03 were chosen on validation graphs of BA-2motifs and training nodes of tree-cycles and tree-grid.
Probabilities saturate: where the model is certain of both graphs the hinges are flat, and only ‖M‖₁ moves the mask.
"""

from typing import Unpack

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from rcexplainer.baselines.soft_masks import SoftBatch, in_batches
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method
from rcexplainer.method.settings import CommonSettings, non_negative, positive, share, whole


class CF2(Method):
    """Counterfactual and factual reasoning (Tan et al., WWW 2022).

    Args:
        alpha: α, the weight of the factual side.
        weight: λ, the weight of both sides against the size of the mask.
        gamma: γ, the margin.
        steps: Steps of Adam.
        lr: Its learning rate.
        **common: `task`, `target_class`, `hops` and `connected`, as for every method.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    soft_masks = True

    def __init__(
        self,
        *,
        alpha: float = 0.6,
        weight: float = 20.0,
        gamma: float = 0.5,
        steps: int = 500,
        lr: float = 0.03,
        **common: Unpack[CommonSettings],
    ) -> None:
        super().__init__(**common)
        self.alpha = share("alpha", alpha)
        self.weight = positive("weight", weight)
        self.gamma = non_negative("gamma", gamma)
        self.steps = whole("steps", steps)
        self.lr = positive("lr", lr)

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return in_batches(instances, labels, self.optimise).sigmoid()

    def optimise(self, soft: SoftBatch) -> Tensor:
        """P [units] after optimisation."""
        p = soft.per_unit(1.0).requires_grad_()
        optimizer = torch.optim.Adam([p], lr=self.lr)
        for _ in range(self.steps):
            mask = p.sigmoid()
            loss = mask.sum() + self.weight * self.hinges(lead(soft, mask), lead(soft, 1 - mask)).sum()
            (p.grad,) = torch.autograd.grad(loss, p)
            optimizer.step()
        return p

    def hinges(self, kept: Tensor, left: Tensor) -> Tensor:
        """α L_f + (1 − α) L_c.

        Args:
            kept: Lead of the predicted class on the graph weighted by M, [instances].
            left: The same on the graph weighted by 1 − M, [instances].
        """
        return self.alpha * (self.gamma - kept).relu() + (1 - self.alpha) * (self.gamma + left).relu()


def lead(soft: SoftBatch, mask: Tensor) -> Tensor:
    """p(c) − p(s) ∈ [−1, 1] under a mask [units], [instances]."""
    probs = soft.split.log_probs(soft.run(mask).output).exp()
    own = one_hot(soft.labels, probs.size(1)).bool()
    return probs[own] - probs.masked_fill(own, -1.0).amax(1)
