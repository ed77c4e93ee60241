"""Graph sets at toy size: groups, measures, robustness, and what the network can be flipped by."""

import math

import pytest

from rcexplainer.benchmark.graph_plan import graph_plan
from rcexplainer.benchmark.groups import GroupResult
from tests.benchmark.toys import tiny


def groups_of(evaluation) -> list[tuple[str, GroupResult]]:
    return [(one.method, group) for one in evaluation.results for group in one.groups]


@pytest.fixture(scope="session")
def graphs(found):
    return found("graphs")


def test_groups_are_by_prediction_and_by_label(graphs) -> None:
    assert [one.method for one in graphs.results] == ["rcexplainer", "greedy", "occlusion", "random"]
    labels = [int(graph.y) for graph in tiny("ba-2motifs").subset("test")]
    for group in ("predicted", "labelled"):
        ours = [one for method, one in groups_of(graphs) if (method, one.group) == ("greedy", group)]
        assert sorted(place for one in ours for place in one.places) == list(range(len(labels)))
        if group == "labelled":
            assert [len(one.places) for one in ours] == [labels.count(0), labels.count(1)]
            assert all(labels[place] == number for number, one in enumerate(ours) for place in one.places)


def test_counterfactuals_are_verified_and_edge_sets_measured(graphs) -> None:
    for method, one in groups_of(graphs):
        if one.counterfactuals.flipped:
            assert one.counterfactuals.size >= 1
            assert one.counterfactuals.minimal == one.counterfactuals.verified == 1
        assert (one.edges is not None) == (method == "rcexplainer")
        if one.edges is not None:
            assert 0 <= one.edges.sparsity <= 1
            assert 0 <= one.edges.flips <= 1


def test_predictions_without_edges_are_the_same_for_every_method(graphs) -> None:
    shares: dict[tuple[str, str], set[float]] = {}
    for _, one in groups_of(graphs):
        assert 0 <= one.edgeless <= 1
        shares.setdefault((one.group, one.label), set()).add(one.edgeless)
    assert all(len(values) == 1 for values in shares.values())
    # Without edges all graphs of the set are alike: all of them have one class.
    assert sorted(values.pop() for (group, _), values in shares.items() if group == "predicted") == [0, 1]


def test_agreement_within_regions_is_measured_where_there_are_regions(graphs) -> None:
    for method, one in groups_of(graphs):
        measured = method == "rcexplainer" and one.group == "predicted"
        assert (one.region_agreement is not None) == measured
        if measured:
            assert one.region_agreement.note == "one region per class"


def test_robustness_is_measured_on_predicted_graphs(graphs) -> None:
    for _, one in groups_of(graphs):
        assert math.isnan(one.robustness) == (one.group == "labelled")
        assert math.isnan(one.strict_robustness) == (one.group == "labelled")
    ours = [one for method, one in groups_of(graphs) if method == "rcexplainer" and one.group == "predicted"]
    assert max(one.robustness for one in ours) > 0.5
    assert max(one.strict_robustness for one in ours) > 0.5
    predicted = [one for _, one in groups_of(graphs) if one.group == "predicted"]
    alike = [one.robustness for one in predicted if one.robustness == one.strict_robustness]
    assert set(alike) <= {1.0}  # two protocols, unless nothing moves under either
    assert len(alike) < len(predicted) / 2


def test_without_robustness_everything_else_is_measured() -> None:
    both = graph_plan(robust=True).measure.measures.keys() - graph_plan(robust=False).measure.measures
    assert both == {"robustness", "strict_robustness"}
    assert math.isnan(GroupResult("predicted", "house", ()).robustness)
    assert math.isnan(GroupResult("predicted", "house", ()).strict_robustness)


def test_motif_use_is_measured_for_every_group(graphs) -> None:
    for network in graphs.networks:
        assert [(one.group, one.label) for one in network.motif_use] == [
            (group, label) for group in ("predicted", "labelled") for label in ("cycle", "house")
        ]
        for one in network.motif_use:
            assert all(0 <= share <= 1 for share in (one.flips, one.reliance.enough, one.reliance.idle))
    assert all(0 < network.accuracy <= 1 for network in graphs.networks)
