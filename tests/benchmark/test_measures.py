"""Measures of explanations whose truth is known: a model that looks for one edge."""

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_add_pool

from rcexplainer.benchmark.measures import edge_set, is_minimal, motif_flips, verified_counterfactuals
from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import split_model


class CountsMarked(nn.Module):
    """Class 1 where an edge between marked nodes (feature 1) is left, else class 0."""

    def __init__(self):
        super().__init__()
        self.conv, self.lin = GraphConv(1, 1), nn.Linear(1, 2)
        with torch.no_grad():
            self.conv.lin_rel.weight.fill_(1.0)  # relu(10 x_i − 10 + Σ_j x_j): the marked neighbours of a marked node
            self.conv.lin_rel.bias.fill_(-10.0)
            self.conv.lin_root.weight.fill_(10.0)
            self.lin.weight.copy_(torch.tensor([[0.0], [1.0]]))
            self.lin.bias.copy_(torch.tensor([0.5, 0.0]))

    def forward(self, x, edge_index, batch, edge_weight=None):
        return self.lin(global_add_pool(self.conv(x, edge_index, edge_weight).relu(), batch))


def path() -> Data:
    """0–1–2–3; only 1–2 is marked, and the motif."""
    pairs = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    motif = torch.tensor([False, False, True, True, False, False])
    return Data(x=torch.tensor([[0.0], [1.0], [1.0], [0.0]]), edge_index=pairs, edge_motif=motif, y=torch.tensor([1]))


def explained(removed: list[int], scores: list[float], minimal: bool = True) -> Explanation:
    """The path with the units at these places taken away: 0–1, 1–2, 2–3."""
    graph = path()
    unit = torch.tensor([0, 0, 1, 1, 2, 2])
    gone = torch.isin(unit, torch.tensor(removed))
    flipped = 1 in removed
    after = torch.tensor([0.6, 0.4] if flipped else [0.4, 0.6])
    case = Counterfactual(graph, gone.nonzero().flatten(), 1, after, minimal)
    return Explanation(graph, torch.tensor(scores)[unit], 1, torch.tensor([0.02, 0.98]), (), case)


@pytest.fixture(scope="module")
def split():
    complete = (1 - torch.eye(6)).nonzero().T
    marked = Data(x=torch.ones(6, 1), edge_index=complete)
    return split_model(CountsMarked().eval(), [marked, marked])


def test_minimal_is_verified_by_the_model(split):
    assert is_minimal(split, explained([1], [0.1, 0.9, 0.2]))
    assert not is_minimal(split, explained([0, 1], [0.1, 0.9, 0.2]))  # 0–1 can be put back
    assert not is_minimal(split, explained([0], [0.1, 0.9, 0.2]))  # it does not flip


def test_a_false_claim_is_found_out(split):
    good, bad = explained([1], [0.1, 0.9, 0.2]), explained([0, 1], [0.1, 0.9, 0.2])
    found = verified_counterfactuals(split, [good, bad], 0.3)
    assert (found.minimal, found.verified) == (1, 0.5)
    assert found.flipped == 0  # one unit of three is more than 30 %
    honest = verified_counterfactuals(split, [good, explained([0, 1], [0.1, 0.9, 0.2], minimal=False)], 0.3)
    assert (honest.minimal, honest.verified) == (0.5, 1)


def test_nothing_flips(split):
    found = verified_counterfactuals(split, [explained([0], [0.1, 0.2, 0.3])], 0.3)
    assert found.flipped == 0
    assert all(value != value for value in (found.size, found.minimal, found.verified))


def test_the_set_of_edges_above_one_half(split):
    found = edge_set(split, [explained([1], [0.1, 0.9, 0.2]), explained([1], [0.9, 0.4, 0.8])])
    assert found.sparsity == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found.flips == 0.5


def test_motif(split):
    one = explained([1], [0.1, 0.9, 0.2])
    assert motif_flips(split, [one]) == 1
    bare = Explanation(Data(x=one.graph.x, edge_index=one.graph.edge_index), one.edge_scores, 1, one.probabilities)
    assert motif_flips(split, [one, bare]) == 1
    assert motif_flips(split, [bare]) != motif_flips(split, [bare])
