"""Fidelity against model runs: points, tables, figure and verdicts by hand; the quick profile for real."""

from dataclasses import replace

import pytest

from rcexplainer.benchmark.case import Case
from rcexplainer.errors import MissingExtraError
from rcexplainer.paper import dial
from rcexplainer.paper.dial import dial_points, graphs_by_class
from rcexplainer.paper.dial_figure import dial_figure
from rcexplainer.paper.dial_tables import dial_curve, dial_tables
from rcexplainer.paper.entries import figures, plan, tables
from rcexplainer.paper.verdicts import verdicts
from tests.paper.fakes import results_of
from tests.paper.toys import toy_data

SETTINGS = {"seeds": 1, "methods": ["rcexplainer", "greedy", "slow"]}


def result(seed: int, *points: tuple[int | str, float, dict[int, float]], skipped: str = "") -> dict:
    """One class: (refine, runs, place → drop)."""
    made = [
        {"refine": refine, "classes": {"a": {"runs": runs, "places": list(drops), "drops": list(drops.values())}}}
        for refine, runs, drops in points
    ]
    return {"seed": seed, "points": made, "skipped": skipped}


def tagged(**methods: dict) -> list:
    return [({"dataset": "toy", "model": "paper", "variant": name}, one) for name, one in methods.items()]


GREEDY = result(0, (0, 100, {3: 4.0, 1: 2.0, 2: 2.0}))
OURS = result(0, (0, 1, {3: 2.0, 1: 2.0, 2: 0.0}), ("greedy", 99.5, {3: 4.0, 1: 3.0, 2: 2.0}))


def test_a_ratio_is_taken_on_the_graphs_that_both_explained() -> None:
    slow = result(0, (0, 900, {3: 3.0, 1: 1.5, 7: 9.0}))
    points = dial_curve({"rcexplainer": [OURS], "greedy": [GREEDY], "slow": [slow]})
    assert [(one.name, one.ratio["a"], one.mean_runs, one.graphs) for one in points] == [
        ("rcexplainer", [0.5], 1, 3),
        ("rcexplainer, refine = greedy deletion's runs", [1.125], 99.5, 3),
        ("greedy", [1.0], 100, 3),
        ("slow", [0.75], 900, 3),
    ]


def test_the_table_has_the_cheapest_first_and_says_what_is_missing() -> None:
    absent = result(0, skipped="it has no attention")
    (table,) = dial_tables(SETTINGS, tagged(rcexplainer=OURS, greedy=GREEDY, attention=absent))
    assert [row["method"] for row in table.to_rows()] == [
        "rcexplainer",
        "rcexplainer, refine = greedy deletion's runs",
        "greedy",
    ]
    assert table.to_rows()[1] == {
        "method": "rcexplainer, refine = greedy deletion's runs",
        "runs": "99.5",
        "ratio, a ↑": "1.125",
        "lowest ↑": "1.125",
        "graphs": "3",
    }
    assert table.notes == ("attention is left out: it has no attention",)
    assert dial_tables(SETTINGS, tagged(rcexplainer=OURS)) == []  # nothing to take a ratio of
    low = result(0, (0, 100, {3: 0.4, 1: 0.2}))
    (table,) = dial_tables(SETTINGS, tagged(rcexplainer=OURS, greedy=low))
    assert table.notes == ("seed 0, a: greedy deletion's own mean fidelity is 0.060",)


def test_every_method_is_in_the_figure() -> None:
    planned = plan("dial", "standard")
    results = results_of(planned)
    (figure,) = figures(planned, results)
    axes = figure.figure.axes
    assert [own.get_title(loc="left") for own in axes] == [
        f"{dataset}, {name}" for dataset in ("mutagenicity", "nci1") for name in ("no", "yes")
    ]
    for own in axes:
        assert own.get_xscale() == "log"
        assert len(own.lines) == len(planned.settings["methods"])
    ours = next(line for line in axes[0].lines if line.get_label() == "RCExplainer")
    assert list(ours.get_xdata()) == [1, 9, 17, 33, 65, 129, 200, 257]
    assert dial_figure(SETTINGS, tagged(rcexplainer=OURS)) == []
    assert len(tables(planned, results)) == 2


def judged(change) -> dict[str, tuple[bool | None, str]]:
    planned = plan("dial", "standard")
    results = dict(results_of(planned))
    for job, tags in planned.rows.items():
        if tags["dataset"] == "nci1" and not tags.get("network"):
            change(tags["variant"], results[job])
    found = verdicts(planned, results)
    return {one.claim: (one.reached, one.found) for one in found if one.claim.startswith("nci1")}


def test_a_ratio_that_is_too_low_is_named_with_its_class() -> None:
    def change(variant: str, result: dict) -> None:
        if variant == "rcexplainer":
            result["points"][3]["classes"]["yes"]["drops"] = [1.8] * 4

    found = judged(change)
    assert found["nci1: fidelity of a ranking refined with 32 model runs"] == (False, ".900 (yes)")
    assert found["nci1: fidelity of a ranking refined with 64 model runs"][0]
    assert found["nci1: no method above RCExplainer with as few model runs"][0]


def test_a_method_above_ours_with_as_few_runs_is_named() -> None:
    def change(variant: str, result: dict) -> None:
        if variant == "cf2":
            result["points"][0]["classes"]["no"]["drops"] = [1.9] * 4

    reached, found = judged(change)["nci1: no method above RCExplainer with as few model runs"]
    assert reached is False
    assert found == "cf2 has .950 (no) with 30 runs, ours .930"


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> Case:
    with toy_data():
        return Case.of(
            "ba-2motifs",
            "paper",
            0,
            explains="every class",
            settings={"epochs": 1, "teacher_limit": 10},
            keep=tmp_path_factory.mktemp("networks"),
            progress=False,
        )


def test_graphs_of_every_predicted_class_in_one_order(case) -> None:
    few, more = graphs_by_class(case, 2), graphs_by_class(case, None)
    assert sum(map(len, more.values())) == case.count
    for name, places in few.items():
        assert places == more[name][:2]


def test_runs_are_counted_and_greedys_own_number_is_kept_to(case) -> None:
    ours, greedy = dial_points(case, "rcexplainer", [0, 5, "greedy"], 3), dial_points(case, "greedy", [0], 3)
    for name, reference in greedy["points"][0]["classes"].items():
        plain, few, many = (point["classes"][name] for point in ours["points"])
        assert plain["places"] == few["places"] == many["places"] == reference["places"]
        assert plain["runs"] == 1
        assert 1 < few["runs"] <= 6 < many["runs"] <= reference["runs"]
        share = sum(map(abs, reference["drops"]))  # drops may be below 0
        assert sum(many["drops"]) >= sum(reference["drops"]) - 0.01 * share


def test_a_method_that_cannot_explain_the_network_is_left_out_with_the_reason(case, monkeypatch) -> None:
    found = dial_points(case, "attention", [0], 3)
    assert found["points"] == []
    assert "attention" in found["skipped"]

    def absent(*_: object) -> None:
        raise MissingExtraError("it is not installed")

    monkeypatch.setitem(dial.METHODS, "random", replace(dial.METHODS["random"], fit=absent))
    with pytest.raises(MissingExtraError):
        dial_points(case, "random", [0], 3)
