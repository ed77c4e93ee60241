"""`rcexplainer demo`."""

import json
import sys

import pytest

from rcexplainer.cli import molecule_demo
from rcexplainer.cli.molecule_demo import MoleculeDemo, run_demo
from rcexplainer.gnn import TrainConfig
from tests.benchmark.toys import small


@pytest.fixture(scope="module")
def small_demo() -> MoleculeDemo:
    """Few molecules, hardly trained."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(molecule_demo, "load", small)
        patch.setattr(molecule_demo, "DEMO_TRAINING", TrainConfig(epochs=10, lr=0.01))
        patch.setattr(molecule_demo, "DEMO_EPOCHS", 1)
        return run_demo(progress=False)


def test_a_table_and_every_explanation_in_a_file(run, small_demo, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    asked = []
    monkeypatch.setattr(molecule_demo, "run_demo", lambda **how: asked.append(how) or small_demo)
    ended = run("demo", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    kept = json.loads((tmp_path / "demo.json").read_text(encoding="utf-8"))
    assert len(kept["explanations"]) == len(small_demo.explanations) == 8
    assert [one["molecule"] for one in kept["explanations"]] == list(range(8))
    said = " ".join(ended.out.split())
    assert "All 8 explanations are in demo.json, and to look at in demo.html: open it in a browser." in said
    written = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert '"curves":true' in written  # the slider has real predictions
    assert written.count('"molecule":true') == 8
    result = json.loads(run("demo", "--seed", "3", "--out", "other.json", "--html", "other.html", "--json").out)
    assert (result["saved"], result["page"]) == ("other.json", "other.html")
    assert (tmp_path / "other.html").stat().st_size > 10_000
    assert len(result["flipped"]) == 8
    assert asked == [{"seed": 0, "progress": False}, {"seed": 3, "progress": True}]


def test_the_page_needs_no_extras(small_demo, monkeypatch, tmp_path):
    for extra in ("rdkit", "matplotlib"):
        for name in [name for name in sys.modules if name.split(".")[0] == extra]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, extra, None)
    written = small_demo.write_page(tmp_path / "demo.html").read_text(encoding="utf-8")
    assert written.count('"molecule":true') == 8  # bonds are drawn in the package's own layout


def test_what_cannot_be_written_is_refused_before_the_work(refused, tmp_path):
    refused(["demo", "--out", str(tmp_path)], "is a folder, not a file")
    refused(["demo", "--html", str(tmp_path / "page.txt")], "must end in .html, got 'page.txt'")


@pytest.mark.slow
def test_the_whole_demo(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = run("demo", "--json", "--quiet")
    result = json.loads(ended.out)
    assert ended.code == 0
    kept = json.loads((tmp_path / "demo.json").read_text(encoding="utf-8"))
    assert (result["saved"], result["page"]) == ("demo.json", "demo.html")
    assert (tmp_path / "demo.html").exists()
    assert len(kept["explanations"]) == len(result["flipped"])
    shown = kept["explanations"][result["positives"][0]["molecule"]]
    assert ", ".join(shown["counterfactual"]["names"]) == result["positives"][0]["without"]
    assert result["accuracy"]["test"] > 0.95
    assert all(row["predicted"].startswith("positive") and row["without"] for row in result["positives"])
    assert sum(row["flipped"] for row in result["positives"]) >= 7
