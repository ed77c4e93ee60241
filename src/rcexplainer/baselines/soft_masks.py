"""Soft edge masks on a batch of instances, for methods that differentiate through them.

    run(M)        the model on G ⊙ M, M one weight per unit
    log_prob      log p(c), c the predicted class
    log_odds      log p(c) − log(1 − p(c)): the same without the saturation at p = 1

Rows are instances, and no operation mixes rows: an instance has the same result alone and in any batch.
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
from rcexplainer.method.unit_readings import UnitReadings


@dataclass(frozen=True, eq=False)
class SoftBatch:
    """A batch of instances and the model under a mask."""

    split: SplitModel
    batch: Batch
    units: Units
    labels: Tensor  # predicted classes, [instances]

    def run(self, mask: Tensor) -> Pass:
        """The model with units weighted by `mask` [units]; edges that belong to no unit keep their weight."""
        return self.split.run(self.batch, self.units.to_edges(mask, 1.0))

    def log_prob(self, done: Pass) -> Tensor:
        """log p(c) of a run, [instances], differentiable."""
        return self.split.log_probs(done.output).gather(1, self.labels[:, None]).squeeze(1)

    def log_odds(self, done: Pass) -> Tensor:
        """Log-odds of c of a run, [instances], differentiable."""
        others = self.split.log_probs(done.output).scatter(1, self.labels[:, None], -torch.inf)
        return self.log_prob(done) - others.logsumexp(1)

    def per_unit(self, value: float) -> Tensor:
        """A tensor [units] filled with a value, in the model's precision."""
        like = next(self.split.model.parameters(), torch.zeros(()))
        return torch.full((len(self.units),), value, dtype=like.dtype, device=self.units.owner.device)


def in_batches(instances: Instances, labels: Tensor, score: Callable[[SoftBatch], Tensor]) -> Tensor:
    """Compute scores batch after batch, with gradients enabled and the model left as it was.

    Args:
        instances: The instances.
        labels: Their predicted classes, [n].
        score: Scores of the units of a batch.

    Returns:
        [units] of all instances, detached.
    """
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
    """size · Σ_e m_e + entropy · mean_e H(m_e) with m = σ(f), [instances].

    Args:
        logits: f, [units].
        edges: How many edges each unit counts for, [units].
        units: The units.
        size: Weight of the size.
        entropy: Weight of the entropy H.
    """
    mask = logits.sigmoid()
    doubt = mask * softplus(-logits) + (1 - mask) * softplus(logits)  # −m log m − (1 − m) log(1 − m)
    total = torch.zeros_like(units.counts).index_add(0, units.owner, edges).clamp_min(1)
    values = edges * (size * mask + entropy * doubt / total[units.owner])
    return torch.zeros_like(total, dtype=values.dtype).index_add(0, units.owner, values)


def edges_of(units: Units) -> Tensor:
    """How many edges each unit has, [units]."""
    return torch.bincount(units.of_edge[units.of_edge >= 0], minlength=len(units))


def signed_readings(values: Tensor) -> UnitReadings:
    """Evidence for the prediction (above 0) and against it (below): the score keeps the sign, the relevance the size.

    Args:
        values: [units], any numbers.
    """
    return UnitReadings(squash(values), softsign(values.abs()))


def squash(values: Tensor) -> Tensor:
    """Map any number to (0, 1) and 0 to ½, strictly increasing; unlike σ it does not saturate to ties."""
    return (1 + softsign(values)) / 2
