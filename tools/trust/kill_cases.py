"""Commands that are killed, on small synthetic inputs that they are made for here."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

INPUT_MODULE = """
from rcexplainer import datasets
def graphs():
    return datasets.load("ba-2motifs", num_graphs=120).graphs
def many_graphs():
    return datasets.load("ba-2motifs", num_graphs=600).graphs
"""
TABLE_SCRIPT = "import inputs; from rcexplainer import datasets; datasets.to_parquet(inputs.graphs(), 'graphs.parquet')"
GRAPH_MODEL, NODE_MODEL = "models/ba-2motifs-paper-0.safetensors", "models/tree-cycles-paper-0.safetensors"
GRAPHS = ("--graphs", "inputs:graphs", "--model", GRAPH_MODEL)
NODES = ("--dataset", "tree-cycles", "--model", NODE_MODEL)
FIT = ("--set", "epochs=8", "--set", "restarts=2")
FITTED_NODES = ("--index", ",".join(str(node) for node in range(511, 571)))
TABLE = (
    "explain", "--input", "graphs.parquet", "--model", GRAPH_MODEL, "--explainer", "graphs.safetensors",
    "--search", "greedy", "--scores", "all", "--part-rows", "6", "--workers", "2", "--out", "{out}/results",
)  # fmt: skip


@dataclass(frozen=True)
class KillCase:
    """A command whose runs are killed.

    Attributes:
        name: Its name in the report.
        words: The words after `rcexplainer`; `{out}` stands for a folder of its own.
    """

    name: str
    words: tuple[str, ...]

    def command(self, out: Path) -> list[str]:
        """The words, with a folder for its results.

        Args:
            out: The folder.
        """
        return [word.format(out=out) for word in self.words]


CASES = (
    KillCase("train", ("train", "--dataset", "ba-2motifs", "--epochs", "15", "--seeds", "3", "--out", "{out}")),
    KillCase("fit graphs", ("fit", *GRAPHS, *FIT, "--out", "{out}/explainer.safetensors")),
    KillCase("fit nodes", ("fit", *NODES, *FIT, *FITTED_NODES, "--out", "{out}/explainer.safetensors")),
    KillCase(
        "explain graphs",
        ("explain", "--graphs", "inputs:many_graphs", "--model", GRAPH_MODEL, "--explainer", "graphs.safetensors",
         "--search", "greedy", "--out", "{out}/found.json"),
    ),
    KillCase(
        "explain nodes",
        ("explain", *NODES, "--explainer", "nodes.safetensors", "--refine", "20", "--out", "{out}/found.json"),
    ),
    KillCase("explain table local", (*TABLE, "--engine", "local")),
    KillCase("explain table ray", (*TABLE, "--engine", "ray")),
    KillCase("evaluate", ("evaluate", *GRAPHS, *FIT, "--methods", "rcexplainer,gradient", "--out", "{out}/found")),
    KillCase("reproduce", ("reproduce", "datasets", "--profile", "quick", "--out", "{out}/results", "--jobs", "2")),
)  # fmt: skip


def make_inputs(folder: Path) -> None:
    """Make the networks, explainers and graphs that the commands need; what is there is kept.

    Args:
        folder: Where commands are started.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "inputs.py").write_text(INPUT_MODULE)
    steps = {
        "graphs.parquet": [sys.executable, "-c", TABLE_SCRIPT],
        GRAPH_MODEL: _own("train", "--dataset", "ba-2motifs", "--epochs", "40", "--out", "models"),
        NODE_MODEL: _own("train", "--dataset", "tree-cycles", "--epochs", "300", "--out", "models"),
        "graphs.safetensors": _own("fit", *GRAPHS, *FIT, "--out", "graphs.safetensors"),
        "nodes.safetensors": _own("fit", *NODES, *FIT, *FITTED_NODES, "--out", "nodes.safetensors"),
    }
    for name, command in steps.items():
        if not (folder / name).exists():
            subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _own(*words: str) -> list[str]:
    return [sys.executable, "-m", "rcexplainer", *words]
