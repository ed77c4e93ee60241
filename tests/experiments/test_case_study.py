"""The case study at toy size, and its motifs by hand."""

from rcexplainer.datasets import load
from rcexplainer.experiments import running
from rcexplainer.experiments.case_study import MOTIFS, case_study
from rcexplainer.gnn import TrainConfig


def test_the_motifs_of_each_class_are_those_of_the_dataset() -> None:
    data = load("three-motifs", num_graphs=30)
    for graph in data.graphs:
        kinds = set(graph.edge_motif_id[graph.edge_motif].tolist())
        assert kinds == set(MOTIFS[int(graph.y)])


def test_every_pair_of_classes_is_measured(monkeypatch) -> None:
    monkeypatch.setattr(running, "load", lambda name, root, seed: load(name, root, seed, num_graphs=150))
    monkeypatch.setattr(running, "training_settings", lambda name: TrainConfig(epochs=60, lr=0.02, patience=60))
    found = case_study(settings={"epochs": 3}, progress=False)
    assert all(pair.own != pair.other for pair in found.pairs)
    assert len(found.pairs) in (2, 4, 6)  # two for every class that is predicted at all
    for pair in found.pairs:
        assert 0 <= pair.auc <= 1
        assert 0 <= pair.auc_shared <= 1
        assert 0 <= pair.flipped <= 1
    assert len(found.rows()) == len(found.pairs)
