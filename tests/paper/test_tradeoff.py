"""The trade-off between fidelity and robustness: the rule and the table by hand."""

import pytest

from rcexplainer.errors import RCExplainerError
from rcexplainer.paper.entries import plan
from rcexplainer.paper.tradeoff import TradeoffPoint, best_point, tradeoff_table, validation_scores


def point(name: str, ratio: float, robust: float) -> TradeoffPoint:
    return TradeoffPoint(name, {"a": ratio, "b": ratio}, {"a": robust - 0.01, "b": robust + 0.01}, 3)


def test_the_rule() -> None:
    points = (point("faithful", 0.95, 0.80), point("both", 0.90, 0.905), point("robust", 0.85, 0.92))
    assert best_point(points).name == "both"
    assert best_point(points[::2]).name == "robust"


SETTINGS = {"dataset": "toy", "model": "paper", "seed": 0, "graphs": 9, "variants": {"one": {}, "two": {}}}


def test_the_table_names_the_winner_once_all_settings_are_there() -> None:
    def scores(level: float, robust: float | None) -> dict:
        return {"fidelity": {"a": level, "b": 2 * level}, "robustness": {"a": robust, "b": 0.9}, "epochs": 3}

    greedy = ({"variant": "greedy"}, {"fidelity": {"a": 2.0, "b": 4.0}})
    strict = {"strict": {"a": 0.8, "b": 0.9}}  # version 0.1 did not measure it
    one, two = ({"variant": "one"}, scores(1.0, 0.9) | strict), ({"variant": "two"}, scores(1.5, 0.8))
    (table,) = tradeoff_table(SETTINGS, [({"network": True}, {}), greedy, one, two])
    assert table.to_rows() == [
        {
            "setting": "one",
            "ratio, a ↑": "0.500",
            "ratio, b ↑": "0.500",
            "mean ratio ↑": "0.500",
            "robust ↑": "0.900",
            "robust, strict ↑": "0.850",
            "epochs": "3",
            "rule": "← chosen",
        },
        {
            "setting": "two",
            "ratio, a ↑": "0.750",
            "ratio, b ↑": "0.750",
            "mean ratio ↑": "0.750",
            "robust ↑": "0.850",
            "robust, strict ↑": "–",
            "epochs": "3",
            "rule": "",
        },
    ]
    (some,) = tradeoff_table(SETTINGS, [greedy, two])
    assert some.to_rows()[0]["rule"] == ""
    assert some.notes == ("1 of 2 settings are missing: nothing is chosen yet",)
    assert tradeoff_table(SETTINGS, [one, two]) == []  # without greedy deletion there is no ratio


def test_every_setting_is_one_of_the_explainer_and_has_a_job() -> None:
    planned = plan("tradeoff", "standard")
    assert len(planned.jobs) == len(planned.settings["variants"]) + 2  # the network and greedy deletion
    assert len({job.digest for job in planned.jobs}) == len(planned.jobs)
    assert {tags["seed"] for tags in planned.rows.values()} == {0}
    own = {tags.get("variant"): job.inputs for job, tags in planned.rows.items()}
    masks = own["any-budget masks, no noise"]["settings"]
    assert (masks["weight_regions"], masks["weight_outcome"], masks["noise"]) == (1.0, 0.0, 0.0)


def test_at_least_one_graph_is_needed() -> None:
    with pytest.raises(RCExplainerError, match="at least one training graph"):
        validation_scores("ba-2motifs", "paper", 0, "rcexplainer", settings={}, graphs=0)


def test_node_sets_are_refused() -> None:
    with pytest.raises(RCExplainerError, match="tree-cycles is a node set"):
        validation_scores("tree-cycles", "paper", 0, "rcexplainer", settings={}, graphs=9)
