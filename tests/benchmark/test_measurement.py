"""One method on held-out instances: what is measured, on which, and what is not a result."""

import math

import pytest

from rcexplainer.baselines import Method
from rcexplainer.benchmark import measurement, noise_measures
from rcexplainer.benchmark.cost import clock
from rcexplainer.benchmark.measurement import measure, measure_fitted
from rcexplainer.benchmark.methods import METHODS, Caps, MethodEntry
from rcexplainer.errors import MissingExtraError
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import robustness
from rcexplainer.metrics.fidelity import SPARSITIES


def test_numbers_are_in_range_and_greedy_is_at_least_random(case) -> None:
    found = {name: measure(case, name, caps=Caps(most=4), progress=False) for name in ("greedy", "random")}
    for one in found.values():
        assert one.instances == 4
        assert len(one.fidelity) == len(one.flips) == len(SPARSITIES)
        assert all(0 <= share <= 1 for share in (*one.flips, one.flipped, one.auc))
        assert all(0 <= value <= 1 for value in (one.robustness, one.strict_robustness))
        assert one.places == tuple(case.some(4))
        assert [sum(row) / 4 for row in one.drops] == pytest.approx(one.fidelity, abs=1e-5)
        assert sorted(one.robust_places) == list(one.places)
        assert math.isnan(one.search_flipped)
        assert math.isnan(one.accuracy)
        assert one.held_out == case.count
        assert all(0 <= share <= 1 for share in one.kept)
        assert one.labelled_graphs == 4
        assert len(one.labelled) == len(one.kept_drop) == len(SPARSITIES)
        assert one.edgeless in (0, 1)  # without edges all graphs of the set are alike
        assert one.region_agreement is None
    assert found["greedy"].edgeless == found["random"].edgeless
    assert sum(found["greedy"].fidelity) >= sum(found["random"].fidelity)


def test_a_method_that_cannot_explain_the_model_is_left_out_by_name(case) -> None:
    found = measure(case, "attention", progress=False)
    assert "attention" in found.skipped
    assert found.instances == 0


def test_a_method_that_fails_on_every_instance_is_left_out_by_name(case, monkeypatch) -> None:
    class Broken(Method):
        def scores(self, instances, labels):
            raise RuntimeError("no")

    fit = lambda case, progress: Broken().fit(case.model, case.training)  # noqa: E731
    monkeypatch.setitem(METHODS, "random", MethodEntry(fit))
    found = measure(case, "random", caps=Caps(most=3), progress=False)
    assert found.failed == 3
    assert found.skipped


def test_fewer_instances_are_among_more_and_noised_alike(case, at_random) -> None:
    """`noisy` graphs of those that are explained: the first of one order, so that each has its own noise."""
    few, more = (measure_fitted(case, "random", at_random, caps=Caps(most=most, noisy=3)) for most in (2, 5))
    assert set(few.places) < set(more.places)
    assert few.robust_places == more.robust_places[:2] == tuple(case.first(2))
    assert len(more.robust_places) == 3
    assert few.robust.each[0] == more.robust.each[0][:2]
    assert few.strict.each[0] == more.strict.each[0][:2]
    assert [row[more.places.index(few.places[0])] for row in more.drops] == [row[0] for row in few.drops]
    without = measure_fitted(case, "random", at_random, noise=(), caps=Caps(most=2))
    assert (without.robust, without.strict) == (None, None)
    assert math.isnan(without.strict_jaccard)


def test_both_noises_are_measured_on_the_same_graphs_and_levels(case, at_random) -> None:
    one = measure_fitted(case, "random", at_random, noise=(0.0, 0.1, 0.3), k=(4, 8), caps=Caps(most=5, noisy=3))
    assert (one.robust.protocol, one.strict.protocol) == ("paper", "strict")
    assert (one.robust.noise, one.robust.k) == (one.strict.noise, one.strict.k) == ((0.0, 0.1, 0.3), (4, 8))
    assert one.robust.graphs == one.strict.graphs == len(one.robust_places) == 3
    assert one.robust.auc[0] == one.strict.auc[0] == (1.0, 1.0)  # no noise, and a seed: the same random numbers
    assert one.robust.auc[2] != one.strict.auc[2]
    again = robustness(at_random, case.graphs(case.first(3)), (0.3,), 8, protocol="strict", seed=case.seed)
    assert one.strict.auc[2][1] == pytest.approx(again.auc[0][0])


def test_graphs_are_explained_once_without_noise(case, at_random, monkeypatch) -> None:
    given: list[list[Explanation]] = []

    def kept(fitted, graphs, *args, explanations, **how):
        given.append(explanations)
        return robustness(fitted, graphs, *args, explanations=explanations, **how)

    monkeypatch.setattr(noise_measures, "robustness", kept)
    measure_fitted(case, "random", at_random, caps=Caps(most=4, overlaps=2))
    assert [len(one) for one in given] == [2, 2, 4, 4]
    assert len({id(one) for ones in given for one in ones}) == 4


def test_a_graph_without_an_explanation_keeps_its_position_under_noise(case, at_random) -> None:
    places = case.first(3)
    found = case.explained(at_random, places, "prefix")
    less = {place: one for place, one in found.items() if place != places[0]}
    how = {"noise": (0.3,), "k": 8, "protocol": "strict"}
    every, some = (noise_measures.under_noise(case, at_random, one, places, **how) for one in (found, less))
    assert (some.graphs, some.unexplained) == (2, 1)
    assert some.each[0][0] == (None,)
    assert some.each[0][1:] == every.each[0][1:]
    assert noise_measures.under_noise(case, at_random, {}, places, (0.3,), 8, "strict") is None


def test_what_is_capped_at_nothing_is_not_measured(case, at_random) -> None:
    test = [graph for graph in case.data.subset("test") if int(graph.y) == 1]
    assert [id(one.graph) for one in measurement._labelled(case, at_random, None)] == [id(graph) for graph in test]
    assert len(measurement._labelled(case, at_random, 2)) == 2
    assert measurement._labelled(case, at_random, 0) == []
    fitted, places = METHODS["greedy"].fit(case, False), case.first(4)
    found = case.explained(fitted, places, "prefix")
    for protocol in ("paper", "strict"):
        overlap, copies = noise_measures.overlap(case, fitted, found, places, protocol)
        assert 0 <= copies <= 4
        assert copies == 0 or 0 <= overlap <= 1
        overlap, copies = noise_measures.overlap(case, fitted, found, [], protocol)
        assert math.isnan(overlap)
        assert copies == 0


def test_only_our_own_search_is_beside_the_ranking(case) -> None:
    """The same search for all methods; ours goes on where no prefix flips, so that it flips at least as many."""
    one = measure(case, "rcexplainer", noise=(), caps=Caps(most=4), progress=False)
    assert one.search_flipped >= one.flipped
    assert one.search_size >= 1


def test_an_extra_that_is_missing_is_no_result(case, monkeypatch) -> None:
    def fit(case, progress):
        raise MissingExtraError("it is not installed")

    monkeypatch.setitem(METHODS, "random", MethodEntry(fit))
    for run in (measure, clock):
        with pytest.raises(MissingExtraError):
            run(case, "random", progress=False)
