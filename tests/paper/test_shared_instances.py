"""Two methods on the instances they share, by hand."""

import pytest

from rcexplainer.paper.entries import plan
from rcexplainer.paper.shared_instances import on_shared
from rcexplainer.paper.verdicts import verdicts
from tests.paper.fakes import result_of


def result(places, drops, noised, each) -> dict:
    return {
        "places": places,
        "drops": [drops],
        "fidelity": [sum(drops) / len(drops)],
        "robust_places": noised,
        "robust": {"noise": [0.1], "k": [8], "auc": [[0.5]], "each": [[[value] for value in each]], "graphs": 3},
        "strict": {"noise": [0.1], "k": [8], "auc": [[0.4]], "each": [[[value] for value in reversed(each)]]},
    }


def test_means_are_over_the_instances_that_both_have() -> None:
    """Shared are 3 and 5, of the noised ones 5 and 1, and of these the AUC of 1 is missing for the other."""
    own = result([1, 3, 5], [0.9, 0.2, 0.4], [5, 1, 3], [0.6, 0.8, 0.1])
    other = result([3, 5, 7], [0.5, 0.1, 0.9], [1, 5], [None, 0.7])
    one, two = on_shared(own, other)
    assert one["fidelity"] == pytest.approx([0.3])
    assert two["fidelity"] == pytest.approx([0.3])
    assert (one["robust"]["auc"], two["robust"]["auc"]) == ([[0.6]], [[0.7]])
    assert (one["strict"]["auc"], two["strict"]["auc"]) == ([[0.8]], [[0.7]])  # of 1; here the AUC of 5 is missing
    assert one["robust"]["graphs"] == 3
    assert own["robust"]["auc"] == [[0.5]]


def test_what_was_not_measured_instance_by_instance_stays() -> None:
    own, other = {"fidelity": [0.3], "robust": None}, {"fidelity": [0.4], "robust": {"auc": [[0.9]]}}
    assert on_shared(own, other) == (own, other)


def test_a_method_with_an_easy_sample_is_not_above() -> None:
    """Ours drops .3 on all but the first ten instances, on which it drops .8; theirs are these ten, at .6."""
    planned = plan("fidelity", "standard")
    results = {}
    for job, tags in planned.rows.items():
        one = results[job] = result_of(job)
        if tags.get("variant") == "rcexplainer":
            one |= {"places": list(range(100)), "drops": [[0.8] * 10 + [0.3] * 90] * 6, "fidelity": [0.35] * 6}
        elif tags.get("variant") == "subgraphx":
            one |= {"places": list(range(10)), "drops": [[0.6] * 10] * 6, "fidelity": [0.6] * 6}
        elif not tags.get("network"):
            one |= {"fidelity": [0.1] * 6}
    found = {one.claim: one for one in verdicts(planned, results)}["nci1: fidelity above the paper's methods"]
    assert found.reached
    assert found.found == "closest: subgraphx at .70 (.800 against .600)"
