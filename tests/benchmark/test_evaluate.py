"""The evaluation on toy data: every number is there, in range, and greedy's ratio to itself is 1."""

import json
import math
from dataclasses import replace

import pytest

from rcexplainer.benchmark import evaluate as module
from rcexplainer.benchmark import networks as running
from rcexplainer.benchmark.results import column, mean, short, std
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import to_text
from tests.benchmark.toys import QUICK, small

METHODS = {"rcexplainer", "greedy", "occlusion", "random"}


@pytest.fixture
def toy(monkeypatch):
    """A hundred graphs and a few epochs instead of the real thing."""
    monkeypatch.setattr(running, "load", small)
    monkeypatch.setattr(running, "training_settings", lambda name: QUICK)


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "load", small)
        patch.setattr(running, "training_settings", lambda name: QUICK)
        return module.evaluate("ba-2motifs", seeds=range(2), settings={"epochs": 3}, device="cpu", progress=False)


def test_every_class_group_and_method_has_its_means(found):
    rows = {(row["group"], row["class"], row["method"]): row for row in found.rows()}
    groups = [(group, label) for group in ("predicted", "labelled") for label in ("cycle", "house")]
    assert set(rows) == {(*group, method) for group in groups for method in METHODS}
    for (_, _, method), row in rows.items():
        assert 0 <= row["flipped"] <= 1
        assert 0 <= row["AUC"] <= 1
        assert len(row["above_occlusion"]) == 4
        assert set(row["std"]) < set(row)
        if method == "greedy" and not math.isnan(row["ratio"]):
            assert row["ratio"] == pytest.approx(1)
            assert row["difference"] == 0
        if method == "occlusion":
            assert not any(row["above_occlusion"])
    assert len(found.accuracy) == 2


def test_means_are_those_of_the_seeds(found):
    row = found.rows()[0]
    mine = [one for one in found.results if (one.group, one.label, one.method) == ("predicted", "cycle", "rcexplainer")]
    first, second = (one.fidelity.drop[1] for one in mine)
    assert [one.seed for one in mine] == [0, 1]
    assert row[".90"] == pytest.approx((first + second) / 2)
    assert row["std"][".90"] == pytest.approx(abs(first - second) / math.sqrt(2))


def test_groups_are_by_prediction_and_by_label(found):
    for seed in (0, 1):
        labels = [int(graph.y) for graph in small("ba-2motifs", seed=seed).subset("test")]
        for group in ("predicted", "labelled"):
            ours = [one for one in found.results if (one.seed, one.group, one.method) == (seed, group, "greedy")]
            assert sum(one.graphs for one in ours) == 10
            if group == "labelled":
                assert [one.graphs for one in ours] == [labels.count(0), labels.count(1)]


def test_what_can_be_flipped_at_all_comes_first(found):
    first = found.first()
    assert [(row["group"], row["class"]) for row in first] == [
        ("predicted", "cycle"),
        ("predicted", "house"),
        ("labelled", "cycle"),
        ("labelled", "house"),
    ]
    greedy = {(r["group"], r["class"]): r["flipped"] for r in found.rows() if r["method"] == "greedy"}
    for row in first:
        assert row["greedy"] == greedy[row["group"], row["class"]]
        assert all(0 <= row[name] <= 1 for name in ("motif", "enough", "idle", "foreign"))
    assert next(iter(found.to_json())) == "protocol"
    assert list(found.to_json())[1] == "first"


def test_counterfactuals_are_verified_and_edges_measured(found):
    for one in found.results:
        cases = one.counterfactuals
        if cases.flipped:
            assert cases.size >= 1
            assert cases.minimal == cases.verified == 1
        assert (one.edges is not None) == (one.method == "rcexplainer")
        if one.edges is not None:
            assert 0 <= one.edges.sparsity <= 1
            assert 0 <= one.edges.flips <= 1


def test_robustness_is_measured_on_predicted_graphs(found):
    for one in found.results:
        assert math.isnan(one.robustness) == (one.group == "labelled")
    rows = {row["method"]: row["robustness"] for row in found.rows()[:4]}
    assert rows["rcexplainer"] > 0.5


def test_costs(found):
    rows = {row["method"]: row for row in found.cost_rows()}
    assert set(rows) == METHODS
    assert rows["rcexplainer"]["fit_seconds"] > 0 == rows["greedy"]["fit_seconds"]
    assert all(row["seconds_each"] > 0 and row["failed"] == 0 for row in rows.values())


def test_json_and_tables(found):
    document = json.loads(to_text(found.to_json()))
    assert document["means"]
    assert (document["preset"], document["settings"], document["seeds"]) == ("default", {"epochs": 3}, [0, 1])
    for rows, caption in found.tables():
        assert caption
        widths = [max(len(str(row[name])) for row in [*rows, {name: name}]) for name in rows[0]]
        assert sum(widths) + 2 * len(widths) <= 110


def test_a_ratio_to_nothing_is_a_difference(found):
    """Where greedy's mean is under .10 the ratio is nan, and the table shows the difference."""
    nothing = tuple(replace(one, ratio=float("nan"), difference=-0.03) for one in found.results)
    rows, _ = replace(found, results=nothing).tables()[1]
    assert {row["ratio"] for row in rows} == {"Δ -.03"}
    drops = {(one.seed, one.group, one.label): one.fidelity.drop for one in found.results if one.method == "greedy"}
    for one in found.results:
        assert math.isnan(one.ratio) == (sum(drops[one.seed, one.group, one.label]) / 5 < 0.1)


def test_without_robustness(toy):
    found = module.evaluate("ba-2motifs", preset="released", settings={"epochs": 1}, robust=False, progress=False)
    assert all(math.isnan(one.robustness) for one in found.results)
    assert found.preset == "released"


def test_node_sets_are_refused_for_now():
    with pytest.raises(RCExplainerError, match="is a node set"):
        module.evaluate("tree-cycles", progress=False)


def test_wrong_settings_cost_no_time(monkeypatch):
    monkeypatch.setattr(running, "load", None)
    with pytest.raises(RCExplainerError, match=r"unknown setting 'epoch'; did you mean epochs\?"):
        module.evaluate("ba-2motifs", settings={"epoch": 3})


def test_summaries():
    nan = float("nan")
    assert mean([1, nan, 3]) == 2
    assert math.isnan(mean([nan]))
    assert std([1, nan, 3]) == pytest.approx(math.sqrt(2))
    assert std([1]) == 0
    assert [short(value) for value in (0.5, -0.001, -0.25, 1.0, 0.999, 12.5, nan)] == [
        ".50",
        ".00",
        "-.25",
        "1.00",
        "1.00",
        "12.50",
        "–",
    ]
    assert [column(share) for share in (0.95, 0.9, 0.837)] == [".95", ".90", ".837"]
