"""Small random graphs on which methods are checked."""

import torch
from torch_geometric.data import Data

FEATURES = 5
EDGE_FEATURES = 3


def random_graphs(count: int, num_nodes: int, num_classes: int = 2, seed: int = 0) -> list[Data]:
    """Undirected graphs with self-loops, edge attributes and edges in random order.

    Args:
        count: How many graphs.
        num_nodes: Nodes of the first graph; others have up to two more.
        num_classes: Number of labels.
        seed: Random seed.
    """
    random = torch.Generator().manual_seed(seed)
    graphs = []
    for number in range(count):
        n = num_nodes + number % 3
        pairs = torch.triu_indices(n, n, 1)
        edges = pairs[:, torch.rand(pairs.size(1), generator=random) < 0.35]
        edges = torch.cat([edges, edges.flip(0), torch.arange(n).repeat(2, 1)], 1)
        edges = edges[:, torch.randperm(edges.size(1), generator=random)]
        graphs.append(
            Data(
                x=torch.randn(n, FEATURES, generator=random),
                edge_index=edges,
                edge_attr=torch.randn(edges.size(1), EDGE_FEATURES, generator=random),
                y=torch.tensor([number % num_classes]),
            )
        )
    return graphs


def sample_graphs(count: int = 4) -> list[Data]:
    """The graphs on which methods are fitted."""
    return random_graphs(count, 7)


def whole_graph(num_nodes: int = 14) -> Data:
    """One graph for node and link tasks."""
    (graph,) = random_graphs(1, num_nodes)
    graph.y = None
    return graph
