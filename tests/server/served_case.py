"""Small models with their explainers, served: graphs, nodes and links."""

import json
from functools import cache
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_add_pool

import rcexplainer as rc
from rcexplainer.method.fitted_explainer import FittedExplainer

pytest.importorskip("fastapi", reason="fastapi is not installed (extra app): the server is not tested")
pytest.importorskip("httpx", reason="httpx is not installed: the server is not tested")

HOST = {"host": "127.0.0.1:8000"}


class Network(nn.Module):
    """Two layers for graphs or nodes."""

    def __init__(self, pooled: bool) -> None:
        super().__init__()
        self.pooled, self.first, self.second = pooled, GraphConv(3, 8), GraphConv(8, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x: Any, edge_index: Any, batch: Any = None) -> Any:
        hidden = self.second(self.first(x, edge_index).tanh(), edge_index).tanh()
        return self.head(global_add_pool(hidden, batch) if self.pooled else hidden)


def ring(nodes: int, seed: int) -> Data:
    """A ring with a chord."""
    ends = torch.tensor([[place, (place + 1) % nodes] for place in range(nodes)] + [[0, nodes // 2]]).t()
    random = torch.Generator().manual_seed(seed)
    return Data(x=torch.randn(nodes, 3, generator=random), edge_index=torch.cat([ends, ends.flip(0)], 1))


@cache
def graph_case() -> tuple[FittedExplainer, list[Data]]:
    """An explainer of a classifier of graphs, and its graphs."""
    graphs = [ring(6 + seed % 5, seed) for seed in range(24)]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Network(True).eval()
    return rc.baselines.Occlusion().fit(model, graphs, class_names=("<script>", "no", "yes")), graphs


@cache
def node_case() -> tuple[FittedExplainer, Data]:
    """An explainer of a classifier of nodes, and its graph."""
    graph = ring(30, 3)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Network(False).eval()
    return rc.baselines.Occlusion(task="node").fit(model, graph), graph


PAIRS = [(0, 1), (3, 9), (5, 20), (7, 8), (2, 14)]


class LinkNetwork(nn.Module):
    """Two layers, and a head for pairs of nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.head = GraphConv(3, 8), GraphConv(8, 8), nn.Linear(16, 2)

    def forward(self, x: Any, edge_index: Any, edge_label_index: Any) -> Any:
        hidden = self.second(self.first(x, edge_index).tanh(), edge_index).tanh()
        return self.head(hidden[edge_label_index.t()].flatten(1))


@cache
def link_case() -> tuple[FittedExplainer, Data]:
    """An explainer of a classifier of links, and its graph."""
    graph = ring(30, 3)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = LinkNetwork().eval()
    return rc.baselines.Occlusion(task="link").fit(model, graph, index=PAIRS), graph


def as_json(graph: Data) -> dict[str, Any]:
    """The graph as a client sends it."""
    return json.loads(json.dumps({"edge_index": graph.edge_index.tolist(), "x": graph.x.tolist()}))
