"""The paper's protocol on toy data: one class, the same graphs twice, the authors' numbers beside."""

import pytest

from rcexplainer.benchmark import networks as running
from rcexplainer.benchmark import paper_protocol as module
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import to_text
from tests.benchmark.toys import QUICK, small


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(running, "load", small)
    monkeypatch.setattr(running, "training_settings", lambda name: QUICK)


def test_one_class_of_all_graphs(toy):
    found = module.paper_protocol("BA-2motifs", seeds=range(2), settings={"epochs": 2}, progress=False)
    assert found.predicted == "house"
    assert found.sparsities == (0.95, 0.90, 0.85, 0.80, 0.75)
    assert found.authors is None
    rows = {row["method"]: row for row in found.rows()}
    assert set(rows) == {"rcexplainer", "greedy", "occlusion", "random"}
    assert 30 < rows["greedy"]["graphs"] < 70  # of a hundred, not of the ten test graphs
    assert rows["greedy"][".80"] >= rows["random"][".80"]
    assert set(rows["greedy"]["std"]) == {".95", ".90", ".85", ".80", ".75"}
    assert '"protocol": "paper"' in to_text(found.to_json())
    ((table, caption),) = found.tables()
    assert [row["method"] for row in table] == list(rows)
    assert "on which it was fitted too; means of 2 seeds" in caption


def test_beside_the_authors(toy, monkeypatch):
    monkeypatch.setattr(module, "AUTHORS", {"ba-2motifs": module.AUTHORS["mutagenicity"]})
    found = module.paper_protocol("ba-2motifs", settings={"epochs": 1}, device="cpu", progress=False)
    ((table, _),) = found.tables()
    assert table[-1] == {
        "method": "the authors'",
        ".524": ".34",
        ".777": ".71",
        ".837": ".73",
        ".883": ".69",
        ".935": ".55",
        ".978": ".24",
    }
    assert list(table[0]) == list(table[-1])


def test_other_sets_have_no_class_to_explain():
    with pytest.raises(RCExplainerError, match="protocol is for mutagenicity, nci1, ba-2motifs, got 'nitro'"):
        module.paper_protocol("nitro")
