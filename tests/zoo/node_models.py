"""Node classifiers that read the whole graph, remember calls or write to their input, beside well-behaved ones."""

import copy
from collections.abc import Callable
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import (
    DiffGroupNorm,
    GCNConv,
    GraphNorm,
    InstanceNorm,
    LayerNorm,
    MeanSubtractionNorm,
    PairNorm,
    SAGEConv,
)
from torch_geometric.utils import scatter, sort_edge_index

from tests.zoo import parts
from tests.zoo.graph_models import middle
from tests.zoo.parts import FEATURES, HIDDEN, ContentCache, ShapeCache, StuckInTraining, Using

NODES = 120


class NodeNet(nn.Module):
    """Two layers, something between them, a head."""

    def __init__(self, between: nn.Module | None = None) -> None:
        super().__init__()
        self.first, self.second = SAGEConv(FEATURES, HIDDEN), SAGEConv(HIDDEN, HIDDEN)
        self.between, self.head = between or parts.Plain(), nn.Linear(HIDDEN, 2)

    def embed(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.between(self.first(x, edge_index), torch.zeros(len(x), dtype=torch.long)).relu()
        return self.second(x, edge_index).relu()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.embed(x, edge_index))


class CachedGCN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(FEATURES, HIDDEN, cached=True), GCNConv(HIDDEN, HIDDEN, cached=True)
        self.head = nn.Linear(HIDDEN, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.second(self.first(x, edge_index).relu(), edge_index).relu())


class PlainGCN(CachedGCN):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(FEATURES, HIDDEN), GCNConv(HIDDEN, HIDDEN)


class NodesByDegree(NodeNet):
    """Normalises by degrees, which a cache may have from another graph."""

    def __init__(self, degrees: nn.Module) -> None:
        super().__init__()
        self.degrees = degrees

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.first(x, edge_index) * self.degrees(x, edge_index)[:, None]
        return self.head(self.second(x.relu(), edge_index).relu())


class SortsNodes(NodeNet):
    """Runs nodes by degree, and may forget to put them back."""

    def __init__(self, puts_back: bool) -> None:
        super().__init__()
        self.puts_back = puts_back

    def embed(self, x: Tensor, edge_index: Tensor) -> Tensor:
        order = scatter(torch.ones(edge_index.size(1)), edge_index[1], dim_size=len(x)).argsort(stable=True)
        place = order.argsort()
        found = super().embed(x[order], place[edge_index])
        return found[place] if self.puts_back else found


class SortsEdges(NodeNet):
    """Sorts the edges it is given in place."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        edge_index.copy_(sort_edge_index(edge_index, num_nodes=len(x)))
        x += 0.5
        return super().forward(x, edge_index)


class FirstNeighbours(NodeNet):
    """Hears at most three neighbours of a node: those whose edges come first."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        order = edge_index[1].argsort(stable=True)
        ends = edge_index[1][order]
        place = torch.arange(len(ends)) - torch.searchsorted(ends, ends)
        return super().forward(x, edge_index[:, order[place < 3]])


class ByHand(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2 * FEATURES, HIDDEN), nn.Linear(2 * HIDDEN, HIDDEN)
        self.head = nn.Linear(HIDDEN, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for layer in (self.first, self.second):
            heard = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
            x = layer(torch.cat([x, heard], 1)).relu()
        return self.head(x)


class CountsEdges(NodeNet):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) + edge_index.size(1) / 1000 * torch.tensor([1.0, 0.0])


class Table(NodeNet):
    """A row for each node, by its position."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Embedding(NODES, FEATURES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x + self.rows(torch.arange(len(x))), edge_index)


class SoftmaxOverNodes(NodeNet):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index).softmax(0)


class MemoryOfNodes(NodeNet):
    """Every call writes its answers to the same memory."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("memory", torch.zeros(200000, 2))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        found = super().forward(x, edge_index)
        self.memory[: len(found)] = found.detach()
        return self.memory[: len(found)]


EXPLAINED: dict[str, Callable[[], nn.Module]] = {
    "plain": NodeNet,
    "gcn": PlainGCN,
    "cached gcn": CachedGCN,
    "batch norm": lambda: NodeNet(Using(nn.BatchNorm1d(HIDDEN))),
    "layer norm, nodes": lambda: NodeNet(Using(LayerNorm(HIDDEN, mode="node"))),
    "group norm": lambda: NodeNet(Using(DiffGroupNorm(HIDDEN, 2))),
    "dropout": lambda: NodeNet(Using(nn.Dropout(0.5))),
    "cache keyed by content": lambda: NodesByDegree(ContentCache()),
    "leaves traces": lambda: NodeNet(parts.Recording()),
    "sorts and puts back": lambda: SortsNodes(puts_back=True),
    "sorts edges in place": SortsEdges,
    "first neighbours": FirstNeighbours,
    "by hand": ByHand,
    "returns its memory": MemoryOfNodes,
}
WHOLE = "mixes the graphs of a batch|reads the whole graph|differently in a"
REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "batch norm in training mode": (lambda: NodeNet(Using(StuckInTraining(HIDDEN))), WHOLE),
    "trains in forward": (lambda: NodeNet(parts.TrainsInForward()), WHOLE),
    "graph norm": (lambda: NodeNet(Using(GraphNorm(HIDDEN))), WHOLE),
    "pair norm": (lambda: NodeNet(Using(PairNorm())), WHOLE),
    "instance norm": (lambda: NodeNet(Using(InstanceNorm(HIDDEN))), WHOLE),
    "layer norm": (lambda: NodeNet(Using(LayerNorm(HIDDEN))), WHOLE),
    "mean subtraction": (lambda: NodeNet(Using(MeanSubtractionNorm())), WHOLE),
    "group norm of the batch": (lambda: NodeNet(Using(DiffGroupNorm(HIDDEN, 2, track_running_stats=False))), WHOLE),
    "token": (lambda: NodeNet(parts.Token(shared=True)), WHOLE),
    "largest of all": (lambda: NodeNet(parts.OverMaximum()), WHOLE),
    "cache keyed by shape": (lambda: NodesByDegree(ShapeCache()), "keeps state from one call to the next"),
    "cache outside": (lambda: NodesByDegree(parts.outside_cache()), f"keeps state|{WHOLE}"),
    "running mean": (lambda: NodeNet(parts.RunningMean()), "random in evaluation mode|keeps state"),
    "every second call": (lambda: NodeNet(parts.EverySecondCall()), "random in evaluation mode|keeps state"),
    "dropout that ignores eval": (lambda: NodeNet(Using(lambda x: F.dropout(x, 0.5))), "random in evaluation mode"),
    "reseeds": (lambda: NodeNet(parts.Reseeding()), WHOLE),
    "sorts": (lambda: SortsNodes(puts_back=False), WHOLE),
    "counts edges": (CountsEdges, "what follows must depend on nothing else"),
    "table": (Table, f"embedding table|on a part of it|{WHOLE}"),
    "softmax over nodes": (SoftmaxOverNodes, f"multi-label|{WHOLE}"),
}


@cache
def graph(nodes: int = NODES, seed: int = 0) -> Data:
    """A sparse undirected graph without labels, its edges in random order."""
    generator = torch.Generator().manual_seed(seed)
    edges = torch.randint(nodes, (2, 2 * nodes), generator=generator)
    edges = edges[:, edges[0] != edges[1]].unique(dim=1)
    edges = torch.cat([edges, edges.flip(0)], 1).unique(dim=1)
    edges = edges[:, torch.randperm(edges.size(1), generator=generator)]
    return Data(x=torch.randn(nodes, FEATURES, generator=generator), edge_index=edges)


@torch.no_grad()
def balanced(model: nn.Module, graph: Data) -> nn.Module:
    """Shift the boundary so that half of the nodes fall on either side."""
    fresh = copy.deepcopy(model)  # a cache must not fill before the model is explained
    logits = fresh(graph.x.clone(), graph.edge_index.clone())
    model.head.bias[0] -= middle(logits[:, 0] - logits[:, 1])
    return model
