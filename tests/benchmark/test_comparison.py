"""All methods at toy size: what is measured, on what, and that one method's failure costs the others nothing."""

import math

import pytest
import torch

from rcexplainer.baselines import Method
from rcexplainer.benchmark import cost as clocking
from rcexplainer.benchmark import measurement as measuring_one
from rcexplainer.benchmark import networks as running
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.comparison import compare
from rcexplainer.benchmark.cost import clock, one_thread
from rcexplainer.benchmark.measurement import measure, measured
from rcexplainer.benchmark.methods import METHODS, Caps, Entry, chosen
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.gnn import TrainConfig
from rcexplainer.metrics.fidelity import SPARSITIES
from tests.benchmark.toys import QUICK, small


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setattr(running, "load", small)
    monkeypatch.setattr(running, "training_settings", lambda name: QUICK)


@pytest.fixture(scope="module")
def case() -> Case:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "load", small)
        patch.setattr(running, "training_settings", lambda name: TrainConfig(epochs=150, lr=0.02, patience=150))
        return Case.of("ba-2motifs", "paper", 0, settings={"epochs": 2}, progress=False)


def test_names_are_those_of_the_contract() -> None:
    assert list(METHODS) == [
        "rcexplainer",
        "rcexplainer-noldb",
        "gnnexplainer",
        "pgexplainer",
        "pgmexplainer",
        "subgraphx",
        "cfgnnexplainer",
        "cf2",
        "gradient",
        "gradcam",
        "integrated-gradients",
        "attention",
        "occlusion",
        "greedy",
        "random",
    ]


def test_references_are_always_there() -> None:
    assert chosen("gradient") == ["gradient", "occlusion", "greedy", "random"]
    assert chosen("random, cf2") == ["cf2", "occlusion", "greedy", "random"]
    assert chosen("all") == list(METHODS)
    with pytest.raises(RCExplainerError, match="unknown method 'gnnexplaner'; did you mean gnnexplainer"):
        chosen("gnnexplaner,cf2")
    with pytest.raises(RCExplainerError, match="no method is named"):
        chosen(" , ")


def test_explained_are_test_graphs_predicted_as_houses(case) -> None:
    test = {id(graph) for graph in case.data.subset("test")}
    graphs = case.graphs(case.some(None))
    assert graphs
    assert {id(graph) for graph in graphs} <= test
    shown = case.explain(METHODS["random"].fit(case, False), case.some(None), "none")
    assert {one.prediction for one in shown} == {1}
    assert len(case.some(2)) == 2


def test_numbers_are_in_range_and_greedy_is_at_least_random(case) -> None:
    found = {name: measure(case, name, caps=Caps(most=4), progress=False) for name in ("greedy", "random")}
    for one in found.values():
        assert one.instances == 4
        assert len(one.fidelity) == len(one.flips) == len(SPARSITIES)
        assert all(0 <= share <= 1 for share in (*one.flips, one.flipped, one.auc, one.robustness))
        assert one.places == tuple(case.some(4))
        assert [sum(row) / 4 for row in one.drops] == pytest.approx(one.fidelity, abs=1e-5)
        assert sorted(one.robust_places) == list(one.places)
        assert math.isnan(one.search_flipped)
        assert math.isnan(one.accuracy)
        assert one.held_out == case.count
        assert all(0 <= share <= 1 for share in one.kept)
        assert one.labelled_graphs == 4
        assert len(one.labelled) == len(one.kept_drop) == len(SPARSITIES)
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
    monkeypatch.setitem(METHODS, "random", Entry(fit))
    found = measure(case, "random", caps=Caps(most=3), progress=False)
    assert found.failed == 3
    assert found.skipped


def test_nodes_are_compared_on_unseen_motifs(monkeypatch) -> None:
    monkeypatch.setattr(clocking, "TIMED", 1)
    found = compare("tree-cycles", "paper", [0], ["occlusion", "random"], most=5, progress=False)
    assert [one.method for one in found.results] == ["occlusion", "random"]
    assert all(one.instances == 5 and 0 <= one.accuracy <= 1 for one in found.results)
    assert all(math.isnan(one.robustness) for one in found.results)
    assert 0 <= found.motif_flips[0] <= 1
    ((table, caption),) = found.tables()
    assert [row["method"] for row in table] == ["occlusion", "random"]
    assert "tree-cycles" in caption
    assert all(one.seconds > 0 for one in found.times)
    document = found.to_json()
    assert document["means"][0]["instances"] == 5
    assert document["sparsities"] == SPARSITIES


def test_same_seed_same_scores(case) -> None:
    places = case.some(4)
    one, two = (case.explain(METHODS["random"].fit(case, False), places, "none") for _ in range(2))
    assert all(torch.equal(a.edge_scores, b.edge_scores) for a, b in zip(one, two, strict=True))


@pytest.fixture
def at_random(case):
    return METHODS["random"].fit(case, False)


def test_fewer_instances_are_among_more_and_noised_alike(case, at_random) -> None:
    """`noisy` graphs of those that are explained: the first of one order, so that each has its own noise."""
    few, more = (measured(case, "random", at_random, caps=Caps(most=most, noisy=3)) for most in (2, 6))
    assert set(few.places) < set(more.places)
    assert few.robust_places == more.robust_places[:2] == tuple(case.first(2))
    assert len(more.robust_places) == 3
    assert few.robust.each[0] == more.robust.each[0][:2]
    assert [row[more.places.index(few.places[0])] for row in more.drops] == [row[0] for row in few.drops]
    assert measured(case, "random", at_random, noise=(), caps=Caps(most=2)).robust is None


def test_what_is_capped_at_nothing_is_not_measured(case, at_random) -> None:
    test = [graph for graph in case.data.subset("test") if int(graph.y) == 1]
    assert [id(one.graph) for one in measuring_one._labelled(case, at_random, None)] == [id(graph) for graph in test]
    assert len(measuring_one._labelled(case, at_random, 2)) == 2
    assert measuring_one._labelled(case, at_random, 0) == []
    overlap, copies = measuring_one._overlap(case, METHODS["greedy"].fit(case, False), 4)
    assert 0 <= copies <= 4
    assert copies == 0 or 0 <= overlap <= 1
    overlap, copies = measuring_one._overlap(case, at_random, 0)
    assert math.isnan(overlap)
    assert copies == 0


def test_no_cap_is_above_the_number_of_instances() -> None:
    assert Caps(most=10, noisy=30, labelled=0).within(None) == Caps(10, 10, 10, 0)
    assert Caps(noisy=30).within(20) == Caps(20, 20, 20, 20)
    assert Caps().within(None) == Caps()


def test_only_our_own_search_is_beside_the_ranking(case) -> None:
    """The same search for all methods; ours goes on where no prefix flips, so that it flips at least as many."""
    one = measure(case, "rcexplainer", noise=(), caps=Caps(most=4), progress=False)
    assert one.search_flipped >= one.flipped
    assert one.search_size >= 1


def test_an_extra_that_is_missing_is_no_result(case, monkeypatch) -> None:
    def fit(case, progress):
        raise MissingExtraError("it is not installed")

    monkeypatch.setitem(METHODS, "random", Entry(fit))
    for run in (measure, clock):
        with pytest.raises(MissingExtraError):
            run(case, "random", progress=False)


def test_times_are_taken_on_one_thread(case) -> None:
    one = clock(case, "occlusion", most=4, progress=False)
    assert (one.timed, one.batch, one.threads) == (4, 4, 1)
    assert 0 < one.seconds <= one.seconds_p95
    assert one.seconds_std >= 0
    assert min(one.cold, one.batched, one.fit) > 0
    assert "attention" in clock(case, "attention", progress=False).skipped


def test_afterwards_there_are_as_many_threads_as_before() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_the_clock_stops_when_a_method_is_slow(case, at_random, monkeypatch) -> None:
    now = iter(range(1000))
    monkeypatch.setattr(clocking.time, "perf_counter", lambda: float(next(now)))
    places = case.some(None) * 10
    assert clocking._alone(case, at_random, places) == [1.0] * (clocking.TIMED + 1)
    assert len(clocking._alone(case, at_random, places[:3])) == 3
