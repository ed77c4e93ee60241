"""Predictions of graphs without edges, class by class."""

import pytest
import torch
from torch import Tensor, nn, tensor
from torch_geometric.data import Data

from rcexplainer import RCExplainer
from rcexplainer.datasets import load
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.edgeless import ClassShare, EdgelessShares, edgeless_shares, stays, stays_thinned
from rcexplainer.gnn import TrainConfig, gnn_config, split_model, train_gnn


class EdgeCount(nn.Module):
    """Class 1 for graphs with a message along an edge that is no self-loop, or with a large bias feature; else class 0.

    The embedding is the sum of the messages and the mean of the second feature.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(2, 2)
        with torch.no_grad():
            self.lin.weight.copy_(tensor([[0.0, 0.0], [1.0, 2.0]]))
            self.lin.bias.copy_(tensor([0.5, 0.0]))

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_weight: Tensor | None = None
    ) -> Tensor:
        batch = torch.zeros(len(x), dtype=torch.long) if batch is None else batch
        graphs = int(batch.max()) + 1
        weight = torch.ones(edge_index.size(1)) if edge_weight is None else edge_weight
        message = weight * x[edge_index[0], 0]
        sent = x.new_zeros(graphs).index_add(0, batch[edge_index[1]], message)
        level = x.new_zeros(graphs).index_add(0, batch, x[:, 1])
        return self.lin(torch.stack([sent, level], 1))


def graph(edges: list[tuple[int, int]], level: float) -> Data:
    both = [pair for one, other in edges for pair in dict.fromkeys([(one, other), (other, one)])]
    index = tensor(both, dtype=torch.long).reshape(-1, 2).t().contiguous()
    return Data(x=tensor([[1.0, level]] + [[1.0, 0.0]] * 2), edge_index=index)


# Class 1 by edges; class 1 by its level whatever the edges; class 0, which has nothing to lose.
BY_EDGES, BY_LEVEL, NEITHER = graph([(0, 1), (1, 2)], 0.0), graph([(0, 1)], 3.0), graph([(0, 1)], -3.0)
LOOPED = graph([(0, 1), (2, 2)], 0.0)


@pytest.fixture(scope="module")
def model() -> EdgeCount:
    return EdgeCount().eval()


def known(model: nn.Module, graphs: list[Data]) -> InstanceSet:
    return InstanceSet.of(split_model(model, graphs, head="lin"), graphs)


@torch.no_grad()
def test_shares_by_hand(model: EdgeCount) -> None:
    data = known(model, [BY_EDGES] * 3 + [BY_LEVEL] + [NEITHER] * 2)
    found = edgeless_shares(data)
    assert found == EdgelessShares((ClassShare(0, 2, 2, 1.0), ClassShare(1, 4, 4, 0.25)))
    assert str(found) == "keep their prediction without any edge: class 0: 100% of 2; class 1: 25% of 4"
    assert found.left == ()


@torch.no_grad()
def test_self_loops_stay(model: EdgeCount) -> None:
    """The graph with a loop keeps that one message, and with it its class."""
    data = known(model, [LOOPED, BY_EDGES])
    assert stays(data.instances, data.label, tensor([0, 1])).tolist() == [True, False]


def test_a_class_can_be_left_by_making_all_edges_weaker(model: EdgeCount) -> None:
    """Four messages of weight w against a bias of ½: class 1 where w > ⅛. Loops keep their weight, levels need none."""
    data = known(model, [BY_EDGES, BY_LEVEL, LOOPED])
    everyone = data.instances.everything
    assert stays_thinned(data.instances, data.label, everyone, 0.25).tolist() == [True, True, True]
    assert stays_thinned(data.instances, data.label, everyone, 0.1).tolist() == [False, True, True]
    assert stays_thinned(data.instances, data.label, everyone[1:2], 0.1).tolist() == [True]


@torch.no_grad()
def test_large_classes_are_sampled(model: EdgeCount) -> None:
    data = known(model, [BY_EDGES, BY_LEVEL] * 20)
    some, again, all_of_them = (edgeless_shares(data, most=most, seed=1).classes[0] for most in (10, 10, 40))
    assert (some.instances, some.tried) == (40, 10)
    assert some == again
    assert all_of_them.share == 0.5


def test_what_follows() -> None:
    shares = EdgelessShares((ClassShare(0, 9, 9, 0.0), ClassShare(1, 9, 9, 0.5), ClassShare(2, 9, 9, 1.0)))
    left, kept = shares.warnings(("mutagen", "x", "other"))
    assert left.startswith("class 0 (mutagen): 0% of 9 instances keep")
    assert "nearly optimal for losses of masks" in left
    assert kept.startswith("class 2 (other): 100% of 9 instances keep")
    assert "can return when more edges are deleted" in kept
    assert shares.left == (0,)
    assert shares.warnings()[0].startswith("class 0: 0% of 9")


def test_a_model_that_cannot_run_a_graph_without_edges_is_fitted_all_the_same(caplog) -> None:
    data = load("ba-2motifs", num_graphs=40)
    model = train_gnn(
        gnn_config("paper", data.num_features, data.num_classes),
        data.graphs,
        data.split,
        settings=TrainConfig(epochs=30, lr=0.02),
        progress=False,
    ).model
    first = model.convs[0]

    def picky(module, inputs):
        if inputs[1].numel() == 0:
            raise ValueError("no edges")

    first.register_forward_pre_hook(picky)
    with caplog.at_level("INFO", logger="rcexplainer"):
        fitted = RCExplainer(epochs=1).fit(model, data.graphs, progress=False)
    assert fitted.edgeless is None
    assert "cannot run a graph without edges (ValueError: no edges)" in caplog.text
