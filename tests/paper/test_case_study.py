"""The case study at toy size, and its motifs by hand."""

import json

import pytest

from rcexplainer.benchmark import networks as running
from rcexplainer.cli import main
from rcexplainer.datasets import load
from rcexplainer.gnn import TrainConfig
from rcexplainer.paper import case_study
from rcexplainer.paper.case_study import MOTIF_NAMES, MOTIFS, CaseStudy, Pair


@pytest.fixture(scope="module")
def study() -> CaseStudy:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "load", lambda name, root, seed: load(name, root, seed, num_graphs=120))
        patch.setattr(running, "training_settings", lambda name: TrainConfig(epochs=60, lr=0.02, patience=60))
        return case_study.case_study(settings={"epochs": 2}, progress=False)


def test_the_motifs_of_each_class_are_those_of_the_dataset() -> None:
    data = load("three-motifs", num_graphs=30)
    for graph in data.graphs:
        kinds = set(graph.edge_motif_id[graph.edge_motif].tolist())
        assert kinds == set(MOTIFS[int(graph.y)])
    assert data.class_names == tuple("+".join(MOTIF_NAMES[kind] for kind in kinds) for kinds in MOTIFS)


def test_every_pair_of_classes_is_measured(study) -> None:
    assert all(pair.own != pair.other for pair in study.pairs)
    assert len(study.pairs) in (2, 4, 6)  # two for every class that is predicted at all
    for pair in study.pairs:
        assert 0 <= pair.auc <= 1
        assert 0 <= pair.auc_shared <= 1
        assert 0 <= pair.auc_occlusion <= 1
        assert 0 <= pair.flipped <= 1
        # The motif that is asked for is the class's own and not the other's.
        assert pair.telling in pair.own.split("+")
        assert pair.telling not in pair.other.split("+")
        assert pair.shared in set(pair.own.split("+")) & set(pair.other.split("+"))
    assert len(study.examples) == len(study.pairs)
    for (own, other), one in study.examples.items():
        assert one.prediction == int(one.graph.y) == own
        assert one.counterfactual.flipped == (one.counterfactual.prediction == other)


def test_the_square_has_means_over_the_seeds() -> None:
    def pair(seed: int, auc: float) -> Pair:
        return Pair(seed, "a", "b", "house", "cycle", 5, auc, 0.25, 0.5, 0.4, 0.3, 1.0, 2.0)

    two = CaseStudy(("a", "b"), (1.0, 0.9), (pair(0, 0.9), pair(1, 1.0)))
    assert two.square() == [
        {"class": "a", "not a": "—", "not b": "house 0.950, cycle 0.250"},
        {"class": "b", "not a": "—", "not b": "—"},
    ]
    (_, caption), (rows, _) = two.tables()
    assert "1.000, 0.900" in caption
    assert [row["AUC"] for row in rows] == [0.9, 1.0]


def test_the_command_draws_and_prints(study, monkeypatch, tmp_path, capsys) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "figures" / "case.svg"
    asked = []
    monkeypatch.setattr(case_study, "case_study", lambda *given, **named: asked.append((given, named)) or study)
    with pytest.raises(SystemExit) as done:
        main(["case-study", "--seeds", "2", "--set", "epochs=2", "--figure", str(path), "--quiet", "--json"])
    assert done.value.code == 0
    assert asked == [((range(2),), {"settings": {"epochs": 2}, "progress": False})]
    document = json.loads(capsys.readouterr().out)
    assert len(document["pairs"]) == len(study.pairs)
    assert path.read_text(encoding="utf-8").rstrip().endswith("</svg>")


def test_a_figure_of_an_unknown_kind_is_refused_before_the_work(tmp_path, capsys) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(SystemExit) as done:
        main(["case-study", "--figure", str(tmp_path / "case.docx")])
    assert done.value.code == 2
    assert "the file of a figure must end in .svg, .png or .pdf, got 'case.docx'" in capsys.readouterr().err
