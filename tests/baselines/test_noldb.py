"""RCExp-NoLDB: RCExplainer's network and training with another loss, without boundaries or teacher."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor

import rcexplainer as rc
from rcexplainer.baselines import NoLDB
from rcexplainer.core.gates import sigmoid
from rcexplainer.core.losses import POLE
from rcexplainer.core.objectives import Masks, lose_confidence
from rcexplainer.errors import CheckpointError, GraphError, RCExplainerError
from rcexplainer.testing.model_state import state_of
from rcexplainer.testing.sample_networks import motif_network
from tests.baselines.marked import LOLLIPOP, CountsMarks, marked_graph, score_of
from tests.core.test_objectives import OWNER, step


def network():
    """A network that uses the motif, some of its training graphs, and houses it was not trained on."""
    model, training, houses = motif_network("graphconv")
    return model, training[:60], houses


def fit(seed: int = 0, **settings):
    model, training, _ = network()
    return NoLDB(**({"epochs": 2} | settings)).fit(model, training, seed=seed, progress=False)


@cache
def usual():
    """Fitted once with the default settings, for all tests that need no other."""
    return fit()


def scores(fitted) -> Tensor:
    return torch.cat([one.edge_scores for one in fitted.explain(network()[2], search="none")])


def test_its_loss_is_the_papers_and_asks_no_boundary() -> None:
    """15 · (−log P(c | G_θ) − η / log P(c | G'_θ) + β R_sparse + μ R_discrete), the mean of two graphs, by hand."""

    def never(mask: Tensor) -> Tensor:
        raise AssertionError("a boundary was asked")

    factor, eta, beta, mu = 15.0, 0.4, 0.03, 0.66
    now = replace(step(), inside=never, clean=torch.full((2, 0), math.nan))
    terms = lose_confidence(Masks(sigmoid, weight=factor, sparse=beta, discrete=mu), eta)(now)
    expected = 0.0
    for graph in (0, 1):
        values = zip(now.logits.tolist(), OWNER.tolist(), strict=True)
        masks = [1 / (1 + math.exp(-f)) for f, owner in values if owner == graph]
        kept, left = -sum(1 - m for m in masks), -sum(masks)  # log P(c) of the toy model
        entropy = -sum(m * math.log(m) + (1 - m) * math.log(1 - m) for m in masks) / len(masks)
        expected += factor * (-kept - eta / (left - POLE) + beta * sum(masks) + mu * entropy) / 2
    assert sum(term.item() for term in terms.values()) == pytest.approx(expected, rel=1e-5)
    for name in ("same", "opposite"):
        (gradient,) = torch.autograd.grad(terms[name], now.logits, retain_graph=True)
        assert (gradient != 0).all(), name


def test_another_seed_is_another_network() -> None:
    assert not torch.equal(scores(usual()), scores(fit(seed=1)))


def test_its_loss_moves_the_network_without_a_search_or_a_boundary(monkeypatch) -> None:
    def never(*args: object, **kwargs: object) -> None:
        raise AssertionError("the search was made")

    monkeypatch.setattr("rcexplainer.fit.teacher.search", never)
    fitted = fit(epochs=6)
    assert list(fitted.history[0].terms) == ["same", "opposite", "sparse", "discrete"]
    assert min(epoch.val for epoch in fitted.history[1:]) < fitted.history[0].val
    wide = fit(epochs=6, scaled=False, weight_same=0.9, sides="softplus")
    assert torch.equal(scores(wide), scores(fitted))  # settings of the boundaries change nothing


def test_the_stability_loss_is_off_unless_it_is_asked_for() -> None:
    for preset in ("default", "paper", "released"):
        assert NoLDB(preset=preset).config.weight_stable == 0
    assert NoLDB(task="node").config.weight_stable == 0
    assert NoLDB().config.noise == 0.15
    assert list(fit(noise=0.0, weight_stable=7.0).history[0].terms) == ["same", "opposite", "sparse", "discrete"]


def test_with_the_stability_loss_its_own_loss_is_of_the_graphs_and_the_other_of_copies() -> None:
    fitted = fit(weight_stable=7.0, noise=0.3)
    first = fitted.history[0].terms
    assert list(first) == ["same", "opposite", "sparse", "discrete", "stable"]
    assert first["stable"] > 0
    less = fit(weight_stable=0.7, noise=0.3).history[0].terms
    assert first["stable"] == pytest.approx(10 * less["stable"], rel=0.2)  # the mean of an epoch in which the two part
    assert not torch.equal(scores(fitted), scores(usual()))


def test_the_stability_loss_makes_it_robust() -> None:
    houses = network()[2]

    def auc(**settings) -> float:
        fitted = fit(epochs=20, **settings)
        return rc.metrics.robustness(fitted, houses, [0.3], 5, copies=3, protocol="strict").auc[0][0]

    assert auc(weight_stable=20.0, noise=0.45) > auc(noise=0.0) + 0.005


def test_eta_weighs_what_is_left() -> None:
    one, ten = fit(eta=1.0), usual()
    first = [fitted.history[0].terms["opposite"] for fitted in (one, ten)]
    assert first[1] == pytest.approx(10 * first[0], rel=0.5)  # the mean of an epoch in which the two part
    assert not torch.equal(scores(one), scores(ten))


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_every_preset_trains(preset: str) -> None:
    assert scores(fit(preset=preset)).isfinite().all()


def test_nodes_are_explained() -> None:
    graph, model = marked_graph(LOLLIPOP, [0, 4]), CountsMarks("node", 0.5).train()
    before = state_of(model)
    explainer = NoLDB(task="node", epochs=100, lr=0.02, target_size=0.0, restarts=1)
    found = explainer.fit(model, graph, progress=False).explain(graph, index=[2, 5, 7])
    assert state_of(model) == before
    assert [(one.index, one.prediction) for one in found] == [(2, 1), (5, 1), (7, 0)]  # next to a mark or not
    assert score_of(found[1], 4, 5) > score_of(found[1], 5, 6)  # a mark is seen along the first


@pytest.mark.parametrize("target", [None, 0])
def test_it_is_saved_and_loaded(target: int | None, tmp_path: Path) -> None:
    """With its target class, for which its network is no other one."""
    houses = network()[2]
    fitted = usual() if target is None else fit(target_class=target)
    loaded = rc.load(fitted.save(tmp_path / "explainer.safetensors"), network()[0])
    assert type(loaded) is rc.FittedRCExplainer
    assert loaded.targets == (target,)
    assert torch.equal(scores(loaded), scores(fitted))
    assert torch.equal(scores(loaded), scores(usual()))
    (one, other) = (some.explain(houses[0]).counterfactual for some in (fitted, loaded))
    assert one.target == other.target == target
    assert torch.equal(one.removed, other.removed)
    again = rc.load(loaded.save(tmp_path / "again.safetensors"), network()[0])
    assert torch.equal(scores(again), scores(usual()))


def test_a_target_class_that_is_predicted_is_refused() -> None:
    with pytest.raises(GraphError, match="class 1 is predicted already: choose another class to lead to"):
        fit(target_class=1).explain(network()[2][0])


def test_a_checkpoint_of_another_loss_is_refused(tmp_path: Path) -> None:
    model, training, _ = network()
    path = tmp_path / "fit.safetensors"
    NoLDB(epochs=1).fit(model, training, checkpoint=path, progress=False)
    for other in (
        NoLDB(epochs=1, eta=2.0),
        rc.RCExplainer(epochs=1, weight_order=0.0, weight_effect=0.0, on_collapse="report"),
    ):
        with pytest.raises(CheckpointError, match=r"another run \(settings differ\)"):
            other.fit(model, training, checkpoint=path, progress=False)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"eta": 0.0}, "eta must be a finite number > 0, got 0.0"),
        ({"eta": float("nan")}, "eta must be a finite number > 0, got nan"),
        ({"target_class": "each"}, "target_class must be a class number or None, got 'each'"),
        ({"epoch": 3}, "unknown setting 'epoch'; did you mean epochs?"),
    ],
)
def test_impossible_settings(wrong, message: str) -> None:
    with pytest.raises(RCExplainerError, match=message):
        NoLDB(**wrong)
