"""`rcexplainer fit`, and the way from `train` to `explain`."""

import json

import pytest

from rcexplainer.benchmark import accuracy
from tests.benchmark.toys import small

FIT = ["fit", "--dataset", "ba-2motifs", "--model", "GNN", "--out", "OUT"]


def test_train_fit_explain(run, tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy, "load", small)
    data = ["--dataset", "ba-2motifs"]
    train = [*data, "--epochs", "40", "--lr", "0.01", "--out", str(tmp_path), "--quiet"]
    assert run("train", *train).code == 0
    gnn, explainer = tmp_path / "ba-2motifs-paper-0.safetensors", tmp_path / "explainer.safetensors"
    fitted = run("fit", *data, "--model", str(gnn), "--out", str(explainer), "--set", "epochs=2", "--quiet")
    assert (fitted.code, fitted.err) == (0, "")
    assert fitted.out.split()[:7] == ["graphs", "validation", "regions", "epochs", "seconds", "validation", "loss"]
    assert "intruders" in fitted.out
    assert explainer.name in fitted.out
    explained = run("explain", *data, "--model", str(gnn), "--explainer", str(explainer), "--limit", "2", "-q")
    assert (explained.code, explained.err) == (0, "")
    assert "2 graphs of the test part of ba-2motifs" in explained.out


def test_one_json_document(run, gnn, tmp_path):
    options = ["--preset", "released", "--set", "epochs=1", "--set", "scaled=yes", "--seed", "0", "--device", "cpu"]
    files = ["--model", str(gnn), "--out", str(tmp_path / "e"), "--checkpoint", str(tmp_path / "c")]
    ended = run("fit", "--dataset", "ba-2motifs", *files, *options, "--root", str(tmp_path), "--json")
    report = json.loads(ended.out)
    assert ended.code == 0
    assert "epoch" in ended.err
    assert (report["preset"], report["epochs"], report["settings"]["scaled"]) == ("released", 1, True)
    assert (report["model"], report["explainer"]) == (str(gnn), str(tmp_path / "e"))
    found = {"class", "boundaries", "covered", "intruders", "borders"}
    assert report["regions"][0].keys() == found | {"members", "margin", "smallest_margin", "deleted"}


def test_a_class_to_fit_for_has_a_name(run, named):
    assert run(*named(FIT), "--set", "epochs=1", "--set", "target_class=house", "--quiet").code == 0
    explain = named(["explain", "--dataset", "ba-2motifs", "--model", "GNN", "--explainer", "OUT", "--quiet"])
    assert "fitted for class 1, not 0: leave --target-class out" in run(*explain, "--target-class", "cycle").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (FIT[:3], "Missing option '--model'"),
        ([*FIT[:4], "nowhere.safetensors"], "there is no file nowhere.safetensors"),
        ([*FIT[:4], "FOLDER"], "is a folder, not a file: name a file that `rcexplainer train --out DIR` wrote"),
        ([*FIT[:4], __file__], "cannot be read as safetensors"),
        ([*FIT[:4], "EXPLAINER"], "is not a rcexplainer-gnn file: its format is 'rcexplainer-explainer'"),
        ([*FIT, "--preset", "best"], "unknown preset 'best'; known: default, paper, released"),
        ([*FIT, "--set", "epoch=3"], "unknown setting 'epoch'; did you mean epochs?"),
        ([*FIT, "--set", "epochs=many"], "epochs must be a whole number, got 'many'"),
        ([*FIT, "--set", "epochs=0"], "epochs must be a whole number ≥ 1, got 0"),
        ([*FIT, "--set", "gate=open"], "gate must be one of sigmoid, concrete, budget, got 'open'"),
        ([*FIT, "--set", "epochs"], "--set takes name=value, such as epochs=20, got 'epochs'"),
        ([*FIT, "--set", "task=node"], "task is an option of its own: --task node"),
        ([*FIT, "--set", "target_class=tree"], "target_class: unknown class 'tree'; known: cycle, house, or 0 to 1"),
        ([*FIT, "--seed", "1"], "was trained with seed 0: --seed 1 would give another split"),
        ([*FIT, "--device", "gpu"], "device 'gpu'"),
        ([*FIT[:-1], "FOLDER"], "is a folder, not a file"),
        ([*FIT, "--checkpoint", "FOLDER"], "is a folder, not a file"),
        (["fit", "--dataset", "nitro", *FIT[3:]], "was trained on ba-2motifs, not on nitro"),
        (
            ["fit", "--dataset", "tree-cycles", *FIT[3:]],
            "was trained on ba-2motifs, not on tree-cycles",
        ),
    ],
)
def test_mistakes(refused, named, arguments, message):
    refused(named(arguments), message)
