"""How an explainer is fitted: presets, a collapse and its rescue, a run that is killed, background, device."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import rcexplainer as rc
from rcexplainer.config import PRESETS, RCConfig, make_config
from rcexplainer.core.mask_gates import MeanGate
from rcexplainer.core.plackett_luce import log_softmax
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.explainer import RCExplainer, load
from rcexplainer.fit import teacher, train
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.network import HIDDEN, mean_mask, mean_share
from rcexplainer.fit.objective import Restarts, make_objective
from rcexplainer.fit.schedule import AVERAGING, make_schedule, stack_size
from rcexplainer.fit.step import TrainingSet
from rcexplainer.fit.teacher import Lessons, searched_instances
from rcexplainer.fit.train import safer, standardised_on
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn

EMPTY = {"weight_regions": 1.0, "weight_sparse": 100.0, "lr": 0.3}
EMPTY |= dict.fromkeys(("weight_order", "weight_effect", "weight_outcome", "weight_stable"), 0.0)


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    data = rc.datasets.load("ba-2motifs", num_graphs=64)
    config = gnn_config("paper", data.num_features, data.num_classes)
    model = train_gnn(config, data.graphs, data.split, settings=TrainConfig(epochs=40, lr=0.01), progress=False).model
    return SimpleNamespace(data=data, model=model, train=data.subset("train"), test=data.subset("test"))


def scores(fitted, graphs) -> torch.Tensor:
    return torch.cat([one.edge_scores for one in fitted.explain(graphs, search="none")])


# ---- presets


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_fits_and_explains(case, preset: str) -> None:
    fitted = RCExplainer(preset=preset, epochs=3).fit(case.model, case.train, progress=False)
    shown = fitted.explain(case.test[:5])
    assert all(torch.isfinite(one.edge_scores).all() for one in shown)
    assert len(fitted.history) == 3


def test_the_paper_preset_is_the_text() -> None:
    paper = PRESETS["paper"]
    assert (paper.weight_regions, paper.weight_same, paper.weight_discrete) == (15.0, 0.1, 0.66)
    assert paper.weight_sparse == pytest.approx(2 * 6e-5)  # an undirected edge is counted once here
    assert (paper.epochs, paper.lr, HIDDEN, paper.candidates_per_class) == (600, 0.001, 64, 50)
    assert (paper.inputs, paper.network, paper.scaled, paper.gate) == ("last", "concat", False, "sigmoid")
    assert RCExplainer(preset="paper").settings["pairs"] == "edges"
    assert (paper.weight_order, paper.weight_effect, paper.weight_outcome, paper.noise) == (0.0, 0.0, 0.0, 0.0)


def test_the_released_preset_is_the_authors_code() -> None:
    released = PRESETS["released"]
    factor = released.weight_regions
    assert factor * released.weight_same == pytest.approx(3)
    assert factor * (1 - released.weight_same) == pytest.approx(12)
    assert factor * released.weight_discrete == pytest.approx(8)
    assert factor * released.weight_sparse == pytest.approx(0.001)  # for each entry of the padded matrix
    assert (released.gate, released.temperature) == ("concrete", (5.0, 5.0))
    assert RCExplainer(preset="released").settings["pairs"] == "padded"
    assert RCExplainer(task="node", preset="released").settings["pairs"] == "square"
    assert (released.network, released.inputs, released.sampler) == ("directed", "unit", "segment")
    assert (released.epochs, released.lr, released.batch_size, released.patience) == (600, 0.001, 200, None)
    nodes = make_config("released", {}, "node")
    assert factor * nodes.weight_same == pytest.approx(12)
    assert factor * nodes.weight_discrete == pytest.approx(10)
    assert factor * nodes.weight_sparse == pytest.approx(0.09)
    assert nodes.temperature == (0.5, 4.99)


def test_masks_of_single_directions_cannot_rank_edges() -> None:
    with pytest.raises(RCExplainerError, match=r'and gate="budget" ranks edges: choose gate="sigmoid"'):
        RCExplainer(preset="released", gate="budget")


@pytest.mark.parametrize(
    ("leave", "more"),
    [("region", {}), ("nearest", {}), ("class", {}), ("probability", {}), ("confidence", {"lr": 0.001})],
)
def test_masks_learn_to_leave_whatever_they_should(case, leave: str, more: dict[str, float]) -> None:
    masks = {"weight_regions": 1.0, "weight_order": 0.0, "weight_effect": 0.0, "weight_outcome": 0.0, "noise": 0.0}
    fitted = RCExplainer(leave=leave, epochs=12, on_collapse="report", **masks, **more).fit(
        case.model, case.train, progress=False
    )
    assert set(fitted.history[-1].terms) == {"same", "opposite", "sparse", "discrete"}
    assert min(epoch.val for epoch in fitted.history) < fitted.history[0].val


def test_masks_of_the_paper_preset_are_cut_at_one_half(case) -> None:
    fitted = RCExplainer(preset="paper", epochs=3).fit(case.model, case.train, progress=False)
    assert fitted.scores.calibration.threshold.tolist() == [0.0, 0.0]


def test_all_terms_are_in_the_history(case) -> None:
    config = {"weight_regions": 1.0, "weight_outcome": 1.0, "network": "neighbours", "epochs": 2, "noise": 0.3}
    config["lr"] = 0.001
    fitted = RCExplainer(**config, weight_stable=1.0).fit(case.model, case.train, progress=False)
    terms = {"same", "opposite", "sparse", "discrete", "order", "effect", "outcome"}
    assert set(fitted.history[-1].terms) == terms | {"stable"}
    fitted = RCExplainer(**config, weight_stable=0.0).fit(case.model, case.train, progress=False)
    assert set(fitted.history[-1].terms) == terms


def test_of_several_trainings_the_one_with_the_lowest_validation_loss_is_kept(case) -> None:
    def loss(restarts: int, seed: int) -> float:
        explainer = RCExplainer(weight_outcome=0.0, weight_stable=0.0, epochs=3, restarts=restarts)
        return min(epoch.val for epoch in explainer.fit(case.model, case.train, seed=seed, progress=False).history)

    assert loss(3, 0) <= loss(1, 0)
    assert loss(3, 0) < max(loss(1, 0), loss(3, 1))


def test_masks_are_averaged_as_probabilities_and_stay_apart_where_they_saturate() -> None:
    logits = torch.tensor([[0.0, 3.0, 40.0, 41.0], [0.0, -3.0, 40.0, 41.0]])
    mean = mean_mask(logits, torch.zeros(4, dtype=torch.long), 1)
    torch.testing.assert_close(mean.sigmoid()[:2], logits.sigmoid().mean(0)[:2])
    assert mean[3] > mean[2] > 30


def test_shares_are_averaged_within_each_instance_whatever_the_level_of_the_logits() -> None:
    owner = torch.tensor([0, 0, 1, 1, 1])
    logits = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
    shares = torch.stack([torch.cat([row[:2].softmax(0), row[2:].softmax(0)]) for row in logits])
    for level in (0.0, 20.0):
        found = mean_share(logits + torch.tensor([[0.0], [level], [-level]]), owner, 2)
        torch.testing.assert_close(log_softmax(found, owner, 2).exp(), shares.mean(0))


@pytest.mark.parametrize("gate", ["concrete", "budget"])
def test_the_best_restarts_are_averaged_and_saved(case, gate, tmp_path, monkeypatch) -> None:
    settings = {"weight_outcome": 0.0, "weight_stable": 0.0, "noise": 0.0, "epochs": 2, "gate": gate, "lr": 0.001}

    def fit(restarts: int, limit: int):
        monkeypatch.setattr(train, "ENSEMBLE", limit)
        return RCExplainer(**settings, restarts=restarts).fit(case.model, case.train[:40], progress=False)

    one, few, all_of_them = fit(3, 1), fit(3, 2), fit(2, 5)
    assert not isinstance(one.scores.net.gate, MeanGate)
    assert [fitted.scores.net.members for fitted in (one, few, all_of_them)] == [1, 2, 2]
    assert [epoch.val for epoch in few.history] == [epoch.val for epoch in one.history]  # of the best of them
    best = few.scores.net.gate.gates[0].state_dict()
    assert all(torch.equal(best[name], value) for name, value in one.scores.net.gate.state_dict().items())
    loaded = load(few.save(tmp_path / "explainer.safetensors"), case.model)
    for own, other in zip(few.explain(case.test), loaded.explain(case.test), strict=True):
        assert torch.equal(own.edge_scores, other.edge_scores)


def test_every_other_restart_is_pressed(case, monkeypatch) -> None:
    settings = {"weight_regions": 1.0, "weight_sparse": 0.03, "weight_outcome": 0.0, "weight_stable": 0.0, "epochs": 8}
    settings |= {"gate": "concrete", "restarts": 2, "on_collapse": "report"}
    fits = []
    for press in (1.0, 9.0):
        monkeypatch.setattr(train, "PRESS", press)
        fits.append(RCExplainer(**settings).fit(case.model, case.train[:40], progress=False))
    plain, pressed = fits

    def weights(fitted) -> set[float]:
        return {round(float(gate.out.weight.detach().sum()), 6) for gate in fitted.scores.net.gate.gates}

    assert len(weights(plain) & weights(pressed)) == 1


def test_an_objective_needs_something_to_train_on() -> None:
    with pytest.raises(RCExplainerError, match="nothing to train the network on"):
        RCConfig(weight_order=0.0, weight_effect=0.0, weight_regions=0.0, weight_outcome=0.0)
    assert callable(make_objective(PRESETS["paper"]))


# ---- a collapse


def test_a_collapse_is_named_and_rescued(case, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        fitted = RCExplainer(gate="sigmoid", epochs=8, **EMPTY).fit(case.model, case.train, progress=False)
    assert "all masks are 0: no edge is ever kept; training continues with safer settings" in caplog.text
    assert fitted.config.gate == "budget"
    shown = fitted.explain(case.test, search="none")
    assert all(float(one.edge_scores.max() - one.edge_scores.min()) > 0.01 for one in shown)


def test_the_paper_preset_reports_a_collapse_and_stops(case, caplog) -> None:
    settings = {**EMPTY, "epochs": 8}
    with caplog.at_level(logging.WARNING):
        fitted = RCExplainer(preset="paper", **settings).fit(case.model, case.train, progress=False)
    assert "the mask network has collapsed: all masks are 0: no edge is ever kept\n" in caplog.text
    assert fitted.config.gate == "sigmoid"
    assert not any(one.edges.any() for one in fitted.explain(case.test, search="none"))


def test_a_rescue_of_masks_of_single_directions_ranks_edges() -> None:
    first, *others = safer(make_config("released", {"on_collapse": "rescue"}))
    assert first.network == "directed"
    assert {(one.network, one.gate) for one in others} == {("concat", "budget")}


def test_one_class_alone_can_collapse_where_each_has_a_network(case) -> None:
    fitted = RCExplainer(preset="paper", epochs=1).fit(case.model, case.train, progress=False)
    with fitted.split.scope, torch.no_grad():
        data = InstanceSet.of(fitted.split, case.train)
        region = fitted.regions.assign(data.embedding, data.label)
        held = TrainingSet(data, Lessons.none(data), fitted.regions, region, fitted.config)
        fitted.scores.net.gate.last.bias[1] += 100.0
        assert held.collapse(fitted.scores.net) == "all masks are 1: every edge is kept (class 1)"


@pytest.mark.parametrize("lr", [1e3, 1e30])
def test_a_training_that_diverges_is_named_and_rescued(case, caplog, lr: float) -> None:
    with caplog.at_level(logging.WARNING):
        fitted = RCExplainer(epochs=4, lr=lr).fit(case.model, case.train, progress=False)
    assert "the training diverged" in caplog.text
    assert fitted.config.lr < 0.01
    assert fitted.history[-1].val < fitted.history[0].val + 1


def test_what_is_tried_after_a_collapse_ends_with_the_searchs_order_alone() -> None:
    attempts = safer(RCConfig(weight_regions=2.0, weight_order=0.0, weight_effect=0.0, gate="concrete"))
    assert [(one.weight_regions, one.weight_order) for one in attempts] == [(2.0, 0.0), (2.0, 0.0), (0.0, 1.0)]
    assert [one.gate for one in attempts] == ["concrete", "budget", "budget"]
    assert safer(PRESETS["paper"]) == [PRESETS["paper"]]
    last = safer(PRESETS["default"])[-1]
    assert (last.weight_effect, last.weight_outcome, last.noise, last.lr) == (0.0, 0.0, 0.0, 0.001)


# ---- killed and started again


def test_killed_in_the_middle_it_goes_on_from_its_checkpoint(case, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "fit.safetensors"
    explainer = RCExplainer(epochs=6)
    whole = explainer.fit(case.model, case.train, progress=False)
    monkeypatch.setattr("rcexplainer.saving.checkpoint.FitFile.__init__.__defaults__", (0.0,))  # write every epoch
    calls, plain = 0, TrainingSet.loss

    def killed(*args: Any) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 5:  # before the first epoch it is asked once
            raise KeyboardInterrupt
        return plain(*args)

    with monkeypatch.context() as patch:
        patch.setattr("rcexplainer.fit.train.TrainingSet.loss", killed)
        with pytest.raises(KeyboardInterrupt):
            explainer.fit(case.model, case.train, checkpoint=path, progress=False)

    def never(*args: object, **kwargs: object) -> None:
        raise AssertionError("the search was made before")

    monkeypatch.setattr("rcexplainer.fit.teacher.search", never)
    again = explainer.fit(case.model, case.train, checkpoint=path, progress=False)
    assert [epoch.terms for epoch in again.history] == [epoch.terms for epoch in whole.history]
    weights = zip(whole.scores.net.parameters(), again.scores.net.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in weights)
    third = explainer.fit(case.model, case.train, checkpoint=path, progress=False)  # finished: nothing is done again
    assert torch.equal(scores(third, case.test), scores(again, case.test))


def test_a_checkpoint_of_other_settings_is_refused(case, tmp_path: Path) -> None:
    path = tmp_path / "fit.safetensors"
    RCExplainer(epochs=1).fit(case.model, case.train, checkpoint=path, progress=False)
    with pytest.raises(CheckpointError, match=r"another run \(settings differ\)"):
        RCExplainer(epochs=2).fit(case.model, case.train, checkpoint=path, progress=False)
    with pytest.raises(CheckpointError, match=r"another run \(graphs differ\)"):
        RCExplainer(epochs=1).fit(case.model, case.train[:-1], checkpoint=path, progress=False)


# ---- background, device


def test_one_class_can_be_fitted_against_a_background_of_all(case) -> None:
    everyone = RCExplainer(epochs=1).fit(case.model, case.train, progress=False)
    houses = [one.graph for one in everyone.explain(case.train, search="none") if one.prediction == 1]
    with pytest.raises(RCExplainerError, match="no boundary to cross"):
        RCExplainer(epochs=1).fit(case.model, houses, progress=False)
    fitted = RCExplainer(epochs=2).fit(case.model, houses, background=case.train, progress=False)
    assert {region.label for region in fitted.regions.regions} == {0, 1}
    assert fitted.explain(houses[0], search="none").prediction == 1


def test_on_a_named_device_a_copy_of_the_model_is_used_and_graphs_are_moved(case) -> None:
    fitted = RCExplainer(epochs=2).fit(case.model, case.train, device="cpu", progress=False)
    plain = RCExplainer(epochs=2).fit(case.model, case.train, progress=False)
    assert fitted.split.model is not case.model
    assert torch.equal(scores(fitted, case.test), scores(plain, case.test))
    with pytest.raises(RCExplainerError, match="device 'nowhere' cannot be used"):
        RCExplainer().fit(case.model, case.train, device="nowhere", progress=False)


def test_no_more_than_the_limit_is_learnt_from_and_it_is_said(case, caplog) -> None:
    class Counting(RCExplainer):
        def objective(self, config: RCConfig, restarts: Restarts):
            plain = super().objective(config, restarts)

            def counted(step):
                sizes.append(len(step.clean))
                return plain(step)

            return counted

    sizes: list[int] = []
    settings = {"weight_outcome": 0.0, "weight_stable": 0.0, "epochs": 1, "teacher_limit": 5}
    with caplog.at_level(logging.WARNING):
        Counting(**settings).fit(case.model, case.train, val=case.test, progress=False)
    assert set(sizes) == {5}
    said = [record.message for record in caplog.records if "teacher_limit" in record.message]
    assert said == [
        f"a random 5 of {len(part)} instances are used for {use} (teacher_limit)"
        for part, use in ((case.train, "training"), (case.test, "validation"))
    ]


# ---- restarts side by side, batches by device


def test_restarts_in_one_stack_or_in_several_are_the_same_restarts(case, monkeypatch) -> None:
    """Their first weights and their data are; random numbers of the gates are drawn for all of a stack."""
    settings = {"weight_regions": 1.0, "weight_sparse": 0.03, "weight_outcome": 0.0, "weight_stable": 0.0, "epochs": 2}
    settings |= {"gate": "sigmoid", "restarts": 3, "on_collapse": "report", "noise": 0.0, "lr": 0.001}
    monkeypatch.setattr(train, "best_restarts", lambda trained, limit: list(trained))
    together = RCExplainer(**settings).fit(case.model, case.train[:40], progress=False)
    monkeypatch.setattr(train, "stack_size", lambda *_: 1)
    apart = RCExplainer(**settings).fit(case.model, case.train[:40], progress=False)
    assert together.scores.net.members == apart.scores.net.members == 3
    for own, other in zip(together.scores.net.parameters(), apart.scores.net.parameters(), strict=True):
        torch.testing.assert_close(own, other, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize(("number", "restarts", "expected"), [
    (1000, 1, (128, 16)), (9000, 1, (128, 24)), (300, 1, (128, 6)), (1000, 8, (32, 8)), (20, 8, (32, 2)),
])  # fmt: skip
def test_steps_of_an_epoch_are_bounded_on_a_cpu(number: int, restarts: int, expected: tuple[int, int]) -> None:
    data = SimpleNamespace(label=torch.zeros(number), __len__=lambda: number)
    training: Any = SimpleNamespace(data=torch.zeros(number), copied_edges=100.0)
    training.data.label = data.label
    found = make_schedule(RCConfig(restarts=restarts), training, keep_last=False)
    assert (found.batch_size, found.steps, found.lr) == (*expected, 0.008)
    given = make_schedule(RCConfig(restarts=restarts, batch_size=7), training, keep_last=False)
    assert (given.batch_size, given.steps, given.lr) == (7, None, 0.008)
    assert (found.averaging, given.averaging) == (AVERAGING, AVERAGING)
    masks = RCConfig(restarts=restarts, weight_regions=1.0, weight_outcome=0.0)
    assert make_schedule(masks, training, keep_last=False).averaging == 0.0


def test_on_other_devices_a_step_takes_what_fits_and_learns_faster() -> None:
    label: Any = SimpleNamespace(device=torch.device("cuda"))
    training: Any = SimpleNamespace(data=torch.zeros(2048), copied_edges=100.0)
    training.data.label = label
    found = make_schedule(RCConfig(), training, keep_last=False)
    assert (found.batch_size, found.steps) == (2048, 8)
    assert found.lr == pytest.approx(0.008 * 2)  # 16 times 128: the fourth root is 2
    large: Any = SimpleNamespace(data=training.data, copied_edges=float(1 << 14))
    assert make_schedule(RCConfig(), large, keep_last=False).batch_size == 256
    assert stack_size(large, 256) == 1
    assert stack_size(training, 2048) == 20


def test_inputs_are_standardised_on_a_random_sample() -> None:
    chosen = standardised_on(4000)
    assert len(chosen) == len(set(chosen.tolist())) == 512
    assert 1500 < float(chosen.double().mean()) < 2500
    assert standardised_on(3).tolist() == [0, 1, 2]


def test_a_share_of_the_instances_is_searched_and_the_others_teach_nothing(case, monkeypatch) -> None:
    monkeypatch.setattr(teacher, "SEARCHED_LEAST", 1)
    chosen = searched_instances(torch.full((40,), 9))
    assert len(chosen) == 10
    split = rc.gnn.split_model(case.model, case.train)
    with split.scope:
        data = InstanceSet.of(split, case.train[:40])
        goal = teacher.out_of_class(data, None, None)
        some, every = (teacher.search(data, goal, searched=which) for which in (chosen, None))
    assert every.taught is None
    assert some.taught.nonzero().flatten().tolist() == chosen.tolist()
    owner = data.instances.units.owner
    for place in range(40):
        mine = owner == place
        if place in chosen.tolist():
            assert torch.equal(some.effect[mine], every.effect[mine])
            given = some.order[place] >= 0
            assert torch.equal(some.order[place][given], every.order[place][every.order[place] >= 0])
        else:
            assert not some.effect[mine].any()
            assert (some.order[place] == -1).all()


def test_large_instances_are_not_searched() -> None:
    counts = torch.tensor([9, 2000, 30, 1024, 1025])
    assert searched_instances(counts).tolist() == [0, 2, 3]
    assert searched_instances(torch.tensor([5000])).tolist() == []


def test_a_fit_on_large_graphs_alone_does_without_a_search(case, monkeypatch, caplog) -> None:
    monkeypatch.setattr("rcexplainer.fit.teacher.SEARCHED_UNITS", 3)
    with caplog.at_level(logging.WARNING):
        fitted = RCExplainer(epochs=2, on_collapse="report").fit(case.model, case.train, progress=False)
    assert "no search: all" in caplog.text
    assert all(bool(one.edge_scores.isfinite().all()) for one in fitted.explain(case.test, search="none"))
