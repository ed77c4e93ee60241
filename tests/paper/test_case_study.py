"""The case study at toy size, and its motifs by hand."""

import json

import pytest

from rcexplainer.benchmark import networks as running
from rcexplainer.datasets import load
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import TrainConfig
from rcexplainer.paper import case_study
from rcexplainer.paper.case_study import MOTIF_NAMES, MOTIFS, CaseStudy, Pair
from rcexplainer.saving.documents import to_text


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


def test_a_graph_of_each_class_is_drawn(study, tmp_path) -> None:
    pytest.importorskip("matplotlib")
    path = case_study.draw_case_study(study, tmp_path / "figures" / "case.svg")
    assert path.read_text(encoding="utf-8").rstrip().endswith("</svg>")
    with pytest.raises(
        RCExplainerError, match=r"the file of a figure must end in \.svg, \.png or \.pdf, got 'case\.docx'"
    ):
        case_study.draw_case_study(study, tmp_path / "case.docx")


def test_the_document_has_every_pair(study) -> None:
    assert len(json.loads(to_text(study.to_json()))["pairs"]) == len(study.pairs)
