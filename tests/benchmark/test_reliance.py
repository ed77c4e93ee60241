"""How far a network relies on the motif, where the answer is known."""

import math

import torch
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv

from rcexplainer.baselines import Random
from rcexplainer.benchmark.reliance import Reliance, reliance, two_flip
from rcexplainer.gnn import GNN, gnn_config


def test_reliance_of_a_network_that_only_counts_neighbours() -> None:
    """A node of a square has two neighbours; a tail of two edges hangs on one of its corners."""

    class Degree(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GraphConv(1, 1, bias=False)

        def forward(self, x, edge_index):
            z = 4 * self.conv(x, edge_index) - 6  # above 0 with two neighbours, not with one
            return torch.cat([-z, z], 1)

    model = Degree().eval()
    model.conv.lin_rel.weight.data.fill_(1.0)
    model.conv.lin_root.weight.data.fill_(0.0)
    half = torch.tensor([[0, 1, 2, 3, 0, 4], [1, 2, 3, 0, 4, 5]])
    motif = torch.tensor([0, 0, 0, 0, -1, -1]).repeat(2)
    graph = Data(x=torch.ones(6, 1), edge_index=torch.cat([half, half.flip(0)], 1), edge_motif=motif >= 0)
    graph.edge_motif_id, graph.node_motif_id = motif, torch.tensor([0, 0, 0, 0, -1, -1])
    fitted = Random(task="node", hops=2).fit(model, graph)
    (one,) = fitted.explain(graph, index=[1], search="none")  # its own two edges matter, the square's others do not
    assert reliance(fitted.split, [one]) == Reliance(1.0, 0.5, 0.0, 1.0)


def test_a_node_that_needs_three_edges_is_not_flipped_by_two() -> None:
    """A class that lasts as long as one of three neighbours is left; and one that lasts while two are."""

    class Left(torch.nn.Module):
        def __init__(self, least: float) -> None:
            super().__init__()
            self.conv, self.least = GraphConv(1, 1, bias=False), least
            self.conv.lin_rel.weight.data.fill_(1.0)
            self.conv.lin_root.weight.data.fill_(0.0)

        def forward(self, x, edge_index):
            z = self.conv(x, edge_index) - self.least
            return torch.cat([-z, z], 1)

    star = torch.tensor([[0, 0, 0], [1, 2, 3]])
    graph = Data(x=torch.ones(4, 1), edge_index=torch.cat([star, star.flip(0)], 1))
    shares = []
    for least in (0.5, 1.5):
        fitted = Random(task="node", hops=1).fit(Left(least).eval(), graph)
        shares.append(two_flip(fitted.split, fitted.explain(graph, index=[0], search="none")))
    assert shares == [0.0, 1.0]


def test_what_has_no_motif_is_not_asked_about_it() -> None:
    star = torch.tensor([[0, 0, 0], [1, 2, 3]])
    graph = Data(x=torch.ones(4, 1), edge_index=torch.cat([star, star.flip(0)], 1), y=torch.tensor(0))
    graph.edge_motif = torch.zeros(6, dtype=torch.bool)
    marked = graph.clone()
    marked.edge_motif[[0, 3]] = True
    model = gnn_config("paper", 1, 2)
    fitted = Random().fit(GNN(model).eval(), [graph, marked])
    ones = fitted.explain([graph, marked], search="none")
    assert reliance(fitted.split, ones) == reliance(fitted.split, ones[1:])
    assert math.isnan(reliance(fitted.split, ones[:1]).enough)
