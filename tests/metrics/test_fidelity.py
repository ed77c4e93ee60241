"""Fidelity and sufficiency by hand: a model whose probabilities are known, graphs small enough to count on paper."""

import math

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing, global_add_pool

from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import fidelity, sufficiency


class CountEdges(MessagePassing):
    """One more for every edge that comes in."""

    def __init__(self) -> None:
        super().__init__(aggr="add")

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=x)


class ByNumberOfEdges(nn.Module):
    """Logits (0, number of undirected edges − 2½): class 1 with three edges or more."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.head = CountEdges(), nn.Linear(1, 2)
        with torch.no_grad():
            self.head.weight.copy_(torch.tensor([[0.0], [0.5]]))
            self.head.bias.copy_(torch.tensor([0.0, -2.5]))

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(self.count(x, edge_index), batch))


def path(length: int, scores: list[float]) -> Explanation:
    """A path of this length with these scores, as the model above predicts it."""
    there = torch.stack([torch.arange(length), torch.arange(1, length + 1)])
    graph = Data(x=torch.ones(length + 1, 1), edge_index=torch.cat([there, there.flip(0)], 1))
    p = 1 / (1 + math.exp(-(length - 2.5)))
    return Explanation(graph, torch.tensor(scores * 2), int(p > 0.5), torch.tensor([1 - p, p]))


def test_fidelity_by_hand():
    """Ten edges: at sparsity .9 one goes, at .7 three: log-odds 7½ → 6½, 4½; at .1 nine: −1½, a flip."""
    found = fidelity(ByNumberOfEdges(), [path(10, [n / 10 for n in range(10)])], [0.9, 0.7, 0.1])
    before = 1 / (1 + math.exp(-7.5))
    expected = [before - 1 / (1 + math.exp(-odds)) for odds in (6.5, 4.5, -1.5)]
    assert found.drop == pytest.approx(expected, abs=1e-6)
    assert found.flips == (0.0, 0.0, 1.0)
    assert found.sparsity == (0.9, 0.7, 0.1)


def test_fidelity_is_a_mean_and_takes_at_least_one_edge():
    one, two = path(3, [0.1, 0.2, 0.3]), path(4, [0.1, 0.2, 0.3, 0.4])
    both = fidelity(ByNumberOfEdges(), [one, two], [0.99])
    apart = [fidelity(ByNumberOfEdges(), [single], [0.99]) for single in (one, two)]
    assert both.drop[0] == pytest.approx(sum(single.drop[0] for single in apart) / 2)
    assert both.each[0] == pytest.approx([single.drop[0] for single in apart])
    assert apart[0].flips == (1.0,)
    assert both.flips == (0.5,)


def test_sufficiency_by_hand():
    """Ten edges: at sparsity .9 one is left, at .7 three, at .1 nine: log-odds −1½, ½, 6½; the class needs three."""
    found = sufficiency(ByNumberOfEdges(), [path(10, [n / 10 for n in range(10)])], [0.9, 0.7, 0.1])
    before = 1 / (1 + math.exp(-7.5))
    assert found.drop == pytest.approx([before - 1 / (1 + math.exp(-odds)) for odds in (-1.5, 0.5, 6.5)], abs=1e-6)
    assert found.kept == (0.0, 1.0, 1.0)


def test_sufficiency_is_a_mean_over_graphs():
    """At sparsity ½ three of six edges are left, which is enough, and two of four, which is not."""
    found = sufficiency(ByNumberOfEdges(), [path(6, [0.5] * 6), path(4, [0.5] * 4)], [0.5])
    p = {edges: 1 / (1 + math.exp(2.5 - edges)) for edges in (2, 3, 4, 6)}
    assert found.kept == (0.5,)
    assert found.drop == pytest.approx([(p[6] - p[3] + p[4] - p[2]) / 2], abs=1e-6)


def test_what_is_kept_and_what_is_deleted_are_the_whole_graph():
    """Half of the edges: with three of six gone or three of six left, the model counts three."""
    one = path(6, [0.9, 0.1, 0.9, 0.1, 0.9, 0.1])
    assert sufficiency(ByNumberOfEdges(), [one], [0.5]).drop == pytest.approx(
        fidelity(ByNumberOfEdges(), [one], [0.5]).drop
    )


def test_ties_go_by_the_order_of_the_graph():
    one = path(4, [0.5] * 4)
    assert one.at_sparsity(0.5).tolist() == [True, True, False, False] * 2


def test_fidelity_needs_explanations():
    with pytest.raises(RCExplainerError, match="sufficiency needs at least one explanation"):
        sufficiency(ByNumberOfEdges(), [])
    with pytest.raises(RCExplainerError, match="fidelity needs at least one explanation"):
        fidelity(ByNumberOfEdges(), [])


def test_one_number_of_an_explained_model_needs_no_labels() -> None:
    class OneLogit(ByNumberOfEdges):
        def forward(self, *given):
            two = super().forward(*given)
            return two[:, 1:] - two[:, :1]

    one = path(10, [n / 10 for n in range(10)])
    two, single = fidelity(ByNumberOfEdges(), [one], [0.5]), fidelity(OneLogit(), [one], [0.5])
    assert single.drop == pytest.approx(two.drop, abs=1e-6)
