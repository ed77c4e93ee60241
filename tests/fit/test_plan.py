"""The plan network: scores stay the same, the order is really used, saved, refused where it does not help."""

import copy
from types import SimpleNamespace

import pytest
import torch

import rcexplainer as rc
from rcexplainer.errors import CheckpointError
from rcexplainer.fit import plan
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn
from rcexplainer.saving.explainer_file import FORMAT
from rcexplainer.saving.files import read_tensors, write_tensors

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
    """Where the scores' order alone would take more edges, or others, the first of the plan are taken."""
    found, by_scores = case.fitted.explain(case.test), case.fitted.by_scores.explain(case.test)
    assert sum(one.counterfactual.flipped for one in found) >= sum(one.counterfactual.flipped for one in by_scores)
    pairs = [(one, two) for one, two in zip(found, by_scores, strict=True) if one.counterfactual.flipped]
    assert any(set(one.removed_units.tolist()) != set(two.removed_units.tolist()) for one, two in pairs)


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


def test_an_edge_that_is_never_deleted_has_no_place(case) -> None:
    graph = case.test[0].clone()
    graph.edge_index = torch.cat([graph.edge_index, torch.tensor([[0], [0]])], 1)
    one = case.fitted.explain(graph, search="none")
    assert one.order[-1] == -1
    assert sorted(set(one.order[:-1].tolist())) == list(range(len(one.units)))


def test_withheld_scores_withhold_the_order(case) -> None:
    one = case.fitted.explain(case.test[0], disclose="counterfactual")
    assert one.order is None
    with pytest.raises(rc.errors.WithheldError):
        _ = one.unit_order


def test_a_plan_of_another_shape_is_a_damaged_file(case, tmp_path) -> None:
    path = case.fitted.save(tmp_path / "explainer.safetensors")
    tensors, header = read_tensors(path, FORMAT)
    rows, hidden = tensors["plan.gate.out.weight"].shape
    changes = {
        "plan.gate.out.weight": torch.zeros(1, hidden),  # of one class
        "plan.gate.change.weight": torch.zeros(3 * 5, hidden),
        "plan.node_mean": torch.zeros(3),
        "plan.gate.reply.weight": None,  # missing
    }
    for name, value in changes.items():
        other = {**tensors, name: value} if value is not None else {key: tensors[key] for key in tensors if key != name}
        with pytest.raises(CheckpointError):
            rc.load(write_tensors(tmp_path / "other.safetensors", other, header), case.model)
    assert rows == 2


def test_a_fit_that_is_stopped_in_its_plan_goes_on_there(case, tmp_path, monkeypatch) -> None:
    path, steps, plain = tmp_path / "fit.safetensors", 0, plan._terms
    monkeypatch.setattr(plan, "better", lambda planned, own: True)
    monkeypatch.setattr("rcexplainer.saving.checkpoint.FitFile.__init__.__defaults__", (0.0,))  # write every epoch

    def stopped(*given):
        nonlocal steps
        steps += 1
        if steps == 3:
            raise KeyboardInterrupt
        return plain(*given)

    with monkeypatch.context() as patch:
        patch.setattr(plan, "_terms", stopped)
        with pytest.raises(KeyboardInterrupt):
            rc.RCExplainer(**QUICK).fit(case.model, case.train, checkpoint=path, progress=False)
    again = rc.RCExplainer(**QUICK).fit(case.model, case.train, checkpoint=path, progress=False)
    weights = zip(case.fitted.scores.plan.parameters(), again.scores.plan.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in weights)
    monkeypatch.setattr(plan, "_terms", stopped)  # finished: no step is made again
    steps = 2
    third = rc.RCExplainer(**QUICK).fit(case.model, case.train, checkpoint=path, progress=False)
    weights = zip(again.scores.plan.parameters(), third.scores.plan.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in weights)


@pytest.mark.parametrize("settings", [{"restarts": 2}, {"batch_size": 8}])
def test_ensembles_and_other_schedules_have_plans(case, settings) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "better", lambda planned, own: True)
        fitted = rc.RCExplainer(**QUICK, **settings).fit(case.model, case.train, progress=False)
    one = fitted.explain(case.test[0])
    assert sorted(one.unit_order.tolist()) == list(range(len(one.units)))


def test_a_model_of_doubles_has_a_plan_of_doubles(case) -> None:
    double = [
        copy.copy(graph).apply(lambda value: value.double() if value.is_floating_point() else value)
        for graph in case.train
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "better", lambda planned, own: True)
        fitted = rc.RCExplainer(**QUICK).fit(copy.deepcopy(case.model).double(), double, progress=False)
    assert fitted.scores.plan.gate.change.weight.dtype == torch.double


def test_refinement_with_a_plan_keeps_to_its_candidates(case) -> None:
    graph = case.test[0]
    allowed = graph.edge_index.amin(0) > 2  # the same for both directions
    one = case.fitted.explain(graph, refine=12, candidates=allowed)
    first = one.units.to_edges(one.unit_order == 0, False)
    assert not (first & ~allowed).any()
    assert not (one.counterfactual.removed & ~allowed).any()


def test_large_graphs_are_planned_in_short_sequences(case, monkeypatch) -> None:
    """However large the graphs are, all sequences of a step are bounded."""
    longest, plain = [], plan.next_deletion_loss

    def watched(made, kept, *given):
        longest.append(int(kept.max()))
        return plain(made, kept, *given)

    monkeypatch.setattr(plan, "next_deletion_loss", watched)
    monkeypatch.setitem(plan.BATCH_VISITS, "cpu", 1)
    rc.RCExplainer(**QUICK).fit(case.model, case.train, progress=False)
    assert set(longest) == {1}


def test_nodes_have_no_plan() -> None:
    explainer = rc.RCExplainer(task="node", network="planned", weight_outcome=1.0)
    assert explainer.settings["network"] == "neighbours"


MASKS = {"weight_regions": 1.0, "weight_order": 0.0, "weight_outcome": 0.0}


@pytest.mark.parametrize("settings", [{"preset": "paper"}, {"network": "neighbours"}, {"task": "node"}, MASKS])
def test_others_have_no_plan(settings) -> None:
    own = rc.RCExplainer(**settings).settings
    assert "plan" not in own
    assert own["network"] != "planned"


def test_a_plan_learns_from_outcomes_whatever_the_mask_network_learns_from(case, monkeypatch) -> None:
    monkeypatch.setattr(plan, "better", lambda planned, own: True)
    fitted = rc.RCExplainer(**QUICK, weight_outcome=0.0).fit(case.model, case.train, progress=False)
    assert fitted.scores.plan is not None


def test_how_a_plan_is_learnt_is_one_of_the_settings() -> None:
    """Stored results and checkpoints of plans that were learnt in another way are not taken for these."""
    assert rc.RCExplainer().settings["plan"] == "compared deletions"
