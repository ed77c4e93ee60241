"""Graph neural networks, natively split into `embed` (φ_gc) and `head` (φ_fc).

    layer    x ← act(norm(conv(x)))     GraphConv of the paper: x_i W_self + Σ_j w_ij x_j W + b
    pool     mean, max or sum over the nodes of a graph; none for node tasks; the product of the two nodes for links
    head     Linear, or Linears with ReLU between: piecewise linear, as the paper's boundaries require

The paper's network: three GraphConv layers of width 20, each output L2-normalised, ReLU after the first two, mean pool
of the last layer, one Linear.
"""

from dataclasses import dataclass, fields
from difflib import get_close_matches
from itertools import pairwise
from numbers import Integral, Real
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


def is_whole(value: object) -> bool:
    """Whether a value is a whole number; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: object) -> bool:
    """Whether a value is a number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True)
class GNNConfig:
    """Everything needed to build a `GNN`; stored with its weights.

    Args:
        num_features: Features per node.
        num_classes: Classes, at least 2.
        task: "graph", "node" or "link".
        conv: The kind of message-passing layer.
        width: Width of every layer.
        layers: Message-passing layers.
        pool: How a graph's nodes become one embedding; graph tasks only.
        concat: Whether the head reads all layers side by side instead of the last one.
        batch_norm: Whether each layer is followed by batch normalisation.
        l2_norm: Whether each layer's output is scaled to length 1.
        last_activation: Whether ReLU follows the last layer too.
        head_hidden: Widths of the head's hidden layers.
        dropout: Probability of dropout after each layer and in the head.

    Raises:
        RCExplainerError: An impossible value.
    """

    num_features: int
    num_classes: int
    task: TaskName = "graph"
    conv: Literal["graphconv", "gcn", "gin", "gat", "sage"] = "graphconv"
    width: int = 20
    layers: int = 3
    pool: Literal["mean", "max", "sum"] = "mean"
    concat: bool = False
    batch_norm: bool = False
    l2_norm: bool = False
    last_activation: bool = False
    head_hidden: tuple[int, ...] = ()
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for name, allowed in (("conv", CONVS), ("pool", POOLS), ("task", ("graph", "node", "link"))):
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in allowed:
                raise RCExplainerError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        for name in ("num_features", "num_classes", "width", "layers"):
            if not is_whole(getattr(self, name)):
                raise RCExplainerError(f"{name} must be a whole number, got {getattr(self, name)!r}")
        if min(self.num_features, self.width, self.layers) < 1 or self.num_classes < 2:
            raise RCExplainerError(f"a GNN needs features, width, layers ≥ 1 and at least 2 classes, got {self}")
        several = isinstance(self.head_hidden, tuple | list)
        if not several or not all(is_whole(width) and width >= 1 for width in self.head_hidden):
            raise RCExplainerError(f"head_hidden must hold widths ≥ 1, got {self.head_hidden}")
        if not is_real(self.dropout) or not 0 <= self.dropout < 1:
            raise RCExplainerError(f"dropout must be in [0, 1), got {self.dropout}")


# The architectures that have a name, as fields of `GNNConfig`. `paper` is the paper's, as the authors ran it.
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


# The architecture of a task if none is named. The nodes of a link are compared by their neighbours: one layer will do.
DEFAULT_MODELS: dict[TaskName, str] = {"graph": "paper", "node": "paper", "link": "shallow"}

# Defaults of a task. A node dataset is one graph with few nodes of each kind: without dropout networks overfit to them.
TASK_FIELDS: dict[str, dict[str, Any]] = {"graph": {}, "node": {"dropout": 0.2}, "link": {}}


def gnn_config(name: str, num_features: int, num_classes: int, task: TaskName = "graph", **changes: Any) -> GNNConfig:
    """A named architecture for a dataset.

    Args:
        name: One of `MODELS`.
        num_features: Features per node.
        num_classes: Classes.
        task: "graph", "node" or "link".
        **changes: Other fields of `GNNConfig`.

    Raises:
        RCExplainerError: An unknown name or field, or an impossible value.
    """
    if not isinstance(name, str) or name not in MODELS:
        near = get_close_matches(str(name), MODELS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(MODELS)}"
        raise RCExplainerError(f"unknown architecture {name!r}; {hint}")
    if unknown := sorted(changes.keys() - {field.name for field in fields(GNNConfig)}):
        raise RCExplainerError(f"unknown setting {', '.join(unknown)}; known: {', '.join(GNNConfig.__annotations__)}")
    settings = {**(TASK_FIELDS.get(task, {}) if isinstance(task, str) else {}), **MODELS[name], **changes}
    return GNNConfig(num_features, num_classes, **{"task": task, **settings})


class GNN(nn.Module):
    """A graph neural network: `model(x, edge_index, batch, edge_weight)` → logits.

    They have one row per graph, or per node in a node task. In a link task `model(x, edge_index,
    edge_label_index=pairs)` gives one row per pair.

    Args:
        config: The architecture.
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
        """Logits [instances, C]; arguments as for `embed`."""
        return self.head(self.embed(x, edge_index, batch, edge_weight, edge_label_index))

    def embed(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_weight: Tensor | None = None,
        edge_label_index: Tensor | None = None,
    ) -> Tensor:
        """φ_gc: [graphs, d], or [nodes, d] for node tasks, [pairs, d] for link tasks.

        Args:
            x: Node features, [nodes, F].
            edge_index: [2, E].
            batch: [nodes] the graph of each node; None for a single graph.
            edge_weight: [E]; layers that take no weights ignore it.
            edge_label_index: [2, pairs], for link tasks.
        """
        layers = self.node_layers(x, edge_index, edge_weight)
        z = torch.cat(layers, 1) if self.config.concat else layers[-1]
        if self.config.task == "node":
            return z
        if self.config.task == "link":
            if edge_label_index is None:
                raise RCExplainerError("a link task needs edge_label_index: the pairs of nodes to predict")
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
    """Linears of these widths, with ReLU and dropout between them."""
    modules: list[nn.Module] = []
    for width_in, width_out in pairwise(widths):
        modules += [nn.Linear(width_in, width_out), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*modules[:-2])
