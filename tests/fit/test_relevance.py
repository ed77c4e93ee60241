"""The relevance network: what it learns, what it leaves alone, what it costs at most, and that it is saved."""

from types import SimpleNamespace

import pytest
import torch

import rcexplainer as rc
from rcexplainer import explainer
from rcexplainer.core.relevance import relative_size
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit import relevance
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn
from rcexplainer.gnn.effects import single_deletions, size_of_change
from rcexplainer.gnn.instances import Instances

QUICK = {"epochs": 3, "teacher_limit": 40}


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    data = rc.datasets.load("ba-2motifs", num_graphs=64)
    config = gnn_config("paper", data.num_features, data.num_classes)
    model = train_gnn(config, data.graphs, data.split, settings=TrainConfig(epochs=40, lr=0.01), progress=False).model
    train, test = data.subset("train"), data.subset("test")
    fitted = rc.RCExplainer(**QUICK).fit(model, train, progress=False)
    return SimpleNamespace(model=model, train=train, test=test, fitted=fitted)


def predicted_size(case) -> tuple[torch.Tensor, torch.Tensor]:
    """What the network predicts of the units of unseen graphs, and what really deleting them gives."""
    fitted, instances = case.fitted, Instances(case.fitted.split, case.test)
    labels = torch.tensor([one.prediction for one in fitted.explain(case.test, search="none")])
    net = fitted.scores.relevance.net
    (seen,) = instances.observed()
    nodes = relevance.node_inputs(seen.done, seen.batch, fitted.config.inputs)
    with torch.no_grad(), fitted.split.scope:
        logits = net(nodes, seen.done.embedding, labels, seen.units.pair, seen.units.owner)
        return logits.sigmoid(), relative_size(size_of_change(*single_deletions(instances)))


def test_sizes_of_changes_are_learnt_for_unseen_graphs(case) -> None:
    predicted, real = predicted_size(case)
    assert float(torch.corrcoef(torch.stack([predicted, real]))[0, 1]) > 0.7


def test_scores_are_the_same_without_it(case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explainer, "fit_relevance", lambda *_, **__: None)
    without = rc.RCExplainer(**QUICK).fit(case.model, case.train, progress=False)
    pairs = zip(case.fitted.explain(case.test[:5]), without.explain(case.test[:5]), strict=True)
    for one, other in pairs:
        assert torch.equal(one.edge_scores, other.edge_scores)
        assert torch.equal(one.counterfactual.columns, other.counterfactual.columns)
        with pytest.raises(RCExplainerError, match="relevance"):
            _ = other.edge_relevance


def test_relevance_is_a_share_and_the_same_in_a_batch_and_alone(case) -> None:
    for one, graph in zip(case.fitted.explain(case.test[:5], search="none"), case.test, strict=False):
        assert bool(((one.edge_relevance >= 0) & (one.edge_relevance <= 1)).all())
        alone = case.fitted.explain(graph, search="none")
        torch.testing.assert_close(one.edge_relevance, alone.edge_relevance, atol=1e-5, rtol=0)


def test_it_is_saved(case, tmp_path) -> None:
    loaded = rc.load(case.fitted.save(tmp_path / "explainer.safetensors"), case.model)
    one, other = (fitted.explain(case.test[0], search="none") for fitted in (case.fitted, loaded))
    assert torch.equal(one.edge_relevance, other.edge_relevance)


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_the_presets_of_the_paper_have_none(case, preset: str) -> None:
    fitted = rc.RCExplainer(preset=preset, epochs=1).fit(case.model, case.train, progress=False)
    assert fitted.scores.relevance is None


def test_no_more_is_tried_than_the_limits_allow(case, monkeypatch: pytest.MonkeyPatch) -> None:
    instances, generator = Instances(case.fitted.split, case.train), torch.Generator().manual_seed(0)
    edges = instances.store.edge_ptr.diff()
    monkeypatch.setattr(relevance, "INSTANCES", 10)
    monkeypatch.setattr(relevance, "ALL_EDGES", int(edges.max()) * 4)
    chosen = relevance.tried_instances(instances, generator)
    assert 0 < len(chosen) <= 4
    assert int(edges[chosen].sum()) <= relevance.ALL_EDGES
    monkeypatch.setattr(relevance, "COPIED_EDGES", 0)
    tried = relevance.tried_units(instances, len(chosen), generator)
    assert torch.bincount(instances.units.owner[tried]).tolist() == [relevance.FEWEST_UNITS] * len(instances)


def test_without_an_instance_small_enough_there_is_none(case, monkeypatch, caplog) -> None:
    monkeypatch.setattr(relevance, "LARGEST", 1)
    fitted = rc.RCExplainer(**QUICK).fit(case.model, case.train, progress=False)
    assert fitted.scores.relevance is None
    assert "no relevance" in caplog.text
