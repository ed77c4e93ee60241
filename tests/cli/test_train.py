"""`rcexplainer train`."""

import json

import pytest

from rcexplainer import __version__
from rcexplainer.benchmark import accuracy
from tests.benchmark.toys import small


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    monkeypatch.setattr(accuracy, "load", small)


def test_one_json_document_and_a_file_for_each_network(run, tmp_path):
    options = ["--seeds", "2", "--epochs", "2", "--out", str(tmp_path), "--json"]
    ended = run("train", "--dataset", "ba-2motifs", *options)
    report = json.loads(ended.out)
    assert ended.code == 0
    assert "epoch" in ended.err
    assert report["arch"] == "paper"
    assert "model" not in report
    assert [run["seed"] for run in report["runs"]] == [0, 1]
    assert set(report["accuracy"]) == {"train", "val", "test"}
    assert report["training"]["epochs"] == 2
    assert report["versions"]["rcexplainer"] == __version__
    tests = [run["accuracy"]["test"] for run in report["runs"]]
    assert report["accuracy"]["test"]["mean"] == pytest.approx(sum(tests) / 2)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "ba-2motifs-paper-0.safetensors",
        "ba-2motifs-paper-1.safetensors",
    ]


def test_a_table_with_means(run):
    ended = run("train", "--dataset", "tree-cycles", "--seeds", "2", "--epochs", "2", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    assert "mean ± std" in ended.out
    assert "accuracy of paper on tree-cycles" in ended.out


def test_options_reach_the_training(run):
    options = ["--arch", "gin", "--first-seed", "3", "--lr", "0.02", "--dropout", "0.1", "--epochs", "1", "--json"]
    report = json.loads(run("train", "--dataset", "ba-2motifs", *options).out)
    assert (report["arch"], report["config"]["conv"], report["config"]["dropout"]) == ("gin", "gin", 0.1)
    assert (report["runs"][0]["seed"], report["training"]["lr"]) == (3, 0.02)


def test_links_have_the_architecture_of_evaluate(run, tmp_path):
    ended = run("train", "--dataset", "shared-neighbours", "--epochs", "1", "--out", str(tmp_path), "--quiet")
    assert "accuracy of shallow on shared-neighbours; written to " in " ".join(ended.out.split())
    assert (tmp_path / "shared-neighbours-shallow-0.safetensors").exists()


def test_what_cannot_be_measured_is_null(run, tmp_path):
    pytest.importorskip("rdkit")
    table = tmp_path / "few.csv"
    table.write_text("smiles,label\n" + "".join(f"{'C' * n}O,{n % 2}\n" for n in range(1, 7)), encoding="utf-8")
    ended = run("train", "--dataset", f"csv:{table}", "--epochs", "1", "--json", "--quiet")
    assert ended.code == 0
    assert json.loads(ended.out)["accuracy"]["test"]["mean"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "ba-shaped"], "unknown dataset 'ba-shaped'; did you mean ba-shapes"),
        (["--dataset", "csv:nowhere.csv"], "nowhere.csv"),
        (["--dataset", "ba-2motifs", "--seeds", "0"], "--seeds"),
        (["--dataset", "ba-2motifs", "--seeds", "two"], "--seeds"),
        (["--dataset", "ba-2motifs", "--lr", "-1"], "lr must be a finite number > 0, got -1.0"),
        (["--dataset", "ba-2motifs", "--lr", "nan"], "lr must be a finite number > 0, got nan"),
        (["--dataset", "ba-2motifs", "--dropout", "1"], "dropout must be in [0, 1), got 1.0"),
        (["--dataset", "ba-2motifs", "--arch", "resnet"], "unknown architecture 'resnet'; known: paper"),
        (["--dataset", "ba-2motifs", "--device", "gpu"], "device 'gpu'"),
        (["--dataset", "ba-2motifs", "--device", "meta"], "device 'meta' cannot be used"),
        (["--dataset", "ba-2motifs", "--out", __file__], "is a file, not a folder"),
        (["--dataset", "ba-2motifs", "--out", f"{__file__}/inside"], f"the folder {__file__}/inside cannot be created"),
    ],
)
def test_mistakes(refused, arguments, message):
    refused(["train", *arguments], message)
