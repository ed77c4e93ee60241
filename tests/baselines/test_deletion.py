"""Random scores, occlusion and greedy deletion, against loops over single deletions."""

import math

import pytest
import torch
from torch_geometric.data import Batch

from rcexplainer.baselines import GreedyDeletion, Occlusion, Random
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import delete_edges
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs


@pytest.fixture
def model():
    torch.manual_seed(3)
    return zoo.GCNLinear(classes=2).eval()


def probability(model, graph, label: int) -> float:
    batch = Batch.from_data_list([graph])
    with torch.no_grad():
        return float(model(batch.x, batch.edge_index, batch.batch).softmax(1)[0, label])


def without(graph, explanation, unit: int):
    return delete_edges(graph, explanation.units.of_edge == unit)


def test_occlusion_is_the_drop_of_each_single_deletion(model):
    graphs = make_graphs(4, num_classes=2)
    for graph, found in zip(graphs, Occlusion().fit(model, graphs).explain(graphs, search="none"), strict=True):
        whole = probability(model, graph, found.prediction)
        drops = [
            whole - probability(model, without(graph, found, u), found.prediction) for u in range(len(found.units))
        ]
        torch.testing.assert_close(2 * found.unit_scores - 1, torch.tensor(drops), atol=1e-5, rtol=0)


def test_occlusion_has_a_second_reading_that_does_not_depend_on_the_sign(model):
    graphs = make_graphs(4, num_classes=2)
    for graph, found in zip(graphs, Occlusion().fit(model, graphs).explain(graphs, search="none"), strict=True):
        odds = [
            math.log(p / (1 - p))  # of two classes, the centred log-probabilities are ± half of the log-odds
            for p in (
                probability(model, one, found.prediction)
                for one in (graph, *(without(graph, found, u) for u in range(len(found.units))))
            )
        ]
        sizes = torch.tensor([abs(odds[0] - after) / math.sqrt(2) for after in odds[1:]])
        torch.testing.assert_close(found.unit_relevance, sizes / (1 + sizes), atol=1e-5, rtol=0)
        assert found.unit_relevance[found.unit_scores < 0.5].numel()  # some edges oppose the prediction


def test_greedy_takes_the_unit_that_lowers_the_confidence_most(model):
    graphs = make_graphs(3, num_classes=2)
    for graph, found in zip(graphs, GreedyDeletion(0.2).fit(model, graphs).explain(graphs, search="none"), strict=True):
        gone = torch.zeros(graph.num_edges, dtype=torch.bool)
        order = found.unit_scores.argsort(descending=True, stable=True)
        for unit in order[: math.ceil(0.2 * len(found.units))].tolist():
            left = [u for u in range(len(found.units)) if not gone[found.units.of_edge == u].any()]
            values = {
                u: probability(model, delete_edges(graph, gone | (found.units.of_edge == u)), found.prediction)
                for u in left
            }
            assert values[unit] == pytest.approx(min(values.values()), abs=1e-6)
            gone |= found.units.of_edge == unit


def test_greedy_tries_only_the_best_candidates_and_the_rest_follow_by_their_own_effect(model):
    graphs = make_graphs(3, num_classes=2)
    alone = Occlusion().fit(model, graphs).explain(graphs, search="none")
    some = GreedyDeletion(1.0, candidates=3).fit(model, graphs).explain(graphs, search="none")
    for single, found in zip(alone, some, strict=True):
        best = single.unit_scores.argsort(descending=True, stable=True)
        order = found.unit_scores.argsort(descending=True, stable=True)
        assert set(order[:3].tolist()) == set(best[:3].tolist())
        assert order[3:].tolist() == best[3:].tolist()


def test_random_is_random_by_seed(model):
    graphs = make_graphs(3, num_classes=2)
    one, same, other = (Random(seed).fit(model, graphs).explain(graphs[0], search="none") for seed in (0, 0, 1))
    assert torch.equal(one.edge_scores, same.edge_scores)
    assert not torch.equal(one.edge_scores, other.edge_scores)


@pytest.mark.parametrize(
    ("make", "wrong", "message"),
    [
        (Random, {"seed": -1}, "seed must be a whole number ≥ 0, got -1"),
        (Random, {"seed": "node"}, "seed must be a whole number ≥ 0, got 'node'"),
        (GreedyDeletion, {"depth": 0}, r"depth must be a share of the units in \(0, 1\], got 0"),
        (GreedyDeletion, {"candidates": 0}, "candidates must be a whole number ≥ 1, got 0"),
        (GreedyDeletion, {"candidate": 3}, "unknown setting 'candidate'; did you mean candidates?"),
        (Occlusion, {"depth": 1}, "unknown setting 'depth'; known: task, target_class, hops"),
    ],
)
def test_impossible_settings(make, wrong, message: str) -> None:
    with pytest.raises(RCExplainerError, match=message):
        make(**wrong)
