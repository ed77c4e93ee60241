"""Nothing is unpickled: no such call is in the sources, none is made while files are read, and pickles are refused."""

import ast
import gzip
import json
import pickle
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.datasets import TUDataset

import rcexplainer as rc
from rcexplainer.benchmark.archive import Archive
from rcexplainer.datasets import tu_download
from rcexplainer.engine.job_folder import JobFolder
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.model_file import load_gnn
from rcexplainer.paper.figure_files import read_captions
from rcexplainer.paper.packs import read_archive
from rcexplainer.saving.checkpoint import FitFile
from rcexplainer.server.limits import RequestLimits
from rcexplainer.server.uploads import GraphForm, read_json
from rcexplainer.sources.mapped_graph import MappedGraph, map_graph
from tests.security.saved_case import graphs, network, opened, saved

SOURCE = Path(__file__).parents[2] / "src" / "rcexplainer"
MODULES = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "shelve", "marshal", "joblib", "jsonpickle"}
CALLS = {"torch.load", "torch.jit.load", "torch.hub.load", "np.fromfile", "pd.read_pickle", "yaml.load"}
READS = {"eval", "exec", "compile", "__import__"}
PYG_CACHES = {"TUDataset", "Planetoid", "InMemoryDataset", "OnDiskDataset"}  # they unpickle their processed files


def dotted(node: ast.AST) -> str:
    """`torch.load` of an expression; "" if it is none of names alone."""
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return node.id if isinstance(node, ast.Name) else ""


def forbidden(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of everything in a file that could unpickle or run what it reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from ((node.lineno, name) for name in names if name.split(".")[0] in MODULES)
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name in CALLS | READS or name in PYG_CACHES:
            yield node.lineno, name
        for keyword in node.keywords:
            if keyword.arg == "allow_pickle" and not (
                isinstance(keyword.value, ast.Constant) and not keyword.value.value
            ):
                yield node.lineno, "allow_pickle"
            if keyword.arg == "weights_only":
                yield node.lineno, "weights_only"


def test_no_source_unpickles() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 300
    found = [
        f"{path.relative_to(SOURCE)}, line {line}: {name}"
        for path in files
        for line, name in forbidden(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from marshal import loads",
        "torch.load(path, weights_only=True)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=flag)",
        "eval(text)",
        "TUDataset(root, name)",
    ],
)
def test_the_search_finds_what_it_looks_for(code: str) -> None:
    assert list(forbidden(ast.parse(code)))


# At run time


@contextmanager
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Calls of everything that unpickles; Python's own imports, which unmarshal its bytecode, are left out."""
    import marshal
    import shelve

    calls: list[str] = []

    def watched(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            calls.append(f"{name} from {traceback.extract_stack(limit=3)[0].filename}")
            return real(*args, **kwargs)

        return call

    real_load = np.load

    def numpy_load(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("allow_pickle") or (len(args) > 2 and args[2]):
            calls.append("np.load with allow_pickle")
        return real_load(*args, **kwargs)

    with monkeypatch.context() as patch:
        for module, names in (
            (pickle, ("load", "loads", "Unpickler", "_Unpickler")),
            (torch, ("load",)),
            (torch.serialization, ("load", "_load", "_legacy_load")),
            (torch.jit, ("load",)),
            (shelve, ("open",)),
            (marshal, ("load",)),
        ):
            for name in names:
                patch.setattr(module, name, watched(f"{module.__name__}.{name}", getattr(module, name)))
        patch.setattr(np, "load", numpy_load)
        yield calls


def test_the_trace_sees_what_it_looks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({"a": torch.zeros(2)}, tmp_path / "a.pt")
    np.save(tmp_path / "b.npy", np.array([{}]), allow_pickle=True)
    with traced(monkeypatch) as calls:
        torch.load(tmp_path / "a.pt", weights_only=True)
        assert len(calls) >= 1
        np.load(tmp_path / "b.npy", allow_pickle=True)
        pickle.loads(pickle.dumps(1))
    assert {"np.load with allow_pickle"} < set(calls)
    assert any(call.startswith("pickle.loads") for call in calls)


def tu_files() -> dict[str, str]:
    """A set of two graphs."""
    return {
        "A": "1, 2\n2, 1\n3, 4\n4, 3\n",
        "graph_indicator": "1\n1\n2\n2\n",
        "graph_labels": "0\n1\n",
        "node_labels": "0\n1\n1\n0\n",
    }


def test_no_reader_unpickles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit", reason="rdkit is not installed (extra chem)")
    files = saved(tmp_path / "saved")
    rc.RCExplainer(epochs=1).fit(network(), graphs(), checkpoint=tmp_path / "fit.safetensors", progress=False)
    FitFile(tmp_path / "own.safetensors", {"seed": 0}).put("part", {"a": torch.zeros(2)})
    table = rc.datasets.to_parquet(graphs(), tmp_path / "graphs.parquet")
    (tmp_path / "molecules.csv").write_text("smiles,label\nCCO,0\nCCN,1\nCC(=O)O,0\nCCCl,1\n")
    server = tmp_path / "server"
    server.mkdir()
    with zipfile.ZipFile(server / "Toy.zip", "w") as archive:
        for part, text in tu_files().items():
            archive.writestr(f"Toy/Toy_{part}.txt", text)
    monkeypatch.setattr(TUDataset, "url", str(server))
    monkeypatch.delenv("RCEXPLAINER_DATA", raising=False)
    folder = tmp_path / "results"
    (folder / "runs").mkdir(parents=True)
    (folder / "runs" / "a.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    with traced(monkeypatch) as calls:
        for kind, path in files.items():
            opened(kind, path)
        FitFile(tmp_path / "own.safetensors", {"seed": 0})
        rc.RCExplainer(epochs=1).fit(network(), graphs(), checkpoint=tmp_path / "fit.safetensors", progress=False)
        assert len(rc.datasets.load("tu:Toy", root=tmp_path / "sets").graphs) == 2
        assert len(rc.datasets.load("tu:Toy", root=tmp_path / "sets").graphs) == 2
        assert len(rc.datasets.load(f"csv:{tmp_path / 'molecules.csv'}")) == 4
        assert len(list(rc.datasets.GraphTable(table))) == len(graphs())
        assert len(list(rc.datasets.GraphTable(tmp_path / "molecules.csv"))) == 4
        for name in ("ba-2motifs", "nitro"):
            rc.datasets.load(name, num_graphs=4)
        form = GraphForm.of(graphs()[0], RequestLimits())
        one = graphs()[0]
        body = json.dumps({"edge_index": one.edge_index.tolist(), "x": one.x.tolist()}).encode()
        form.graph(read_json(body))
        read_archive(folder / "runs")
        read_captions(folder)
        Archive.of(tmp_path / "archive", {"seed": 0})
        Archive.of(tmp_path / "archive", {"seed": 0})
        JobFolder(tmp_path).counts(1)
        assert map_graph(graphs()[0], tmp_path / "mapped").num_nodes == one.num_nodes
        assert MappedGraph(tmp_path / "mapped").adjacency is not None
    assert calls == []


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


def test_a_bomb_goes_off_when_it_is_unpickled(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(tmp_path / "mark")))
    assert (tmp_path / "mark").exists()


READERS: dict[str, Callable[[Path], Any]] = {
    "explainer": lambda path: rc.load(path, network()),
    "gnn": load_gnn,
    "checkpoint": lambda path: FitFile(path, {"seed": 0}),
    "parquet": lambda path: rc.datasets.GraphTable(path.rename(path.with_suffix(".parquet"))),
    "csv": lambda path: rc.datasets.load(f"csv:{path}"),
    "table of SMILES": lambda path: rc.datasets.GraphTable(path.rename(path.with_suffix(".csv"))),
    "upload": lambda path: read_json(path.read_bytes()),
}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("make", ["pickle", "torch"])
def test_pickles_are_refused_and_not_run(tmp_path: Path, kind: str, make: str) -> None:
    mark, path = tmp_path / "mark", tmp_path / "file"
    if make == "pickle":
        path.write_bytes(pickle.dumps(Bomb(mark)))
    else:
        torch.save(Bomb(mark), path)
    with pytest.raises(RCExplainerError):
        READERS[kind](path)
    assert not mark.exists()


def test_an_array_of_objects_is_refused_and_not_run(tmp_path: Path) -> None:
    map_graph(graphs()[0], tmp_path / "mapped")
    np.save(tmp_path / "mapped" / "node" / "x.npy", np.array([Bomb(tmp_path / "mark")] * 3), allow_pickle=True)
    with pytest.raises(RCExplainerError, match=r"x\.npy cannot be read as an array"):
        MappedGraph(tmp_path / "mapped")
    assert not (tmp_path / "mark").exists()


def test_only_the_text_files_of_an_archive_are_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, target = tmp_path / "server", tmp_path / "deep" / "target"
    server.mkdir()
    target.mkdir(parents=True)
    with zipfile.ZipFile(server / "Toy.zip", "w") as archive:
        for part, text in tu_files().items():
            archive.writestr(f"Toy/Toy_{part}.txt", text)
        for name in ("../Toy_up.txt", "/Toy_root.txt", "Toy/processed/data.pt", "Toy/raw/../../../Toy_far.txt"):
            archive.writestr(name, "x")
    monkeypatch.setattr(TUDataset, "url", str(server))
    tu_download.fetch(target, "Toy")
    raw = target / "Toy" / "raw"
    written = {path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".zip"}
    assert {path.parent for path in written} == {raw}
    assert {f"Toy_{part}.txt" for part in tu_files()} <= {path.name for path in written}
    assert "data.pt" not in {path.name for path in written}
    monkeypatch.setattr(tu_download, "MOST_BYTES", 20)
    (tmp_path / "again").mkdir()
    with pytest.raises(RCExplainerError, match="the archive of Toy holds more than 20 bytes"):
        tu_download.fetch(tmp_path / "again", "Toy")
