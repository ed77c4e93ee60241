"""The command line as a user types it: tables and JSON on standard output, one line and exit code 2 for a mistake."""

import json
import subprocess
import sys

import pytest

from rcexplainer.cli import main
from rcexplainer.datasets import names


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_info:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(exit_info.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert "rcexplainer [OPTIONS] COMMAND" in out
    assert all(command in out for command in ("demo", "datasets", "train", "evaluate", "bench"))


@pytest.mark.parametrize("command", ["demo", "datasets", "train", "evaluate", "bench"])
def test_help_of_each_command(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert "--json" in out


def test_version(capsys):
    assert run(capsys, "--version") == (0, "0.1.0\n", "")


def test_list_of_datasets(capsys):
    code, out, _ = run(capsys, "datasets")
    assert code == 0
    assert all(name in out for name in names())
    code, out, _ = run(capsys, "datasets", "--json")
    listed = [row["name"] for row in json.loads(out)]
    assert listed == [*names(), "tu:NAME", "csv:PATH"]


def test_numbers_of_a_dataset(capsys):
    code, out, _ = run(capsys, "datasets", "ba-shapes", "ba-2motifs", "--json")
    shapes, motifs = json.loads(out)
    assert code == 0
    assert (shapes["nodes"], shapes["edges"], shapes["graphs"]) == (700, 2055, 1)
    assert motifs["classes"] == {"cycle": 500, "house": 500}
    assert (motifs["edges"], motifs["motif_edges"]) == (25.5, 5.5)
    code, out, _ = run(capsys, "datasets", "ba-shapes")
    assert "2055" in out
    assert "560/70/70" in out


def test_train_prints_one_json_document_and_keeps_the_networks(capsys, tmp_path):
    arguments = ["train", "--dataset", "ba-2motifs", "--seeds", "2", "--epochs", "2", "--out", str(tmp_path), "--json"]
    code, out, err = run(capsys, *arguments)
    report = json.loads(out)
    assert code == 0
    assert "epoch" in err
    assert [run["seed"] for run in report["runs"]] == [0, 1]
    assert set(report["accuracy"]) == {"train", "val", "test"}
    assert report["training"]["epochs"] == 2
    assert report["versions"]["rcexplainer"] == "0.1.0"
    tests = [run["accuracy"]["test"] for run in report["runs"]]
    assert report["accuracy"]["test"]["mean"] == pytest.approx(sum(tests) / 2)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "ba-2motifs-paper-0.safetensors",
        "ba-2motifs-paper-1.safetensors",
    ]


def test_train_prints_a_table(capsys):
    code, out, err = run(capsys, "train", "--dataset", "tree-cycles", "--seeds", "2", "--epochs", "2", "--quiet")
    assert (code, err) == (0, "")
    assert "mean ± std" in out
    assert "accuracy of paper on tree-cycles" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "No such command 'trian'"),
        (["train"], "Missing option '--dataset'"),
        (["train", "--dataset", "ba-shaped"], "unknown dataset 'ba-shaped'; did you mean ba-shapes"),
        (["train", "--dataset", "ba-2motifs", "--seeds", "0"], "--seeds"),
        (["train", "--dataset", "ba-2motifs", "--seeds", "two"], "--seeds"),
        (["train", "--dataset", "ba-2motifs", "--lr", "-1"], "lr > 0"),
        (["train", "--dataset", "ba-2motifs", "--model", "resnet"], "unknown model 'resnet'; known: paper"),
        (["train", "--dataset", "ba-2motifs", "--device", "gpu"], "device 'gpu'"),
        (["train", "--dataset", "ba-2motifs", "--out", __file__], "is a file, not a folder"),
        (["train", "--dataset", "csv:nowhere.csv"], "nowhere.csv"),
        (["datasets", "mutagen"], "did you mean mutagenicity"),
        (["datasets", "--colour"], "No such option"),
        (["datasets", "ba-shapes", "--seed", "-1"], "from 0 to 2³²−1, got -1"),
        (["train", "--dataset", "ba-2motifs", "--lr", "nan"], "lr > 0"),
        (["train", "--dataset", "ba-2motifs", "--dropout", "1"], "dropout must be in [0, 1), got 1.0"),
        (["train", "--dataset", "ba-2motifs", "--device", "meta"], "device 'meta' cannot be used"),
        (["train", "--dataset", "ba-2motifs", "--out", "/proc/nowhere"], "/proc/nowhere"),
        (["bench", "everything"], "unknown benchmark 'everything'; known: import, core, regions"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("rcexplainer: ")
    assert err.count("\n") == 1
    assert message in err


def test_what_cannot_be_measured_is_null(capsys, tmp_path):
    pytest.importorskip("rdkit")
    table = tmp_path / "few.csv"
    table.write_text("smiles,label\n" + "".join(f"{'C' * n}O,{n % 2}\n" for n in range(1, 7)))
    code, out, _ = run(capsys, "train", "--dataset", f"csv:{table}", "--epochs", "1", "--json", "--quiet")
    assert code == 0
    assert json.loads(out)["accuracy"]["test"]["mean"] is None


def test_bench_import(capsys):
    code, out, _ = run(capsys, "bench", "import", "--repeats", "1", "--json")
    rows = {row["import"]: row["seconds more"] for row in json.loads(out)}
    assert code == 0
    assert rows["torch_geometric"] > rows["rcexplainer"] >= 0


def test_bench_core(capsys):
    code, out, _ = run(capsys, "bench", "core", "--repeats", "1", "--json")
    (row,) = json.loads(out)
    assert code == 0
    assert row["scores ÷ forward"] > 1


def test_python_dash_m():
    out = subprocess.run([sys.executable, "-m", "rcexplainer", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout == "0.1.0\n"


@pytest.mark.slow
def test_demo(capsys):
    code, out, _ = run(capsys, "demo", "--json", "--quiet")
    result = json.loads(out)
    assert code == 0
    assert result["accuracy"]["test"] > 0.95
    assert all(row["predicted"].startswith("positive") and row["without"] for row in result["positives"])
    assert sum(row["flipped"] for row in result["positives"]) >= 7
