"""Small random graphs, and everything about a model that must not change."""

import torch
from torch_geometric.data import Data

from rcexplainer.testing.model_state import state_of as state_of
from tests.gnn.zoo import CLASSES, EDGE_FEATURES, FEATURES


def make_graphs(
    count: int,
    num_nodes: int = 10,
    directed: bool = False,
    self_loops: bool = False,
    edge_weight: bool = False,
    num_classes: int = CLASSES,
    seed: int = 0,
) -> list[Data]:
    random = torch.Generator().manual_seed(seed)
    graphs = []
    for number in range(count):
        n = num_nodes + number % 3
        pairs = torch.triu_indices(n, n, 1)
        edges = pairs[:, torch.rand(pairs.size(1), generator=random) < 0.35]
        if directed:
            edges = torch.where(torch.rand(edges.size(1), generator=random) < 0.5, edges, edges.flip(0))
        else:
            edges = torch.cat([edges, edges.flip(0)], 1)
        if self_loops:
            edges = torch.cat([edges, torch.arange(n).repeat(2, 1)], 1)
            edges = edges[:, torch.randperm(edges.size(1), generator=random)]
        graph = Data(
            x=torch.randn(n, FEATURES, generator=random),
            edge_index=edges,
            edge_attr=torch.randn(edges.size(1), EDGE_FEATURES, generator=random),
            y=torch.tensor([number % num_classes]),
        )
        if edge_weight:
            graph.edge_weight = torch.rand(edges.size(1), generator=random) + 0.5
        graphs.append(graph)
    return graphs
