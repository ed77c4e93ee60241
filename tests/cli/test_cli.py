"""The command line as a user types it: tables and JSON on standard output, one line and exit code 2 for a mistake."""

import json
import subprocess
import sys

import pytest

from rcexplainer.benchmark import accuracy
from rcexplainer.benchmark import networks as running
from rcexplainer.benchmark.speed import nodes_cost
from rcexplainer.cli import fit_ as fitting
from rcexplainer.cli import main
from rcexplainer.datasets import names
from tests.benchmark.toys import QUICK, save_toy, small

COMMANDS = ("demo", "datasets", "train", "fit", "explain", "evaluate", "bench")


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
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
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
        (["bench", "everything"], "unknown benchmark 'everything'; known: import, core, regions, nodes"),
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


def test_bench_nodes_at_a_small_size():
    rows = nodes_cost(1, nodes=200, edges=1000, roots=20, most=500)
    assert [row["hops"] for row in rows] == [1, 2, 3]
    assert rows[0]["edges of all computation graphs"] < rows[2]["edges of all computation graphs"]


def test_bench_core(capsys):
    code, out, _ = run(capsys, "bench", "core", "--repeats", "1", "--json")
    rows = json.loads(out)
    assert code == 0
    assert [row["what"] for row in rows[:-3]] == [
        "scores",
        "training, default",
        "training, paper",
        "training, released",
    ]
    assert all(row["÷ GNN"] > 1 for row in rows[:-3])
    few, _, many = (row["peak bytes an edge"] for row in rows[-3:])
    assert many < 1.05 * few  # linear in the edges: 16 times as many are scored


def test_python_dash_m():
    out = subprocess.run([sys.executable, "-m", "rcexplainer", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout == "0.1.0\n"


@pytest.fixture
def toys(monkeypatch):
    """A hundred graphs instead of the real thing."""
    for module in (accuracy, fitting, running):
        monkeypatch.setattr(module, "load", small)
    monkeypatch.setattr(running, "training_settings", lambda name: QUICK)


@pytest.fixture
def trained(toys, capsys, tmp_path):
    """A network and an explainer, made by their commands."""
    train = ["train", "--dataset", "ba-2motifs", "--epochs", "40", "--lr", "0.01", "--out", str(tmp_path), "--quiet"]
    assert run(capsys, *train)[0] == 0
    gnn, explainer = tmp_path / "ba-2motifs-paper-0.safetensors", tmp_path / "explainer.safetensors"
    fit = ["fit", "--dataset", "ba-2motifs", "--gnn", str(gnn), "--out", str(explainer), "--set", "epochs=2"]
    code, out, err = run(capsys, *fit, "--quiet")
    assert (code, err) == (0, "")
    assert out.split()[:7] == ["graphs", "validation", "regions", "epochs", "seconds", "validation", "loss"]
    assert "intruders" in out
    assert explainer.name in out
    return gnn, explainer


def test_train_fit_explain(trained, capsys, tmp_path):
    gnn, explainer = trained
    explain = ["explain", "--dataset", "ba-2motifs", "--gnn", str(gnn), "--explainer", str(explainer)]
    code, out, err = run(capsys, *explain, "--index", "0,5", "--index", "7", "--search", "greedy")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["0", "5", "7"]
    assert all(name in out.splitlines()[0] for name in ("edges", "predicted", "without", "then", "flipped", "minimal"))
    kept = tmp_path / "kept" / "explanations.json"
    options = ["--part", "val", "--predicted", "house", "--limit", "2", "--seed", "0", "--device", "cpu"]
    code, out, _ = run(capsys, *explain, *options, "--root", str(tmp_path), "--out", str(kept), "--json")
    document = json.loads(out)
    assert code == 0
    assert document == json.loads(kept.read_text(encoding="utf-8"))
    assert [one["prediction"] for one in document["explanations"]] == ["house", "house"]
    code, out, _ = run(capsys, *explain, "--limit", "1", "--search", "none", "--out", str(kept))
    assert "written to" in out
    assert json.loads(kept.read_text(encoding="utf-8"))["explanations"][0]["counterfactual"] is None


def test_fit_prints_one_json_document(trained, capsys, tmp_path):
    gnn, _ = trained
    options = ["--preset", "released", "--set", "epochs=1", "--set", "scaled=yes", "--seed", "0", "--device", "cpu"]
    files = ["--gnn", str(gnn), "--out", str(tmp_path / "e"), "--checkpoint", str(tmp_path / "c")]
    code, out, err = run(capsys, "fit", "--dataset", "ba-2motifs", *files, *options, "--root", str(tmp_path), "--json")
    report = json.loads(out)
    assert code == 0
    assert "epoch" in err
    assert (report["preset"], report["epochs"], report["settings"]["scaled"]) == ("released", 1, True)
    assert report["regions"][0].keys() == {"class", "boundaries", "covered", "intruders"}


def test_evaluate(toys, capsys, tmp_path):
    options = ["--model", "gin", "--preset", "default", "--set", "epochs=1", "--device", "cpu", "--root", str(tmp_path)]
    code, out, err = run(capsys, "evaluate", "--dataset", "ba-2motifs", *options, "--quiet")
    assert (code, err) == (0, "")
    assert all(word in out for word in ("greedy flips", "motif flips", "ratio", "above", "robust", "one graph ms"))
    assert max(len(line) for line in out.splitlines()) <= 110
    code, out, _ = run(capsys, "evaluate", "--dataset", "ba-2motifs", *options, "--no-robustness", "--json")
    document = json.loads(out)
    assert (document["protocol"], document["model"]) == ("held-out", "gin")
    assert {row["robustness"] for row in document["means"]} == {None}


def test_evaluate_by_the_papers_protocol(toys, capsys):
    options = ["--protocol", "paper", "--set", "epochs=1", "--quiet"]
    code, out, _ = run(capsys, "evaluate", "--dataset", "ba-2motifs", *options)
    assert code == 0
    assert "the paper's protocol" in out
    code, out, _ = run(capsys, "evaluate", "--dataset", "ba-2motifs", *options, "--json")
    assert json.loads(out)["protocol"] == "paper"


EVALUATE, FIT, EXPLAIN = (
    ["evaluate", "--dataset", "ba-2motifs"],
    ["fit", "--dataset", "ba-2motifs", "--gnn", "GNN", "--out", "OUT"],
    ["explain", "--dataset", "ba-2motifs", "--gnn", "GNN", "--explainer", "EXPLAINER"],
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "--dataset", "ba-2motifs"], "Missing option '--gnn'"),
        ([*FIT[:4], "nowhere.safetensors"], "there is no file nowhere.safetensors"),
        ([*FIT[:4], __file__], "cannot be read as safetensors"),
        ([*FIT[:4], "EXPLAINER"], "is no rcexplainer-gnn file: its format is 'rcexplainer-explainer'"),
        ([*FIT, "--preset", "best"], "unknown preset 'best'; known: default, paper, released"),
        ([*FIT, "--set", "epoch=3"], "unknown setting 'epoch'; did you mean epochs?"),
        ([*FIT, "--set", "epochs=many"], "epochs must be a whole number, got 'many'"),
        ([*FIT, "--set", "epochs=0"], "epochs must be a whole number ≥ 1, got 0"),
        ([*FIT, "--set", "gate=open"], "gate must be one of sigmoid, concrete, budget, got 'open'"),
        ([*FIT, "--set", "epochs"], "--set takes name=value, such as epochs=20, got 'epochs'"),
        ([*FIT, "--seed", "1"], "was trained with seed 0: --seed 1 would give it another split"),
        ([*FIT, "--device", "gpu"], "device 'gpu'"),
        ([*FIT[:-1], "FOLDER"], "is a folder, not a file"),
        ([*FIT, "--checkpoint", "FOLDER"], "is a folder, not a file"),
        (["fit", "--dataset", "nitro", *FIT[3:]], "was trained on ba-2motifs, not on nitro"),
        (["fit", "--dataset", "tree-cycles", *FIT[3:]], "tree-cycles is of nodes: this command is for graphs"),
        ([*EXPLAIN[:-1], "nowhere.safetensors"], "there is no file nowhere.safetensors"),
        ([*EXPLAIN[:-1], "GNN"], "is no rcexplainer-explainer file: its format is 'rcexplainer-gnn'"),
        ([*EXPLAIN[:4], "OTHER", *EXPLAIN[5:]], "was fitted for another GNN"),
        ([*EXPLAIN, "--part", "all"], "part must be one of train, val, test, got 'all'"),
        ([*EXPLAIN, "--index", "10"], "the test part has 10 graphs: an index is from 0 to 9, got 10"),
        ([*EXPLAIN, "--index", "first"], "--index takes whole numbers, such as 0 or 0,5,7, got 'first'"),
        ([*EXPLAIN, "--limit", "0"], "--limit"),
        ([*EXPLAIN, "--predicted", "tree"], "unknown class 'tree'; known: cycle, house"),
        ([*EXPLAIN, "--search", "best"], "search must be none, prefix or greedy, got 'best'"),
        ([*EXPLAIN, "--out", "FOLDER"], "is a folder, not a file"),
        ([*EXPLAIN, "--device", "gpu"], "device 'gpu'"),
        (["explain", "--dataset", "tree-cycles", *EXPLAIN[3:]], "tree-cycles is of nodes: this command is for graphs"),
        ([*EVALUATE, "--protocol", "mine"], "protocol must be one of held-out, paper, got 'mine'"),
        ([*EVALUATE, "--preset", "best"], "unknown preset 'best'; known: default, paper, released"),
        ([*EVALUATE, "--set", "lr=fast"], "lr must be a number, got 'fast'"),
        ([*EVALUATE, "--model", "resnet"], "unknown model 'resnet'; known: paper"),
        ([*EVALUATE, "--device", "gpu"], "device 'gpu'"),
        (
            ["evaluate", "--dataset", "nitro", "--protocol", "paper"],
            "is for mutagenicity, nci1, ba-2motifs, got 'nitro'",
        ),
        (["demo", "--out", "FOLDER"], "is a folder, not a file"),
    ],
)
def test_mistakes_with_files_are_one_line_and_exit_code_2(saved, toys, capsys, arguments, message):
    code, out, err = run(capsys, *(saved.get(argument, argument) for argument in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("rcexplainer: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The files that the mistakes above are made with."""
    folder = tmp_path_factory.mktemp("saved")
    explainer = folder / "explainer.safetensors"
    gnn, other = (save_toy(folder, "ba-2motifs", seed) for seed in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "load", small)
        fitting.fit_saved("ba-2motifs", gnn, explainer, settings={"epochs": 1}, progress=False)
    files = {"GNN": gnn, "OTHER": other, "EXPLAINER": explainer, "OUT": folder / "out", "FOLDER": folder}
    return {name: str(path) for name, path in files.items()}


@pytest.mark.slow
def test_demo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "demo", "--json", "--quiet")
    result = json.loads(out)
    assert code == 0
    kept = json.loads((tmp_path / "demo.json").read_text(encoding="utf-8"))
    assert result["saved"] == "demo.json"
    assert len(kept["explanations"]) == len(result["flipped"])
    shown = kept["explanations"][result["positives"][0]["molecule"]]
    assert ", ".join(shown["counterfactual"]["names"]) == result["positives"][0]["without"]
    assert result["accuracy"]["test"] > 0.95
    assert all(row["predicted"].startswith("positive") and row["without"] for row in result["positives"])
    assert sum(row["flipped"] for row in result["positives"]) >= 7
