"""Instances of growing size: one graph with more and more edges, and networks with more and more classes."""

import torch
from torch_geometric.data import Data
from torch_geometric.utils import coalesce

from rcexplainer import datasets, gnn
from rcexplainer.benchmark.speed.options import BenchOptions

DIM = 16  # features of the graphs with many classes
NODES = 12  # of each of them
EPOCHS = 40  # of their network


def growing_graph(edges: int, like: Data) -> Data:
    """A connected random graph with about this number of edges (both directions).

    Args:
        edges: The number of edges; a few fewer, as pairs that are drawn twice count once.
        like: A graph; attributes of nodes and edges are drawn from its own.
    """
    generator = torch.Generator().manual_seed(edges)
    nodes = max(edges // 4, 4)
    path = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    chords = torch.randint(nodes, (2, edges // 2 - nodes + 1), generator=generator)
    half = torch.cat([path, chords[:, chords[0] != chords[1]]], 1)
    found = like.clone()
    found.edge_index = coalesce(torch.cat([half, half.flip(0)], 1)).to(like.edge_index.device)
    for name in like.keys():  # noqa: SIM118  a Data is no dict
        count = nodes if like.is_node_attr(name) else found.num_edges if like.is_edge_attr(name) else 0
        if count and name != "edge_index":
            found[name] = like[name][torch.randint(len(like[name]), (count,), generator=generator)]
    return found


def many_classes(classes: int, count: int, options: BenchOptions) -> tuple[gnn.GNN, list[Data]]:
    """Rings with a chord whose features lie around the centre of their class, and a network that separates them.

    Args:
        classes: Number of classes.
        count: Number of graphs.
        options: Where they are.

    Returns:
        The network and the graphs, on the device.
    """
    generator = torch.Generator().manual_seed(classes)
    centres = torch.randn(classes, DIM, generator=generator)
    graphs = [_ring(centres, place % classes, generator) for place in range(count)]
    labels = [int(graph.y) for graph in graphs]
    config = gnn.gnn_config("paper", DIM, classes)
    settings = gnn.TrainConfig(epochs=EPOCHS, lr=0.02, patience=EPOCHS)
    parts = datasets.stratified_split(labels, 0)
    model = gnn.train_gnn(config, graphs, parts, settings=settings, progress=False).model
    return model.to(options.where), [graph.to(options.where) for graph in graphs]


def _ring(centres: torch.Tensor, label: int, generator: torch.Generator) -> Data:
    around = torch.arange(NODES)
    half = torch.stack([around, around.roll(-1)])
    chord = torch.randint(NODES, (1,), generator=generator)
    half = torch.cat([half, torch.stack([chord, (chord + NODES // 2) % NODES])], 1)
    x = centres[label] + torch.randn(NODES, DIM, generator=generator)
    return Data(x=x, edge_index=coalesce(torch.cat([half, half.flip(0)], 1)), y=torch.tensor([label]))
