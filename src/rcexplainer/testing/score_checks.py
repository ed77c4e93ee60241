"""Checks of the scores: their range, and that they follow from graph, seed and model."""

from functools import cache

import torch
from torch import Tensor

from rcexplainer.baselines.deletion import Random
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.testing.expectation import expect
from rcexplainer.testing.method_case import MethodCase, explanations
from rcexplainer.testing.sample_graphs import sample_graphs
from rcexplainer.testing.sample_networks import LayerName, motif_network, random_network

BETTER_BY = 0.1  # how far a method has to be above random scores


def scores_are_numbers_from_0_to_1(case: MethodCase) -> None:
    """One score for each edge, the same in both directions, not all equal; relevance likewise, if the method has it.

    And a counterfactual.
    """
    for one in explanations(case.fitted, sample_graphs()):
        scores, edges = one.edge_scores, one.graph.edge_index
        expect(scores.shape == edges[0].shape, f"{edges.size(1)} edges have scores of shape {tuple(scores.shape)}")
        low, high = float(scores.min()), float(scores.max())
        expect(low >= 0 and high <= 1, f"scores are from {low:g} to {high:g}: map them to [0, 1]")
        expect(len(one.unit_scores.unique()) > 1, "all edges of a graph have the same score")
        score = dict(zip(map(tuple, edges.t().tolist()), scores.tolist(), strict=True))
        expect(all(score[pair] == score[pair[::-1]] for pair in score), "the two directions of an edge differ")
        expect(one.counterfactual is not None, "there is no counterfactual")
        if one.relevance is not None:
            low, high = float(one.edge_relevance.min()), float(one.edge_relevance.max())
            expect(low >= 0 and high <= 1, f"relevance is from {low:g} to {high:g}: map it to [0, 1]")
            expect(len(one.unit_relevance.unique()) > 1, "all edges of a graph have the same relevance")


def scores_are_the_same_alone_and_in_a_batch(case: MethodCase) -> None:
    """To 1e-5."""
    for graph, one in zip(sample_graphs(), explanations(case.fitted, sample_graphs(), search="none"), strict=True):
        alone = case.fitted.explain(graph, search="none")
        torch.testing.assert_close(alone.edge_scores, one.edge_scores, atol=1e-5, rtol=0)
        torch.testing.assert_close(alone.relevance, one.relevance, atol=1e-5, rtol=0)


def same_seed_same_scores(case: MethodCase) -> None:
    """Whatever the caller's own random numbers are, which are left alone."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        one = _edge_scores(case.fitted)
        torch.manual_seed(2)
        before = torch.random.get_rng_state()
        other = _edge_scores(case.fit(random_network(case.conv)))
        expect(torch.equal(torch.random.get_rng_state(), before), "torch's global random numbers are used")
    expect(torch.equal(one, other), "the same seed gives other scores")


def scores_follow_the_model(case: MethodCase) -> None:
    """Another model has other scores."""
    one, other = _edge_scores(case.fitted), _edge_scores(case.fit(random_network(case.conv, seed=4)))
    expect(not torch.allclose(one, other, atol=1e-3), "two models have the same scores")


def scores_are_better_than_random(case: MethodCase) -> None:
    """On a network that uses a planted motif, by the measure of the case."""
    model, training, houses = motif_network(case.conv)
    fitted = case.make().fit(model, training, progress=False)
    reached = case.judge(model, explanations(fitted, houses, search="none"))
    floor = case.judge(model, random_explanations(case.conv))
    name = getattr(case.judge, "__name__", "the measure")
    expect(reached >= floor + BETTER_BY, f"{name} is {reached:.3f}, random scores have {floor:.3f}")


@cache
def random_explanations(conv: LayerName) -> list[Explanation]:
    """Random scores for the houses of a motif network."""
    model, training, houses = motif_network(conv)
    return explanations(Random().fit(model, training), houses, search="none")


def _edge_scores(fitted: FittedExplainer) -> Tensor:
    return torch.cat([one.edge_scores for one in explanations(fitted, sample_graphs(), search="none")])
