"""All methods at toy size: what is measured, on what, and that one method's failure costs the others nothing."""

import math

import pytest
import torch

from rcexplainer.baselines import Method
from rcexplainer.errors import RCExplainerError
from rcexplainer.experiments import comparing, running
from rcexplainer.experiments.cases import Case
from rcexplainer.experiments.comparing import compare, measure
from rcexplainer.experiments.methods import METHODS, Entry, chosen
from rcexplainer.gnn import TrainConfig
from rcexplainer.metrics.fidelity import SPARSITIES
from tests.experiments.toys import QUICK, small


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
    found = {name: measure(case, name, most=4, progress=False) for name in ("greedy", "random")}
    for one in found.values():
        assert one.instances == 4
        assert len(one.fidelity) == len(one.flips) == len(SPARSITIES)
        assert all(0 <= share <= 1 for share in (*one.flips, one.flipped, one.auc, one.robustness))
        assert one.batched > 0
        assert 0 < one.seconds <= one.seconds_p95
        assert one.seconds_std >= 0
        assert one.cold > 0
        assert one.timed == 4
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
    found = measure(case, "random", most=3, progress=False)
    assert found.failed == 3
    assert found.skipped


def test_nodes_are_compared_on_unseen_motifs(monkeypatch) -> None:
    monkeypatch.setattr(comparing, "TIMED", 1)
    found = compare("tree-cycles", "paper", [0], ["occlusion", "random"], most=5, progress=False)
    assert [one.method for one in found.results] == ["occlusion", "random"]
    assert all(one.instances == 5 and 0 <= one.accuracy <= 1 for one in found.results)
    assert all(math.isnan(one.robustness) for one in found.results)
    assert 0 <= found.motif_flips[0] <= 1
    ((table, caption),) = found.tables()
    assert [row["method"] for row in table] == ["occlusion", "random"]
    assert "tree-cycles" in caption
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


def test_a_slow_method_is_noised_on_fewer_graphs(case, at_random) -> None:
    """Two levels: a copy each, and the graphs themselves. At 1 s an explanation 20 s are for 6 graphs, at 60 s for 5 in
    any case; there are not more than so many."""
    places = case.some(None) * 4
    graphs = [
        found.graphs
        for seconds in (1e-6, 1.0, 60.0)
        if (found := comparing._robust(case, at_random, places, seconds, (0.0, 0.1), (8,))) is not None
    ]
    assert graphs == [min(100, len(places)), 6, 5]
    assert comparing._robust(case, at_random, places, 1.0, (), (8,)) is None


def test_only_a_fast_method_has_overlaps_and_a_labelled_group(case, at_random) -> None:
    labelled = comparing._labelled(case, at_random, 1e-6, None)
    test = [graph for graph in case.data.subset("test") if int(graph.y) == 1]
    assert [id(one.graph) for one in labelled] == [id(graph) for graph in test]
    assert len(comparing._labelled(case, at_random, 1e-6, 2)) == 2
    assert comparing._labelled(case, at_random, 60.0, None) == []
    overlap, copies = comparing._overlap(case, METHODS["greedy"].fit(case, False), case.some(4), 1e-6)
    assert 0 <= copies <= 4
    assert copies == 0 or 0 <= overlap <= 1
    overlap, copies = comparing._overlap(case, at_random, case.some(4), 1.0)
    assert math.isnan(overlap)
    assert copies == 0


def test_the_clock_stops_when_a_method_is_slow(case, at_random, monkeypatch) -> None:
    now = iter(range(1000))
    monkeypatch.setattr(comparing.time, "perf_counter", lambda: float(next(now)))
    places = case.some(None) * 10
    assert comparing._alone(case, at_random, places) == [1.0] * (comparing.TIMED + 1)
    assert len(comparing._alone(case, at_random, places[:3])) == 3
