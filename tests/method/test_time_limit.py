"""A call that must end at a moment gives the best it has, or says that it has nothing; the model is left as it was."""

import time
from math import inf

import pytest
import torch

import rcexplainer as rc
from rcexplainer.core.budget import Deadline
from rcexplainer.errors import RCExplainerError, TimeUpError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method import results
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.testing.sample_graphs import sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import random_network

PAST = -inf


@pytest.fixture(scope="module")
def fitted() -> FittedExplainer:
    return rc.baselines.Occlusion().fit(random_network("graphconv"), sample_graphs(12))


def test_a_search_without_time_gives_its_scores_and_says_so(fitted) -> None:
    plain = fitted.explain(sample_graphs(12), search="none")
    found = fitted.explain(sample_graphs(12), search="greedy", refine=20, budget=Deadline(PAST))
    for one, other in zip(found, plain, strict=True):
        assert one.counterfactual.exhausted
        assert not one.counterfactual.flipped
        assert not one.counterfactual.removed.any()
        assert one.refined == 0
        assert torch.equal(one.edge_scores, other.edge_scores)


def test_without_time_for_the_model_there_is_an_error_for_each(fitted) -> None:
    before = [parameter.clone() for parameter in fitted.split.model.parameters()]
    found = fitted.explain(sample_graphs(12), budget=Deadline(PAST, PAST), on_error="keep")
    assert [type(one) for one in found] == [Failure] * 12
    assert all(isinstance(one.error, TimeUpError) for one in found)
    with pytest.raises(TimeUpError, match="the time is up"):
        fitted.explain(sample_graphs(12)[0], search="none", budget=Deadline(PAST, PAST))
    assert all(torch.equal(*pair) for pair in zip(before, fitted.split.model.parameters(), strict=True))
    assert isinstance(fitted.explain(sample_graphs(12)[0]), Explanation)  # another call has its own time


@pytest.mark.parametrize("index", [0, [0, 1, 2]])
def test_nodes_too(index) -> None:
    fitted = rc.baselines.Occlusion(task="node").fit(random_network("graphconv", "node"), whole_graph())
    with pytest.raises(RCExplainerError, match="the time is up"):
        fitted.explain(whole_graph(), index=index, budget=Deadline(PAST, PAST))


def test_a_deadline_far_away_changes_nothing(fitted) -> None:
    later = time.monotonic() + 600
    found = fitted.explain(sample_graphs(12), search="greedy", refine=20, budget=Deadline(later, later))
    for one, other in zip(found, fitted.explain(sample_graphs(12), search="greedy", refine=20), strict=True):
        assert torch.equal(one.counterfactual.removed, other.counterfactual.removed)
        assert torch.allclose(one.edge_scores, other.edge_scores, atol=1e-6)
        assert one.counterfactual.minimal == other.counterfactual.minimal
        assert one.refined == other.refined


def test_minimal_is_not_claimed_where_there_was_no_time_to_look(monkeypatch, fitted) -> None:
    assert any(one.counterfactual.minimal for one in fitted.explain(sample_graphs(12)))

    def late(*_: object, **__: object) -> None:
        raise TimeUpError("the time is up")

    monkeypatch.setattr(results, "check_minimal", late)
    for one in fitted.explain(sample_graphs(12)):
        assert not one.counterfactual.minimal
        assert one.counterfactual.exhausted or not one.counterfactual.flipped


def test_seconds_bound_the_refinement_too(fitted) -> None:
    graph = sample_graphs(12)[0]
    assert fitted.explain(graph, search="none", refine=40, budget=rc.Seconds(1e-9)).refined == 0
    assert fitted.explain(graph, search="none", refine=40, budget=rc.Seconds(600)).refined > 0


def test_what_only_a_search_uses_is_refused_without_one(fitted) -> None:
    graph = sample_graphs(12)[0]
    with pytest.raises(RCExplainerError, match=r"confidence=0\.8 is for counterfactuals.*leave confidence out"):
        fitted.explain(graph, search="none", confidence=0.8)
    for budget, refine in ((500, None), (500, 20), (inf, None), (rc.Seconds(2), None)):
        with pytest.raises(RCExplainerError, match=r'bounds the search, and there is none with search="none".*leave'):
            fitted.explain(graph, search="none", budget=budget, refine=refine)
    with pytest.raises(RCExplainerError, match="confidence"):
        fitted.explain_iter([graph], search="none", confidence=0.8)
    assert fitted.explain(graph, search="none").counterfactual is None
