"""`fitted.region_summary`: what a fitted explainer says of its regions."""

from dataclasses import replace

import pytest
import torch

import rcexplainer as rc
from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.regions import DecisionRegion, Regions
from rcexplainer.fit.region_report import first_equals
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn


@pytest.fixture(scope="module")
def case():
    data = rc.datasets.load("ba-2motifs", num_graphs=60)
    config = gnn_config("paper", data.num_features, data.num_classes)
    trained = train_gnn(config, data.graphs, data.split, settings=TrainConfig(epochs=60, lr=0.02), progress=False)
    fitted = rc.RCExplainer(epochs=2).fit(
        trained.model, data.subset("train"), class_names=data.class_names, progress=False
    )
    return data, fitted


def test_without_instances(case) -> None:
    _, fitted = case
    summary = fitted.region_summary()
    assert len(summary) == len(fitted.regions)
    assert [one.label for one in summary] == fitted.regions.labels.tolist()
    assert [one.covered for one in summary] == [one.covered for one in fitted.regions.regions]
    assert not any(one.members for one in summary)
    assert "cycle" in str(summary)


def test_graphs_and_explanations_give_the_same_members(case) -> None:
    data, fitted = case
    graphs = data.subset("test")
    shown = fitted.explain(graphs)
    by_graph, by_explanation = fitted.region_summary(graphs), fitted.region_summary(shown)
    assert sum(one.members for one in by_graph) == len(graphs)
    assert [(one.members, one.margin) for one in by_graph] == [(one.members, one.margin) for one in by_explanation]
    assert not any(one.deleted for one in by_graph)
    one = fitted.region_summary(shown[0])
    assert sum(region.members for region in one) == 1


def test_margins_are_those_of_the_regions(case) -> None:
    data, fitted = case
    graph = data.subset("test")[0]
    summary = fitted.region_summary([graph])
    (own,) = [region for region in summary if region.members]
    with torch.no_grad():
        x = fitted.split.embed(graph)
    place = torch.tensor([[one.members for one in summary].index(1)])
    assert own.margin == pytest.approx(float(fitted.regions.margins(x, place).min()), abs=1e-5)


def test_deleted_edges_are_counted_by_kind(case) -> None:
    data, fitted = case
    shown = [one for one in fitted.explain(data.subset("test"), search="greedy") if one.counterfactual.flipped]
    assert shown
    summary = fitted.region_summary(shown)
    found = sum(count for one in summary for _, count in one.deleted)
    assert found == sum(len(one.removed_units) for one in shown)
    assert all(kind.startswith("degrees ") for one in summary for kind, _ in one.deleted)
    assert "×" in str(summary)


def test_regions_that_several_targets_have_in_common_are_one(case) -> None:
    data, fitted = case
    each = rc.RCExplainer(target_class="each", epochs=1).fit(
        fitted.split.model, data.subset("train"), class_names=data.class_names, progress=False
    )
    assert len(each.regions) == 3 * len(fitted.regions)
    for graphs in (None, data.subset("test")):
        found, wanted = each.region_summary(graphs), fitted.region_summary(graphs)
        assert str(found) == str(wanted)
        assert len(set(str(found).splitlines())) == 1 + len(fitted.regions)


def test_regions_are_equal_whatever_the_order_and_length_of_their_boundaries() -> None:
    planes = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -2.0], [2.0, 0.0]])
    boundaries = LinearBoundaries(planes, torch.zeros(4), torch.tensor([[0, 1]] * 4))
    sides = [([0, 1], [1, 1]), ([2, 3], [-1, 1]), ([0, 1], [1, -1]), ([0], [1])]
    own = [DecisionRegion(0, torch.tensor(rows), torch.tensor(signs), 1, 0) for rows, signs in sides]
    regions = Regions(boundaries, (*own, replace(own[0], label=1)), torch.ones(5, 2))
    assert first_equals(regions) == [0, 0, 2, 3, 4]


def test_failures_are_left_out(case) -> None:
    data, fitted = case
    broken = data.graphs[0].clone()
    broken.x = broken.x * torch.nan
    shown = fitted.explain([broken, data.graphs[1]], on_error="keep")
    assert sum(one.members for one in fitted.region_summary(shown)) == 1
