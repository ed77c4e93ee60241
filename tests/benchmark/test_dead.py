"""Dead runs: constant scores, and fidelity that is not above random order's."""

from dataclasses import replace

import torch

from rcexplainer.benchmark.dead import constant_scores, headline_sum, random_sum, why_dead
from rcexplainer.benchmark.measurement import measure_fitted
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.metrics import fidelity
from rcexplainer.metrics.fidelity import SPARSITIES


def verdict(case, ones, method: str = "toy") -> str:
    return why_dead(case.split, method, ones, fidelity(case.split, ones, SPARSITIES))


def test_a_method_above_random_order_is_alive_and_its_reverse_is_dead(case) -> None:
    shown = case.explain(METHODS["greedy"].fit(case, False), case.places, "none")
    assert verdict(case, shown) == ""
    turned = [replace(one, scores=1 - one.scores) for one in shown]
    assert verdict(case, turned).startswith("dead: fidelity ")
    assert "is not above random order's" in verdict(case, turned)


def test_one_score_for_all_edges_is_dead(case) -> None:
    shown = case.explain(METHODS["greedy"].fit(case, False), case.places, "none")
    flat = [replace(one, scores=torch.full_like(one.scores, 0.5)) for one in shown]
    assert constant_scores(flat)
    assert not constant_scores([*flat[1:], shown[0], shown[1]])
    assert verdict(case, flat) == "dead: all edges of an instance get the same score"
    assert not constant_scores([])


def test_random_order_is_the_floor_and_never_dead(case, at_random) -> None:
    shown = case.explain(at_random, case.places, "none")
    assert verdict(case, shown, "random") == ""
    own = headline_sum(fidelity(case.split, shown, SPARSITIES))
    assert abs(random_sum(case.split, shown) - own) < 1.0
    assert random_sum(case.split, shown) == random_sum(case.split, shown)


def test_a_plan_of_deletions_has_no_part_in_the_floor(case) -> None:
    shown = case.explain(METHODS["greedy"].fit(case, False), case.places, "none")
    planned = [replace(one, order=one.units.to_edges(one.unit_order, -1)) for one in shown]
    assert random_sum(case.split, planned) == random_sum(case.split, shown)
    assert verdict(case, planned) == ""


def test_nodes_have_a_floor_too(node_case) -> None:
    shown = node_case.explain(METHODS["random"].fit(node_case, False), node_case.some(10), "none")
    assert -1 < random_sum(node_case.split, shown) < 5


def test_it_is_measured(case) -> None:
    found = measure_fitted(case, "greedy", METHODS["greedy"].fit(case, False), noise=())
    assert found.dead == ""
