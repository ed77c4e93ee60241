"""The command line as a user types it, on small datasets, with one trained network and its explainer."""

from dataclasses import dataclass

import pytest

from rcexplainer.cli import main, own_network, saved_network
from rcexplainer.cli.fit_report import fit_named
from rcexplainer.cli.named_inputs import NamedInputs
from tests.benchmark.toys import save_toy, small
from tests.cli.own_package import TASKS, own, write_package


@dataclass(frozen=True)
class Finished:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys):
    """Run a command: `run("train", "--dataset", …)`."""

    def finished(*arguments: str) -> Finished:
        with pytest.raises(SystemExit) as exit_info:
            main(list(arguments))
        captured = capsys.readouterr()
        return Finished(int(exit_info.value.code or 0), captured.out, captured.err)

    return finished


@pytest.fixture
def refused(run):
    """Check that a command line is a mistake: one line that says so, nothing on standard output, exit code 2."""

    def check(arguments: list[str], message: str) -> None:
        ended = run(*arguments)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith("rcexplainer: ")
        assert ended.err.count("\n") == 1
        assert message in ended.err

    return check


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """A command that chooses its threads changes the process: here the choice is made already."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """A hundred graphs instead of the real thing, for whatever opens a saved network."""
    for module in (saved_network, own_network):
        monkeypatch.setattr(module, "load", small)


@pytest.fixture(scope="session")
def gnn(tmp_path_factory):
    """A network trained on a small ba-2motifs with seed 0."""
    return save_toy(tmp_path_factory.mktemp("gnn"), "ba-2motifs")


@pytest.fixture(scope="session")
def other_gnn(tmp_path_factory):
    """A network trained with seed 1."""
    return save_toy(tmp_path_factory.mktemp("other"), "ba-2motifs", seed=1)


@pytest.fixture(scope="session")
def explainer(gnn):
    """An explainer of `gnn`, hardly trained."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saved_network, "load", small)
        out = gnn.parent / "explainer.safetensors"
        fit_named(NamedInputs(str(gnn), "ba-2motifs"), out, settings={"epochs": 2}, progress=False)
    return out


@pytest.fixture
def named(gnn, other_gnn, explainer, tmp_path):
    """Put files in the places of the words GNN, OTHER, EXPLAINER, OUT and FOLDER of a command line."""
    files = {"GNN": gnn, "OTHER": other_gnn, "EXPLAINER": explainer, "OUT": tmp_path / "out", "FOLDER": tmp_path}

    def replaced(arguments: list[str]) -> list[str]:
        return [str(files.get(word, word)) for word in arguments]

    return replaced


@pytest.fixture(scope="session")
def own_folder(tmp_path_factory):
    """The user's package, and an explainer for each task that was fitted on the training part."""
    found = tmp_path_factory.mktemp("own")
    write_package(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(found)
        patch.setenv("OMP_NUM_THREADS", "1")
        for task in TASKS:
            words = ["--task", task, "--set", "epochs=2", "--set", "restarts=1", "--quiet"]
            names = ["--class-names", "no,yes"] if task == "graph" else []
            with pytest.raises(SystemExit) as left:
                main(["fit", *own(task), *words, *names, "--out", str(found / f"{task}.safetensors")])
            assert left.value.code in (0, None)
    return found


@pytest.fixture
def inside(own_folder, monkeypatch):
    """The folder of the user's package is the current one."""
    monkeypatch.chdir(own_folder)
    monkeypatch.syspath_prepend(own_folder)
    return own_folder
