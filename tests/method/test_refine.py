"""`explain(refine=N)`: model runs spent on the ranking itself, for every method and task."""

import logging
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics import fidelity
from rcexplainer.testing.sample_graphs import random_graphs, sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import LinkNetwork, random_network, three_class_network
from tests.baselines.test_conformance import QUICK_CASES
from tests.method.test_verification import FromSize, asked_alone, fitted_then_mixing, true_claims

RUNS = 20


@pytest.fixture(scope="module")
def fitted() -> rc.method.fitted_explainer.FittedExplainer:
    return QUICK_CASES["gradient"].fit(random_network("graphconv"))


def graphs() -> list[Data]:
    return random_graphs(6, 12, seed=4)


def same(one: Explanation, other: Explanation) -> None:
    """Bitwise."""
    assert torch.equal(one.edge_scores, other.edge_scores)
    assert (one.counterfactual is None) == (other.counterfactual is None)
    if one.counterfactual is not None and other.counterfactual is not None:
        assert torch.equal(one.counterfactual.columns, other.counterfactual.columns)


@pytest.mark.parametrize("name", QUICK_CASES)
def test_every_method_can_be_refined(name: str, monkeypatch) -> None:
    case = QUICK_CASES[name]
    explainer = case.fitted
    plain = explainer.explain(sample_graphs(), search="none")
    counted: list[int] = []
    original = Instances.log_probs

    def log_probs(self: Instances, ids: Tensor, removed: Tensor) -> Tensor:
        counted.extend(ids.tolist())
        return original(self, ids, removed)

    monkeypatch.setattr(Instances, "log_probs", log_probs)
    explainer.explain(sample_graphs(), search="none")
    own, _ = len(counted), counted.clear()  # methods that delete run copies of their own
    found = explainer.explain(sample_graphs(), search="none", refine=RUNS)
    assert len(counted) - own == sum(one.refined for one in found)
    for before, after in zip(plain, found, strict=True):
        assert 0 < after.refined <= RUNS
        assert before.refined == 0
        assert 0 <= float(after.unit_scores.min()) <= float(after.unit_scores.max()) <= 1
        assert len(after.unit_scores.unique()) >= min(2, len(after.units))
    assert sum(fidelity(explainer.split, found, [0.9, 0.8]).drop) >= sum(
        fidelity(explainer.split, plain, [0.9, 0.8]).drop
    )


def test_the_ranking_gets_better_the_more_runs_it_may_have(fitted) -> None:
    drops = []
    for runs in (None, 8, 60, 600):
        found = fitted.explain(graphs(), search="none", refine=runs)
        drops.append(sum(fidelity(fitted.split, found, [0.95, 0.9, 0.85, 0.8, 0.75]).drop))
    assert drops[0] < drops[1] < drops[2] <= drops[3]


def test_without_it_nothing_changes(fitted) -> None:
    for search in ("none", "prefix", "greedy"):
        for one, other in zip(
            fitted.explain(graphs(), search=search), fitted.explain(graphs(), search=search, refine=None), strict=True
        ):
            same(one, other)
            assert one.refined == other.refined == 0
            assert "refined" not in repr(one)


def test_alone_in_a_list_in_a_batch_and_in_a_stream(fitted) -> None:
    together = fitted.explain(graphs(), refine=RUNS)
    for place, one in enumerate(fitted.explain(Batch.from_data_list(graphs()), refine=RUNS)):
        same(one, together[place])
        assert one.refined == together[place].refined
    for place, one in enumerate(fitted.explain_iter(iter(graphs()), refine=RUNS)):
        same(one, together[place])
    for place, graph in enumerate(graphs()):
        torch.testing.assert_close(
            fitted.explain(graph, refine=RUNS).edge_scores, together[place].edge_scores, atol=1e-5, rtol=0
        )


def test_more_runs_than_can_be_counted_are_as_good_as_no_bound(fitted) -> None:
    one, other = (fitted.explain(graphs()[0], search="none", refine=runs) for runs in (10**6, 10**24))
    same(one, other)
    assert other.refined < 10**6


def test_the_search_starts_from_the_refined_ranking(fitted) -> None:
    for one in fitted.explain(graphs(), refine=200):
        if not one.counterfactual.flipped:
            continue
        below = one.unit_scores[one.removed_units].min()
        prefix = (one.unit_scores >= below).sum()
        assert torch.equal(one.counterfactual.removed & one.top(int(prefix)), one.counterfactual.removed)
    assert "refined with" in repr(one)


def test_only_candidates_are_moved(fitted) -> None:
    for graph in graphs():
        low, high = graph.edge_index.amin(0), graph.edge_index.amax(0)
        candidates = (low + high) % 2 == 0
        plain = fitted.explain(graph, search="none")
        one = fitted.explain(graph, search="none", candidates=candidates, refine=RUNS)
        usable = torch.zeros(len(one.units), dtype=torch.bool)
        usable[one.units.of_edge[candidates & (one.units.of_edge >= 0)]] = True
        order = [unit for unit in one.unit_scores.argsort(descending=True, stable=True).tolist() if not usable[unit]]
        before = [unit for unit in plain.unit_scores.argsort(descending=True, stable=True).tolist() if not usable[unit]]
        assert order == before


def test_nothing_to_delete(fitted) -> None:
    empty = Data(x=torch.randn(3, 5), edge_index=torch.empty(2, 0, dtype=torch.long), edge_attr=torch.empty(0, 3))
    one = fitted.explain(empty, refine=RUNS)
    assert one.refined == 0
    nobody = torch.zeros(graphs()[0].num_edges, dtype=torch.bool)
    plain, kept = fitted.explain(graphs()[0]), fitted.explain(graphs()[0], candidates=nobody, refine=RUNS)
    assert torch.equal(plain.edge_scores, kept.edge_scores)
    assert kept.refined == 0


def test_towards_a_class() -> None:
    case = QUICK_CASES["occlusion"]
    explainer = replace(case.fit(three_class_network("graphconv")), targets=(None,))
    some = [one.graph for one in explainer.explain(graphs(), search="none") if one.prediction != 2]
    gained: list[float] = []
    for runs in (None, 100):
        found = explainer.explain(some, search="none", target_class=2, refine=runs)
        instances = Instances(explainer.split, some)
        columns = torch.cat([one.at_sparsity(0.8) for one in found])
        removed = torch.zeros(len(instances.units), dtype=torch.bool)
        removed[instances.units.of_edge[columns]] = True
        gained.append(float(instances.log_probs(instances.everything, removed)[:, 2].exp().mean()))
    assert gained[1] > gained[0]


def test_nodes_and_links() -> None:
    graph, nodes, pairs = whole_graph(), [0, 3, 5, 9], [(0, 5), (3, 9), (2, 11)]
    node = rc.baselines.Gradient(task="node").fit(random_network("graphconv", "node"), graph, index=nodes)
    link = rc.baselines.Gradient(task="link").fit(LinkNetwork("graphconv", pairs).eval(), graph, index=pairs)
    for explainer, index in ((node, nodes), (link, pairs)):
        plain = explainer.explain(graph, index=index, search="none")
        found = explainer.explain(graph, index=index, search="none", refine=60)
        assert sum(fidelity(explainer.split, found, [0.8]).drop) >= sum(fidelity(explainer.split, plain, [0.8]).drop)
        for place, one in enumerate(found):
            assert 0 < one.refined <= 60
            outside = torch.ones(graph.num_edges, dtype=torch.bool)
            outside[one.edge_ids] = False
            assert not one.edge_scores[outside].any()
            alone = explainer.explain(graph, index=index[place], search="none", refine=60)
            torch.testing.assert_close(alone.edge_scores, one.edge_scores, atol=1e-5, rtol=0)


def test_a_model_that_is_run_one_by_one(caplog) -> None:
    model, some, explainer = fitted_then_mixing(FromSize(1))
    with caplog.at_level(logging.WARNING):
        found = explainer.explain(some[:8], refine=RUNS)
    assert "run one by one" in caplog.text
    assert true_claims(found, asked_alone(model)) >= 1
    for graph, one in zip(some[:8], found, strict=True):
        assert 0 < one.refined <= RUNS
        plain = explainer.explain(graph, search="none")
        before, after = (1 - asked_alone(model)(delete_top(shown), None)[one.prediction] for shown in (plain, one))
        assert float(after) >= float(before) - 1e-5


def delete_top(one: Explanation) -> Data:
    """The graph without its best unit."""
    return rc.gnn.delete_edges(one.graph, one.top(1))


@pytest.mark.parametrize("runs", [0, -3, 2.5, True, "many"])
def test_impossible_numbers_of_runs(fitted, runs) -> None:
    with pytest.raises(RCExplainerError, match=r"refine must be a whole number ≥ 1 .* got "):
        fitted.explain(graphs(), refine=runs)
    with pytest.raises(RCExplainerError, match="refine must be a whole number ≥ 1"):
        fitted.explain_iter(graphs(), refine=runs)
