"""Everything the README shows is run: its Python at a small size, its commands and, marked slow, its whole example."""

import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import rcexplainer as rc
from rcexplainer import config
from rcexplainer.benchmark import networks
from rcexplainer.cli.app import main
from rcexplainer.gnn import trainer

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.S)
CONSOLE = [
    line.split("  #")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.S)
    for line in block.splitlines()
]


@pytest.fixture
def small(monkeypatch):
    """Sixty molecules and two epochs, whatever is asked for."""
    monkeypatch.setitem(config.PRESETS, "default", replace(config.PRESETS["default"], epochs=2))
    monkeypatch.setitem(config._NODES, "default", config._NODES["default"] | {"epochs": 2, "restarts": 1})
    monkeypatch.setitem(trainer.DEFAULT_TRAINING, "graph", replace(trainer.DEFAULT_TRAINING["graph"], epochs=12))
    load = rc.datasets.load

    def few(name: str, *args: Any, **options: Any):
        return load(name, *args, **(options | ({"num_graphs": 60} if name == "nitro" else {})))

    monkeypatch.setattr(rc.datasets, "load", few)
    return few


def test_there_is_code_and_there_are_commands_to_try() -> None:
    assert len(PYTHON) == 3
    assert sum(line.startswith("rcexplainer ") for line in CONSOLE) >= 4
    assert {"make demo", "make test"} <= set(CONSOLE)


def test_the_example_and_what_can_be_asked(small, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(PYTHON[0], names)
    assert "Explanation(" in capsys.readouterr().out
    assert rc.load("explainer.safetensors", names["model"]).class_names == names["data"].class_names
    exec(PYTHON[1], names)
    assert isinstance(names["explanation"], rc.Explanation)


def test_nodes_links_and_chosen_classes(small) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)  # networks with random weights that predict every class
        _nodes_links_and_classes()


def _nodes_links_and_classes() -> None:
    nodes, links, classes = PYTHON[2].strip().split("\n\n")
    data = rc.datasets.load("tree-cycles")
    model = rc.gnn.GNN(rc.gnn.gnn_config("paper", data.num_features, 2, "node")).eval()
    with torch.no_grad():
        model.head[-1].bias -= model(data.graph.x, data.graph.edge_index).median(0).values
    exec(nodes, {"rc": rc, "model": model, "graph": data.graph, "train_nodes": list(range(30))})
    data = rc.datasets.load("shared-neighbours")
    model = rc.gnn.GNN(rc.gnn.gnn_config("shallow", data.num_features, 2, "link")).eval()
    pairs = data.graph.edge_label_index.t()
    with torch.no_grad():
        graph = data.graph
        model.head[-1].bias -= (
            model(graph.x, graph.edge_index, edge_label_index=graph.edge_label_index).median(0).values
        )
    exec(links, {"rc": rc, "model": model, "graph": data.graph, "pairs": pairs[:30]})
    data = rc.datasets.load("three-motifs", num_graphs=60)
    model = rc.gnn.GNN(rc.gnn.gnn_config("paper", data.num_features, 3)).eval()
    split = rc.gnn.split_model(model, data.graphs)
    with torch.no_grad():
        model.head[-1].bias -= split.run(data.graphs).output.median(0).values
        predicted = split.run(data.graphs).output.argmax(1)
    graph = data.graphs[int((predicted != 2).nonzero()[0])]
    exec(classes, {"rc": rc, "model": model, "graphs": data.graphs, "graph": graph})


def test_its_commands(small, tmp_path, monkeypatch, capsys) -> None:
    """One after the other, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    for module in ("rcexplainer.benchmark.accuracy", "rcexplainer.cli.saved_network"):
        monkeypatch.setattr(f"{module}.load", small)
    monkeypatch.setattr(networks, "load", small)
    for line in CONSOLE:
        if not line.startswith("rcexplainer ") or "evaluate" in line:  # evaluate has tests of its own, and takes longer
            continue
        with pytest.raises(SystemExit) as left:
            main([*shlex.split(line)[1:], "--quiet"] if "explain --" not in line else shlex.split(line)[1:])
        assert left.value.code == 0, capsys.readouterr().err
    assert "positive" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_its_two_commands_exist() -> None:
    for target in ("demo", "test"):
        subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert len(targets) > 10
    assert not [target for target in targets if not (ROOT / target).exists()]


@pytest.mark.slow
def test_its_example_prints_what_it_says(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    exec(PYTHON[0], {})
    said = re.search(r"print\(explanation\)  # (.*)", PYTHON[0])[1]
    assert said in capsys.readouterr().out
