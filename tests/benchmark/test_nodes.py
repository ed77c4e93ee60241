"""Node sets at toy size: what is measured, on which nodes, and which networks count."""

import functools
import math
from types import SimpleNamespace

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv

from rcexplainer.baselines import Random
from rcexplainer.benchmark import networks as running
from rcexplainer.benchmark import nodes
from rcexplainer.benchmark.nodes import (
    NodeEvaluation,
    NodeResult,
    evaluate_nodes,
    motif_nodes,
    rightly,
    split_links,
    split_motifs,
)
from rcexplainer.benchmark.reliance import Reliance, reliance, two_flip
from rcexplainer.datasets import load
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN, TrainConfig, gnn_config, train_gnn


@pytest.fixture(scope="module")
def found() -> NodeEvaluation:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "training_settings", lambda name: TrainConfig(epochs=60, lr=0.02))
        patch.setattr(nodes, "REFERENCES", 10)
        return evaluate_nodes("tree-cycles", settings={"epochs": 2}, progress=False)


def test_every_method_is_measured_on_unseen_nodes(found) -> None:
    assert [one.method for one in found.results] == [*["rcexplainer"] * 3, "greedy", "occlusion", "random"]
    unseen, right, everyone = found.results[:3]
    assert (unseen.nodes, right.nodes, everyone.nodes) == ("unseen", "unseen, rightly predicted", "all")
    assert 0 < right.count <= unseen.count
    assert unseen.count * 2 == everyone.count == len(motif_nodes(load("tree-cycles").graphs[0]))
    for one in found.results:
        for share in (one.auc, one.accuracy, one.auc_every, one.accuracy_every, one.flipped, one.motif_flips):
            assert 0 <= share <= 1


def test_rightly_predicted_are_those_whose_prediction_is_their_label() -> None:
    data = SimpleNamespace(task="node", graph=Data(y=torch.tensor([1, 0, 2])))
    shown = [SimpleNamespace(index=index, prediction=guess) for index, guess in ((2, 2), (0, 0), (1, 0))]
    assert [one.index for one in rightly(data, shown)] == [2, 1]
    assert rightly(SimpleNamespace(task="link"), shown) == []


def test_how_far_a_network_relies_on_the_motif_is_measured(found) -> None:
    (one,) = found.reliance
    assert all(0 <= share <= 1 for share in (one.enough, one.idle, one.foreign, one.two))
    assert "keep their prediction" in found.tables()[-1][1]


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
    fitted = Random(task="node").fit(model, graph, hops=2)
    (one,) = fitted.explain(graph, index=[1], search="none")  # its own two edges matter, the square's others do not
    assert reliance(fitted.split, [one]) == Reliance(1.0, 0.5, 0.0, 1.0)


def test_no_motif_is_on_both_sides() -> None:
    data = load("tree-cycles")
    graph = data.graph
    seen, unseen = split_motifs(data, None, seed=3)
    ids = graph.node_motif_id
    assert not torch.isin(ids[seen], ids[unseen]).any()
    assert sorted([*seen.tolist(), *unseen.tolist()]) == motif_nodes(graph).tolist()


def test_networks_that_do_not_use_the_motif_are_left_out_of_the_headline() -> None:
    results = tuple(
        NodeResult(seed, "rcexplainer", "unseen", 5, auc, auc, auc, auc, 1.0, 1.0, share)
        for seed, auc, share in ((0, 0.9, 0.95), (1, 0.5, 0.2), (2, 1.0, 0.9))
    )
    found = NodeEvaluation(
        "x", "paper", "default", {}, (1.0, 1.0, 1.0), (0.95, 0.2, 0.9), (Reliance(1, 0.2, 0.1, 1),), results
    )
    (headline,) = found.means(headline=True)
    assert (headline["networks"], headline["auc"]) == (2, "0.950 ± 0.071")
    (everyone,) = found.means(headline=False)
    assert (everyone["networks"], everyone["auc"]) == (3, "0.800 ± 0.265")
    assert "2 of 3 networks" in found.tables()[-1][1]


def test_a_graph_set_is_refused() -> None:
    with pytest.raises(RCExplainerError, match="ba-2motifs is a graph set: this is for sets of nodes or links"):
        evaluate_nodes("ba-2motifs", progress=False)


def test_links_are_fitted_on_the_training_part_and_judged_on_the_test_part(monkeypatch) -> None:
    small = functools.partial(load, num_pairs=150)
    monkeypatch.setattr(running, "load", small)
    monkeypatch.setattr(nodes, "REFERENCES", 5)
    found = evaluate_nodes("shared-neighbours", "shallow", settings={"epochs": 3}, progress=False)
    own = found.results[0]
    assert (own.method, own.nodes) == ("rcexplainer", "unseen")
    assert 0 < own.count <= int(small("shared-neighbours").split.test.numel())
    assert own.auc > 0.5
    data = small("shared-neighbours")
    network = train_gnn(
        gnn_config("shallow", data.num_features, 2, "link"), data.graphs, data.split, progress=False
    ).model
    seen, unseen = split_links(data, network, 0)
    parts = [{tuple(pair) for pair in some.tolist()} for some in (seen, unseen)]
    assert not parts[0] & parts[1]
    linked = {tuple(pair) for pair in data.graph.edge_label_index.t()[data.graph.edge_label == 1].tolist()}
    assert parts[0] | parts[1] <= linked


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
        fitted = Random(task="node").fit(Left(least).eval(), graph, hops=1)
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
