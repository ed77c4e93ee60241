"""The plan network: scores stay the same, the order is really used, saved, refused where it does not help."""

from types import SimpleNamespace

import pytest
import torch

import rcexplainer as rc
from rcexplainer.fit import plan
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn

QUICK = {"epochs": 4, "teacher_limit": 60}


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    data = rc.datasets.load("ba-2motifs", num_graphs=96)
    config = gnn_config("paper", data.num_features, data.num_classes)
    model = train_gnn(config, data.graphs, data.split, settings=TrainConfig(epochs=40, lr=0.01), progress=False).model
    train, test = data.subset("train"), data.subset("test")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "better", lambda planned, own: True)  # a network of two epochs need not be
        fitted = rc.RCExplainer(**QUICK).fit(model, train, progress=False)
    return SimpleNamespace(model=model, train=train, test=test, fitted=fitted)


def test_scores_are_the_same_with_and_without_a_plan(case) -> None:
    other = rc.RCExplainer(**QUICK, network="neighbours").fit(case.model, case.train, progress=False)
    assert case.fitted.scores.plan is not None
    assert other.scores.plan is None
    for one, two in zip(case.fitted.explain(case.test), other.explain(case.test), strict=True):
        assert torch.equal(one.edge_scores, two.edge_scores)
        assert two.order is None


def test_top_takes_the_plan_and_not_the_scores(case) -> None:
    found = case.fitted.explain(case.test, search="none")
    readings = [one.unit_order for one in found]
    assert all(sorted(order.tolist()) == list(range(len(order))) for order in readings)
    by_scores = [one.unit_scores.argsort(descending=True, stable=True).argsort() for one in found]
    assert any(not torch.equal(order, scores) for order, scores in zip(readings, by_scores, strict=True))
    for one in found:
        assert torch.equal(one.top(3), one.units.to_edges(one.unit_order < 3, False))
        assert int((one.unit_order < 3).sum()) == 3


def test_the_counterfactual_is_searched_in_the_order_of_the_plan(case) -> None:
    """A flip by a prefix that cannot be pruned is the first units of the plan, or part of them."""
    flips = [one for one in case.fitted.explain(case.test) if one.counterfactual.flipped]
    assert flips
    for one in flips:
        last = int(one.unit_order[one.removed_units].max())
        assert last < len(one.units) // 2


def test_a_graph_has_the_same_order_alone_and_in_a_batch(case) -> None:
    together = case.fitted.explain(case.test, search="none")
    for graph, one in zip(case.test, together, strict=True):
        assert torch.equal(case.fitted.explain(graph, search="none").unit_order, one.unit_order)


def test_a_saved_explainer_has_its_plan(case, tmp_path) -> None:
    again = rc.load(case.fitted.save(tmp_path / "explainer.safetensors"), case.model)
    for one, two in zip(case.fitted.explain(case.test), again.explain(case.test), strict=True):
        assert torch.equal(one.unit_order, two.unit_order)


def test_refined_rankings_go_on_with_the_plan(case) -> None:
    for one in case.fitted.explain(case.test, search="none", refine=12):
        assert one.refined
        best = one.unit_scores.argsort(descending=True, stable=True)[0]
        assert one.unit_order[best] == 0  # the path comes first in both


def test_a_plan_that_is_no_better_is_not_kept(case, monkeypatch, caplog) -> None:
    monkeypatch.setattr(plan, "better", lambda planned, own: False)
    with caplog.at_level("INFO", "rcexplainer"):
        fitted = rc.RCExplainer(**QUICK).fit(case.model, case.train, progress=False)
    assert fitted.scores.plan is None
    assert "by the plan" in caplog.text


def test_towards_a_class_the_plan_has_rows_of_its_own(case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "better", lambda planned, own: True)
        fitted = rc.RCExplainer(target_class="each", **QUICK).fit(case.model, case.train, progress=False)
    assert fitted.scores.plan.gate.out.num_embeddings == 4
    one = next(one for one in fitted.explain(case.test) if one.prediction == 0)
    towards = fitted.explain(one.graph, target_class=1)
    assert sorted(towards.unit_order.tolist()) == list(range(len(towards.units)))


def test_withheld_scores_withhold_the_order(case) -> None:
    one = case.fitted.explain(case.test[0], disclose="counterfactual")
    assert one.order is None
    with pytest.raises(rc.errors.WithheldError):
        _ = one.unit_order


@pytest.mark.parametrize("settings", [{"preset": "paper"}, {"network": "neighbours"}, {"task": "node"}])
def test_other_networks_have_no_plan(settings) -> None:
    assert rc.RCExplainer().config.planned
    assert not rc.RCExplainer(**settings).config.planned
    assert not rc.RCExplainer(weight_order=0.0, weight_outcome=0.0).config.planned  # nothing to learn it from
