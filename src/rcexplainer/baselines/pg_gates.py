"""PGExplainer's network and loss.

    f_u = mean over both directions of MLP(z_i ‖ z_j [‖ z_r])         z: node embeddings after the last layer
                                                                      z_r: embedding of the explained node or link
    M_u = σ((f_u + log ε − log(1 − ε)) / T),  ε ~ U(b, 1 − b)         T goes from T₀ to T₁ in training
    loss = −log p(c | G ⊙ M) + size · Σ M_e + entropy · mean H(M_e)   e: the edges of the instance

MLP, gates and loss are PyG's. Different from PyG: one gate for both directions of an edge, and batches of instances;
and, where it has a weight, RCExplainer's stability loss (`core.stability`) on noisy copies of the instances, so that
both methods can be compared with the same help.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rcexplainer.baselines.soft_masks import SoftBatch, edges_of, size_and_entropy
from rcexplainer.core.gates import uniform
from rcexplainer.core.mask_gates import mean_mask_logit
from rcexplainer.core.objectives import Terms
from rcexplainer.core.stability import NoisyCopy
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.readings import NoisyReading, Reading
from rcexplainer.gnn.forward import TaskName
from rcexplainer.gnn.node_inputs import node_inputs
from rcexplainer.method.settings import non_negative, number, positive, whole

PYG_PGEXPLAINER: dict[str, Any] = {"lr": 0.003, "edge_size": 0.05, "temperature": (5.0, 2.0), "batch_size": 1}


@dataclass(frozen=True)
class PGSettings:
    """Settings of PGExplainer.

    Raises:
        RCExplainerError: An impossible value.
    """

    epochs: int = 30
    lr: float = 0.01  # of Adam
    edge_size: float = 1.0  # weight of the size of the mask
    edge_ent: float = 1.0  # weight of its entropy
    temperature: tuple[float, float] = (1.0, 0.5)  # T₀ and T₁
    bias: float = 0.01  # b
    batch_size: int = 128  # instances per step
    hidden: int = 64  # width of the MLP
    weight_stable: float = 0.0  # top-k stability under noise, as in RCExplainer; 0: there are no noisy copies
    noise: float = 0.3  # noisy copies have up to this share of edges and features changed
    restarts: int = 1  # networks trained from other first weights, whose masks are averaged

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "hidden", "restarts"):
            whole(name, getattr(self, name))
        for name in ("edge_size", "edge_ent", "weight_stable"):
            non_negative(name, getattr(self, name))
        positive("lr", self.lr)
        number("bias", self.bias, lambda given: 0 < given < 0.5, "between 0 and ½")
        number("noise", self.noise, lambda given: 0 < given <= 1, "a share above 0 and up to 1")
        if not isinstance(self.temperature, tuple) or len(self.temperature) != 2:
            raise RCExplainerError(f"temperature must be a pair (T₀, T₁), got {self.temperature!r}")
        for value in self.temperature:
            positive("temperature", value)


def gate_net(width: int, hidden: int) -> nn.Sequential:
    """A new MLP for inputs of this width."""
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def unit_inputs(soft: SoftBatch) -> tuple[Tensor, Tensor]:
    """Inputs of the MLP for every unit, in one direction and in the other, [units, D] each."""
    with torch.no_grad():
        done = soft.split.run(soft.batch)
    reading = Reading(node_inputs(done, soft.batch, "last"), done.embedding)
    return pair_inputs(reading, soft.units.pair, soft.units.owner, soft.split.task)


def pair_inputs(reading: Reading, pair: Tensor, owner: Tensor, task: TaskName) -> tuple[Tensor, Tensor]:
    """The same for any node pairs.

    Args:
        reading: Node embeddings after the last layer, and embeddings of the instances.
        pair: [2, units] the node pairs.
        owner: [units] their instances.
        task: What an instance is.
    """
    z, (i, j) = reading.nodes, pair
    asked = [] if task == "graph" else [reading.embedding[owner]]
    return torch.cat([z[i], z[j], *asked], 1), torch.cat([z[j], z[i], *asked], 1)


def both_ways(net: nn.Module, inputs: tuple[Tensor, Tensor]) -> Tensor:
    """f [units] from the inputs of both directions."""
    one, other = inputs
    return ((net(one) + net(other)) / 2).squeeze(1)


def unit_logits(net: nn.Module, soft: SoftBatch) -> Tensor:
    """f [units]."""
    return both_ways(net, unit_inputs(soft))


def ensemble_logits(nets: Sequence[nn.Module], soft: SoftBatch) -> Tensor:
    """The logit of the mean mask of several networks, [units]; of one network, its f."""
    inputs = unit_inputs(soft)
    if len(nets) == 1:
        return both_ways(nets[0], inputs)
    return mean_mask_logit(torch.stack([both_ways(net, inputs) for net in nets]), 0)


def noisy_logits(net: nn.Module, reading: NoisyReading, task: TaskName) -> NoisyCopy:
    """f of the units of noisy copies."""
    logits = both_ways(net, pair_inputs(reading, reading.pair, reading.owner, task))
    return NoisyCopy(logits, reading.owner, reading.unit)


def mean_loss(soft: SoftBatch, logits: Tensor, share: float, settings: PGSettings, generator: torch.Generator) -> Terms:
    """The loss of a mini-batch.

    Args:
        soft: The instances.
        logits: f, [units].
        share: Share of the training that is done, which sets the temperature.
        settings: The settings.
        generator: Draws ε.

    Returns:
        The terms "prediction" and "price", means over the instances.
    """
    first, last = settings.temperature
    draws = settings.bias + (1 - 2 * settings.bias) * uniform(len(logits), generator, logits)
    gates = (logits + draws.logit()) / (first * (last / first) ** share)
    price = size_and_entropy(gates, edges_of(soft.units), soft.units, settings.edge_size, settings.edge_ent)
    return {"prediction": -soft.log_prob(soft.run(gates.sigmoid())).mean(), "price": price.mean()}
