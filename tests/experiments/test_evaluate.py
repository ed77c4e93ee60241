"""The evaluation on toy data: every number is there, in range, and greedy's ratio to itself is 1."""

import json

import pytest

from rcexplainer.datasets import load
from rcexplainer.errors import RCExplainerError
from rcexplainer.experiments import evaluate as module


@pytest.fixture
def toy(monkeypatch):
    """A hundred graphs and a few epochs instead of the real thing."""
    from rcexplainer.explainer import RCExplainer
    from rcexplainer.gnn import TrainConfig, train_gnn

    monkeypatch.setattr(module, "load", lambda name, root, seed: load(name, num_graphs=100, seed=seed))
    monkeypatch.setattr(module, "RCExplainer", lambda: RCExplainer(epochs=3))
    quick = TrainConfig(epochs=40, lr=0.01)
    monkeypatch.setattr(module, "train_gnn", lambda *args, **kwargs: train_gnn(*args, settings=quick, **kwargs))


def test_evaluation(toy):
    found = module.evaluate("ba-2motifs", seeds=range(2), progress=False)
    rows = {(row["class"], row["method"]): row for row in found.rows()}
    assert {method for _, method in rows} == {"rcexplainer", "greedy", "occlusion", "random"}
    assert {name for name, _ in rows} == {"cycle", "house"}
    for (_, method), row in rows.items():
        assert 0 <= row["flipped"] <= 1
        assert 0 <= row["AUC"] <= 1
        if method == "greedy":
            assert row["ratio"] == pytest.approx(1)
    assert set(found.motif_flips) == {"cycle", "house"}
    assert len(found.accuracy) == 2
    assert json.loads(json.dumps(found.to_json()))["means"]
    assert all(isinstance(cell, str) for row in found.table() for cell in row.values())


def test_node_sets_are_refused_for_now():
    with pytest.raises(RCExplainerError, match="is a node set"):
        module.evaluate("tree-cycles", progress=False)
