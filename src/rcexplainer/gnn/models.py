"""Graph neural networks, natively split into `embed` (φ_gc) and `head` (φ_fc).

    layer    x ← act(norm(conv(x)))     GraphConv of the paper: x_i W_self + Σ_j w_ij x_j W + b
    pool     mean, max or sum over the nodes of a graph; node tasks have none; of a link the product of its two nodes
    head     Linear, or Linears with ReLU between: piecewise linear, as the paper's boundaries ask for

The paper's network: three GraphConv layers of width 20, each output L2-normalised, ReLU after the first two,
mean pool of the last layer, one Linear.
"""

from dataclasses import dataclass, fields
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import (
    GATConv,
    GCNConv,
    GINConv,
    GraphConv,
    SAGEConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)

from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.forward import TaskName

POOLS = {"mean": global_mean_pool, "max": global_max_pool, "sum": global_add_pool}


def _gin(width_in: int, width_out: int) -> GINConv:
    return GINConv(nn.Sequential(nn.Linear(width_in, width_out), nn.ReLU(), nn.Linear(width_out, width_out)))


CONVS: dict[str, Any] = {
    "graphconv": lambda width_in, width_out: GraphConv(width_in, width_out, aggr="add"),
    "gcn": GCNConv,
    "gin": _gin,
    "gat": lambda width_in, width_out: GATConv(width_in, width_out, heads=4, concat=False),
    "sage": SAGEConv,
}
TAKES_EDGE_WEIGHT = {"graphconv", "gcn"}


@dataclass(frozen=True)
class GNNConfig:
    """Everything needed to build a `GNN`; stored with its weights."""

    num_features: int
    num_classes: int
    task: TaskName = "graph"
    conv: Literal["graphconv", "gcn", "gin", "gat", "sage"] = "graphconv"
    width: int = 20
    layers: int = 3
    pool: Literal["mean", "max", "sum"] = "mean"
    concat: bool = False  # the head reads all layers side by side, not the last one only
    batch_norm: bool = False
    l2_norm: bool = False
    last_activation: bool = False  # ReLU after the last layer too
    head_hidden: tuple[int, ...] = ()
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for name, allowed in (("conv", CONVS), ("pool", POOLS), ("task", ("graph", "node", "link"))):
            if getattr(self, name) not in allowed:
                raise RCExplainerError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        if min(self.num_features, self.width, self.layers) < 1 or self.num_classes < 2:
            raise RCExplainerError(f"a GNN needs features, width, layers ≥ 1 and at least 2 classes, got {self}")
        if any(width < 1 for width in self.head_hidden):
            raise RCExplainerError(f"head_hidden must hold widths ≥ 1, got {self.head_hidden}")
        if not 0 <= self.dropout < 1:
            raise RCExplainerError(f"dropout must be in [0, 1), got {self.dropout}")


# The command line's --arch names. `paper` is the architecture of the paper as it was really run.
MODELS: dict[str, dict[str, Any]] = {
    "paper": {"conv": "graphconv", "l2_norm": True},
    "paper-concat": {"conv": "graphconv", "l2_norm": True, "concat": True},
    "paper-deep-head": {"conv": "graphconv", "l2_norm": True, "head_hidden": (32, 32)},
    "graphconv": {
        "conv": "graphconv",
        "width": 64,
        "layers": 5,
        "batch_norm": True,
        "pool": "sum",
        "head_hidden": (64,),
        "last_activation": True,
        "dropout": 0.2,
    },
    "gcn": {"conv": "gcn", "width": 64, "pool": "max"},
    "gin": {
        "conv": "gin",
        "width": 64,
        "batch_norm": True,
        "pool": "sum",
        "head_hidden": (64,),
        "last_activation": True,
    },
    "gat": {"conv": "gat", "width": 64, "pool": "mean"},
    "sage": {"conv": "sage", "width": 64, "pool": "mean"},
    "shallow": {"conv": "graphconv", "width": 64, "layers": 1, "dropout": 0.5},
}


# Which of them is meant where none is named. Two nodes of a link are compared by their neighbours: one layer will do.
USUAL: dict[TaskName, str] = {"graph": "paper", "node": "paper", "link": "shallow"}

# A node set is one graph with few nodes of each kind: without dropout the networks learn them by heart.
TASKS: dict[str, dict[str, Any]] = {"graph": {}, "node": {"dropout": 0.2}, "link": {}}


def gnn_config(name: str, num_features: int, num_classes: int, task: TaskName = "graph", **changes: Any) -> GNNConfig:
    """A named architecture for data of this shape; `changes` are fields of `GNNConfig`."""
    if name not in MODELS:
        near = get_close_matches(name, MODELS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(MODELS)}"
        raise RCExplainerError(f"unknown architecture {name!r}; {hint}")
    if unknown := sorted(changes.keys() - {field.name for field in fields(GNNConfig)}):
        raise RCExplainerError(f"unknown setting {', '.join(unknown)}; known: {', '.join(GNNConfig.__annotations__)}")
    settings = {**TASKS.get(task, {}), **MODELS[name], **changes}
    return GNNConfig(num_features, num_classes, **{"task": task, **settings})


class GNN(nn.Module):
    """`model(x, edge_index, batch, edge_weight)` → logits, one row per graph, or per node for node tasks.

    For link tasks `model(x, edge_index, edge_label_index=pairs)`, one row per pair.
    """

    def __init__(self, config: GNNConfig) -> None:
        super().__init__()
        self.config = config
        widths = [config.num_features] + [config.width] * config.layers
        sizes = list(pairwise(widths))
        self.convs = nn.ModuleList(CONVS[config.conv](width_in, width_out) for width_in, width_out in sizes)
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(width_out) if config.batch_norm else nn.Identity() for _, width_out in sizes
        )
        embedding = config.width * (config.layers if config.concat else 1)
        self.head = mlp([embedding, *config.head_hidden, config.num_classes], config.dropout)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_weight: Tensor | None = None,
        edge_label_index: Tensor | None = None,
    ) -> Tensor:
        return self.head(self.embed(x, edge_index, batch, edge_weight, edge_label_index))

    def embed(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_weight: Tensor | None = None,
        edge_label_index: Tensor | None = None,
    ) -> Tensor:
        """φ_gc: [graphs, d], or [nodes, d] for node tasks, [pairs, d] for link tasks."""
        layers = self.node_layers(x, edge_index, edge_weight)
        z = torch.cat(layers, 1) if self.config.concat else layers[-1]
        if self.config.task == "node":
            return z
        if self.config.task == "link":
            assert edge_label_index is not None, "a link task asks about pairs of nodes: give edge_label_index"
            return z[edge_label_index[0]] * z[edge_label_index[1]]
        return POOLS[self.config.pool](z, batch)

    def node_layers(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> list[Tensor]:
        """Node embeddings after each layer, [nodes, width]."""
        weight = (edge_weight,) if self.config.conv in TAKES_EDGE_WEIGHT else ()
        layers: list[Tensor] = []
        for depth, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True), 1):
            x = norm(conv(x, edge_index, *weight))
            if self.config.l2_norm:
                x = F.normalize(x, dim=1)
            if depth < self.config.layers or self.config.last_activation:
                x = x.relu()
            x = F.dropout(x, self.config.dropout, self.training)
            layers.append(x)
        return layers


def mlp(widths: list[int], dropout: float = 0.0) -> nn.Sequential:
    """Linears with ReLU between them."""
    modules: list[nn.Module] = []
    for width_in, width_out in pairwise(widths):
        modules += [nn.Linear(width_in, width_out), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*modules[:-2])
