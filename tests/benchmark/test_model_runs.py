"""Model runs are counted where they happen: forwards, backwards, and by methods whose number of runs is known."""

import pytest
import torch

import rcexplainer as rc
from rcexplainer.benchmark.model_runs import counted_runs, explained_with_runs
from rcexplainer.gnn.models import GNN
from rcexplainer.testing.sample_graphs import sample_graphs
from rcexplainer.testing.sample_networks import random_network
from tests.baselines.test_conformance import QUICK_CASES


@pytest.fixture(scope="module")
def model() -> GNN:
    return random_network("graphconv")


def test_forwards_and_backwards_are_counted_and_the_hook_is_removed(model) -> None:
    one = sample_graphs()[0]
    weight = torch.ones(one.num_edges, requires_grad=True)
    hooks = dict(model._forward_hooks)
    with counted_runs(model) as count:
        with torch.no_grad():
            model(one.x, one.edge_index)
        assert count.runs == 1
        model(one.x, one.edge_index, edge_weight=weight).sum().backward()
        assert count.runs == 3
    model(one.x, one.edge_index)
    assert count.runs == 3
    assert dict(model._forward_hooks) == hooks


def units() -> float:
    graphs = sample_graphs()
    return sum(int((one.edge_index[0] < one.edge_index[1]).sum()) for one in graphs) / len(graphs)


@pytest.mark.parametrize(
    ("method", "runs"),
    [
        (rc.baselines.Random(), 1.0),  # the prediction alone
        (rc.baselines.Gradient(), 3.0),  # a run, and a run with its derivative
        (rc.baselines.IntegratedGradients(steps=10), 21.0),
        (rc.baselines.Occlusion(), 2.0 + units()),  # every unit once, and nothing deleted
    ],
    ids=lambda value: type(value).__name__,
)
def test_methods_whose_cost_is_known(model, method, runs) -> None:
    found, counted = explained_with_runs(method.fit(model, sample_graphs()), sample_graphs())
    assert len(found) == len(sample_graphs())
    assert counted == pytest.approx(runs)


def test_ours_takes_one_run_and_what_the_refinement_spends() -> None:
    fitted = QUICK_CASES["rcexplainer"].fitted
    found, runs = explained_with_runs(fitted, sample_graphs())
    assert runs == 1
    refined, more = explained_with_runs(fitted, sample_graphs(), 9)
    assert more == 1 + sum(one.refined for one in refined.values()) / len(refined) <= 10
    for place, one in enumerate(fitted.explain(sample_graphs(), search="none")):
        assert torch.equal(one.edge_scores, found[place].edge_scores)
