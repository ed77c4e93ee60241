"""What methods see that weigh edges softly: a batch of instances, and the model on it under a mask.

    run(M)        the model on G ⊙ M, M one weight per unit
    log_prob      log p(c), c the predicted class
    log_odds      log p(c) − log(1 − p(c)): the same without the saturation at p = 1

One row per instance, and nothing that joins the rows: what is found is the same alone and in any batch.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus, softsign
from torch_geometric.data import Batch

from rcexplainer.core.units import Units
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import Pass, SplitModel


@dataclass(frozen=True, eq=False)
class SoftBatch:
    split: SplitModel
    batch: Batch
    units: Units
    labels: Tensor  # [instances] the predicted class

    def run(self, mask: Tensor) -> Pass:
        """The model with every unit weighed by `mask` [units]; what is no unit counts as it is."""
        return self.split.run(self.batch, self.units.to_edges(mask, 1.0))

    def log_prob(self, done: Pass) -> Tensor:
        """[instances] of a run, differentiable."""
        return self.split.log_probs(done.output).gather(1, self.labels[:, None]).squeeze(1)

    def log_odds(self, done: Pass) -> Tensor:
        """[instances] of a run, differentiable."""
        others = self.split.log_probs(done.output).scatter(1, self.labels[:, None], -torch.inf)
        return self.log_prob(done) - others.logsumexp(1)

    def per_unit(self, value: float) -> Tensor:
        """The same number for every unit, as exact as the model computes."""
        like = next(self.split.model.parameters(), torch.zeros(()))
        return torch.full((len(self.units),), value, dtype=like.dtype, device=self.units.owner.device)


def in_batches(instances: Instances, labels: Tensor, score: Callable[[SoftBatch], Tensor]) -> Tensor:
    """`score` of every unit, batch after batch, with gradients switched on and the model left as it was."""
    if not len(instances.units):
        return torch.zeros(0, device=instances.units.owner.device)
    with instances.split.scope, torch.enable_grad():
        return torch.cat(
            [
                score(SoftBatch(instances.split, *instances[ids], labels[ids])).detach()
                for ids in instances.chunks(instances.everything)
            ]
        )


def size_and_entropy(logits: Tensor, edges: Tensor, units: Units, size: float, entropy: float) -> Tensor:
    """[instances] size · Σ_e m_e + entropy · mean_e H(m_e) with m = σ(f); a unit stands for so many `edges` [units]."""
    mask = logits.sigmoid()
    doubt = mask * softplus(-logits) + (1 - mask) * softplus(logits)  # −m log m − (1 − m) log(1 − m)
    total = torch.zeros_like(units.counts).index_add(0, units.owner, edges).clamp_min(1)
    values = edges * (size * mask + entropy * doubt / total[units.owner])
    return torch.zeros_like(total, dtype=values.dtype).index_add(0, units.owner, values)


def edges_of(units: Units) -> Tensor:
    """How many edges each unit stands for, [units]."""
    return torch.bincount(units.of_edge[units.of_edge >= 0], minlength=len(units))


def squash(values: Tensor) -> Tensor:
    """From any number to (0, 1) and from 0 to ½, in the order of the numbers: unlike σ it does not end in ties."""
    return (1 + softsign(values)) / 2
