"""CF-GNNExplainer on models whose decisive edges are known, and its gradient by hand."""

from itertools import combinations
from math import exp

import pytest
import torch

from rcexplainer.baselines import CFGNNExplainer
from rcexplainer.baselines.cfgnnexplainer import flipped
from rcexplainer.baselines.soft_masks import SoftBatch
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import delete_edges, split_model
from rcexplainer.gnn.instances import Instances
from rcexplainer.testing.sample_networks import motif_network, predictions
from tests.baselines.marked import LOLLIPOP, STAR, CountsMarks, marked_graph

STEPS = 100  # enough for these, and a fifth of the default


def removed(explanation) -> set[tuple[int, int]]:
    """The pairs of nodes whose edges it removes."""
    return {tuple(sorted(pair)) for pair in explanation.graph.edge_index[:, explanation.edge_scores > 0.5].t().tolist()}


def soft_batch(threshold: float, marked: list[list[int]]) -> SoftBatch:
    """Lollipops with other nodes marked, as they are predicted by a model that wants more marks than `threshold`."""
    graphs = [marked_graph(LOLLIPOP, one) for one in marked]
    instances = Instances(split_model(CountsMarks("graph", threshold), graphs), graphs)
    labels = instances.passes(lambda done: done.output).argmax(1)
    return SoftBatch(instances.split, *instances[instances.everything], labels)


def test_it_finds_the_one_edge_that_decides() -> None:
    graph = marked_graph(LOLLIPOP, [7])  # a mark at the end of the tail
    model = CountsMarks("graph", 0.5)
    found = CFGNNExplainer(steps=STEPS).fit(model, [graph]).explain(graph, search="none")
    assert removed(found) == {(6, 7)}
    left = delete_edges(graph, found.edge_scores > 0.5)
    assert predictions(model, [graph]).tolist() == [1]
    assert predictions(model, [left]).tolist() == [0]


def test_it_finds_the_neighbour_that_decides() -> None:
    graph = marked_graph(STAR, [3])
    fitted = CFGNNExplainer(task="node", steps=STEPS).fit(CountsMarks("node", 0.5), graph)
    assert removed(fitted.explain(graph, index=0, search="none")) == {(0, 3)}


def test_it_removes_as_few_as_there_can_be() -> None:
    """Marks of different weight: all subsets of the neighbours are tried for the smallest that is enough."""
    weights, threshold = {1: 0.6, 2: 0.26, 3: 0.2, 4: 0.14}, 0.5
    graph = marked_graph(STAR, [])
    graph.x[list(weights), 0] = torch.tensor(list(weights.values()))
    found = CFGNNExplainer(task="node", steps=STEPS).fit(CountsMarks("node", threshold), graph).explain(graph, index=0)
    enough = [
        {(0, node) for node in gone}
        for size in range(5)
        for gone in combinations(weights, size)
        if sum(weights.values()) - sum(weights[node] for node in gone) < threshold
    ]
    assert removed(found) in enough
    assert len(removed(found)) == min(map(len, enough)) == 2


def test_the_gradient_is_that_of_the_formula() -> None:
    """d/dP_u of 1[not flipped] · log p + β Σ (1 − σ(P)), with p = σ(8 · (marks seen − threshold)): by hand."""
    threshold, beta = 1.5, 0.05
    soft = soft_batch(threshold, [[0, 1], [7], [2]])
    assert soft.labels.tolist() == [1, 0, 1]
    p = torch.linspace(-1.5, 2.0, len(soft.units))
    turned = torch.tensor([False, False, True])
    slope = CFGNNExplainer(beta=beta).slope(soft, p, turned)
    kept = [1 / (1 + exp(-value)) for value in p.tolist()]
    marks = [  # along every unit two nodes see each other
        float(soft.batch.x[one, 0] + soft.batch.x[other, 0]) for one, other in soft.units.pair.t().tolist()
    ]
    for u, owner in enumerate(soft.units.owner.tolist()):
        seen = sum(kept[v] * marks[v] for v in range(len(kept)) if soft.units.owner[v] == owner)
        sign = 1 if soft.labels[owner] == 1 else -1
        doubt = 1 / (1 + exp(sign * 8 * (seen - threshold)))  # d log σ(z) / dz = 1 − σ(z)
        pushing = 0 if turned[owner] else sign * doubt * 8 * marks[u]
        expected = (pushing - beta) * kept[u] * (1 - kept[u])
        assert slope[u].item() == pytest.approx(expected, abs=1e-5)


def test_the_distance_alone_reaches_every_unit_and_the_push_ends_with_the_flip() -> None:
    soft = soft_batch(1.5, [[0, 1], [2]])
    p = soft.per_unit(1.0)
    everywhere = torch.ones(2, dtype=torch.bool)
    assert (CFGNNExplainer(beta=0.5).slope(soft, p, everywhere) < 0).all()  # descent puts units back
    assert (CFGNNExplainer(beta=0.0).slope(soft, p, everywhere) == 0).all()
    seen = soft.batch.x[soft.units.pair, 0].sum(0) > 0
    assert torch.equal(CFGNNExplainer(beta=0.0).slope(soft, p, ~everywhere) != 0, seen)


def test_flips_are_of_graphs_whose_edges_are_gone() -> None:
    soft = soft_batch(0.5, [[7], [7], [0]])
    gone = torch.zeros(len(soft.units), dtype=torch.bool)
    assert flipped(soft, gone).tolist() == [False, False, False]
    tail = ((soft.units.pair % 9) == torch.tensor([[6], [7]])).all(0)
    assert flipped(soft, tail & (soft.units.owner == 1)).tolist() == [False, True, False]


def test_of_all_flips_on_the_way_the_smallest_is_kept() -> None:
    """A descent along a given path: no flip, one of three units, one of a single unit, one of two."""
    soft = soft_batch(0.5, [[7]])
    tail = int((soft.units.pair == torch.tensor([[6], [7]])).all(0).nonzero())
    path = [torch.full((9,), 1.0 + number) for number in range(5)]
    for p, gone in zip(path, ([], [0], [tail, 0, 1], [tail], [tail, 0]), strict=True):
        p[gone] = -1.0

    class Along(CFGNNExplainer):
        def slope(self, soft: SoftBatch, p: torch.Tensor, turned: torch.Tensor) -> torch.Tensor:
            step = next(number for number, place in enumerate(path) if torch.allclose(p, place))
            there = path[min(step + 1, len(path) - 1)]
            return (p - there) / (self.lr * (1 - step / self.steps))

    torch.testing.assert_close(Along(steps=5).search(soft), path[3])
    torch.testing.assert_close(Along(steps=2).search(soft), path[1])  # nothing has flipped: the last step


def test_without_a_way_out_it_still_ranks() -> None:
    """A graph without marks is class 0, and deleting makes none: the last step is the answer, with nothing removed."""
    graph, other = marked_graph(LOLLIPOP, []), marked_graph(LOLLIPOP, [0])
    found = CFGNNExplainer(steps=20).fit(CountsMarks("graph", 0.5), [other]).explain(graph, search="prefix")
    assert not removed(found)
    assert not found.counterfactual.flipped
    assert ((found.unit_scores > 0) & (found.unit_scores < 0.5)).all()


def test_what_it_removes_from_houses_flips_them_and_is_little() -> None:
    model, training, houses = motif_network("graphconv")
    found = CFGNNExplainer().fit(model, training[:4]).explain(houses[:10], search="none")
    left = [delete_edges(one.graph, one.edge_scores > 0.5) for one in found]
    assert (predictions(model, left) == 0).float().mean() >= 0.9
    assert sum(len(removed(one)) for one in found) / len(found) <= 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"beta": -0.1}, "beta must be a finite number ≥ 0, got -0.1"),
        ({"steps": 0}, "steps must be a whole number ≥ 1, got 0"),
        ({"lr": 0.0}, "lr must be a finite number > 0, got 0.0"),
        ({"lr": float("nan")}, "lr must be a finite number > 0, got nan"),
        ({"step": 10}, "unknown setting 'step'; did you mean steps?"),
    ],
)
def test_impossible_settings(wrong, message: str) -> None:
    with pytest.raises(RCExplainerError, match=message):
        CFGNNExplainer(**wrong)
