"""PGExplainer's network, and what it is trained on.

    f_u = mean over both directions of MLP(z_i ‖ z_j [‖ z_r])         z: node embeddings after the last layer
                                                                      z_r: what the head reads of the node or link asked
    M_u = σ((f_u + log ε − log(1 − ε)) / T),  ε ~ U(b, 1 − b)         T goes from T₀ to T₁ in training
    loss = −log p(c | G ⊙ M) + size · Σ M_e + entropy · mean H(M_e)   e: the edges of the instance

MLP, gates and loss are PyG's. Ours are one gate for both directions of an edge, and many instances at a time.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rcexplainer.baselines.soft_masks import SoftBatch, edges_of, size_and_entropy
from rcexplainer.core.gates import uniform
from rcexplainer.core.objectives import Terms
from rcexplainer.errors import RCExplainerError

PYG: dict[str, Any] = {"lr": 0.003, "edge_size": 0.05, "temperature": (5.0, 2.0), "batch_size": 1}


@dataclass(frozen=True)
class PGSettings:
    epochs: int = 30
    lr: float = 0.01
    edge_size: float = 1.0
    edge_ent: float = 1.0
    temperature: tuple[float, float] = (1.0, 0.5)  # T₀ and T₁
    bias: float = 0.01  # b
    batch_size: int = 128
    hidden: int = 64

    def __post_init__(self) -> None:
        whole = min(self.epochs, self.batch_size, self.hidden) >= 1
        sizes = self.lr > 0 and self.edge_size >= 0 and self.edge_ent >= 0 and min(self.temperature) > 0
        if not (whole and sizes and 0 < self.bias < 0.5):
            raise RCExplainerError(
                "epochs, batch_size and hidden must be ≥ 1, lr and temperature > 0, edge_size and edge_ent ≥ 0 and "
                f"bias between 0 and ½, got {self}"
            )


def gate_net(width: int, hidden: int) -> nn.Sequential:
    """The MLP."""
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def unit_inputs(soft: SoftBatch) -> tuple[Tensor, Tensor]:
    """What the MLP reads of every unit, in the one direction and in the other, [units, D] each."""
    with torch.no_grad():
        done = soft.split.run(soft.batch)
    z, (i, j) = done.layers[-1], soft.units.pair
    asked = [] if soft.split.task == "graph" else [done.embedding[soft.units.owner]]
    return torch.cat([z[i], z[j], *asked], 1), torch.cat([z[j], z[i], *asked], 1)


def unit_logits(net: nn.Module, soft: SoftBatch) -> Tensor:
    """f [units]."""
    one, other = unit_inputs(soft)
    return ((net(one) + net(other)) / 2).squeeze(1)


def mean_loss(soft: SoftBatch, logits: Tensor, share: float, settings: PGSettings, generator: torch.Generator) -> Terms:
    """The loss of some instances when this share of the training is done."""
    first, last = settings.temperature
    draws = settings.bias + (1 - 2 * settings.bias) * uniform(len(logits), generator, logits)
    gates = (logits + draws.logit()) / (first * (last / first) ** share)
    price = size_and_entropy(gates, edges_of(soft.units), soft.units, settings.edge_size, settings.edge_ent)
    return {"prediction": -soft.log_prob(soft.run(gates.sigmoid())).mean(), "price": price.mean()}
