"""A large random graph whose nodes are classified by their neighbours, and a SAGE network trained on it."""

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import coalesce

from rcexplainer import datasets, gnn
from rcexplainer.benchmark.speed.kept import kept_network
from rcexplainer.benchmark.speed.options import BenchOptions

NODES, EDGES = 50_000, 300_000  # edges in both directions
FEATURES, CLASSES = 16, 4
LAYERS, EPOCHS = 2, 60


def large_graph(nodes: int = NODES, edges: int = EDGES) -> Data:
    """Random pairs of nodes; the class of a node is the largest of a few features, summed over its neighbours.

    Args:
        nodes: Number of nodes.
        edges: Number of edges, both directions counted; a few fewer, as pairs that are drawn twice count once.
    """
    generator = torch.Generator().manual_seed(0)
    half = torch.randint(nodes, (2, edges // 2), generator=generator)
    half = half[:, half[0] != half[1]]
    edge_index = coalesce(torch.cat([half, half.flip(0)], 1))
    x = torch.randn(nodes, FEATURES, generator=generator)
    summed = torch.zeros(nodes, CLASSES).index_add(0, edge_index[1], x[edge_index[0], :CLASSES])
    return Data(x=x, edge_index=edge_index, y=summed.argmax(1))


def sage(graph: Data, options: BenchOptions, name: str = "large-graph") -> gnn.GNN:
    """A SAGE network of two layers, trained for a few epochs on a tenth of the nodes."""

    def train() -> gnn.GNN:
        config = gnn.gnn_config("sage", FEATURES, CLASSES, "node", layers=LAYERS)
        settings = gnn.TrainConfig(epochs=EPOCHS, lr=0.01, patience=EPOCHS)
        parts = datasets.Split(*_thirds(int(graph.num_nodes or 0)))
        return gnn.train_gnn(config, [graph], parts, settings=settings, progress=False).model

    return kept_network(options.keep, name, train)


def some_nodes(graph: Data, count: int) -> Tensor:
    """Nodes with neighbours, drawn at random."""
    candidates = graph.edge_index[1].unique()
    order = torch.randperm(len(candidates), generator=torch.Generator().manual_seed(1))
    return candidates[order[:count]]


def _thirds(count: int) -> tuple[Tensor, Tensor, Tensor]:
    """A tenth of the nodes to train on, and as many to validate and to test."""
    order = torch.randperm(count, generator=torch.Generator().manual_seed(2))
    tenth = count // 10
    return order[:tenth], order[tenth : 2 * tenth], order[2 * tenth : 3 * tenth]
