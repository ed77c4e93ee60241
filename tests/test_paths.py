"""Paths that name nothing: every public call that takes one says which argument it is, and what was given."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from tests.zoo import graph_models

Call = Callable[[Any], object]
WRITING = {
    "save": "save(path): path",
    "save_gnn": "save_gnn(path, model): path",
    "save PGExplainer": "save(path): path",
    "fit": "fit(…, checkpoint=…): checkpoint",
    "draw": "draw(path): path",
    "compare": "compare(explanations_by_method, path): path",
    "page": "page(explanations, path, fitted): path",
    "save_figure": "save_figure(figure, path): path",
    "to_parquet": "to_parquet(graphs, path): path",
    "write_nitro": "write_nitro(path, num_graphs): path",
    "map_graph": "map_graph(data, path): path",
}
READING = {
    "load": "load(path, model): path",
    "load_gnn": "load_gnn(path): path",
    "FittedRCExplainer.load": "load(path, model): path",
    "FittedPGExplainer.load": "load(path, model): path",
    "MappedGraph": "MappedGraph(path): path",
    "index of MappedGraph": "MappedGraph(…, index=…): index",
    "index of StoreGraph": "StoreGraph(…, index=…): index",
}
SUFFIXES = {"draw": ".svg", "compare": ".png", "save_figure": ".pdf", "page": ".html"}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Call]:
    for package in ("matplotlib", "pyarrow"):
        pytest.importorskip(package)
    from rcexplainer.baselines.pgexplainer import FittedPGExplainer
    from rcexplainer.datasets.nitro_file import write_nitro
    from rcexplainer.sources.store_graph import StoreGraph
    from tests.sources.stores import random_graph, stores

    graphs = [graph.clone() for graph in graph_models.graphs(10)]
    model = graph_models.balanced(graph_models.built(graph_models.EXPLAINED["plain"]), tuple(graphs))
    fitted = rc.RCExplainer(epochs=1).fit(model, graphs, progress=False)
    trained = rc.baselines.PGExplainer(epochs=1).fit(model, graphs, progress=False)
    gnn = rc.gnn.GNN(rc.gnn.gnn_config("paper", 3, 2))
    one = fitted.explain(graphs[0])
    mapped = rc.datasets.map_graph(graphs[0], tmp_path_factory.mktemp("paths") / "mapped")
    return {
        "save": fitted.save,
        "save_gnn": lambda path: rc.gnn.save_gnn(path, gnn),
        "save PGExplainer": trained.save,
        "fit": lambda path: rc.RCExplainer(epochs=1).fit(model, graphs, checkpoint=path, progress=False),
        "draw": one.draw,
        "compare": lambda path: rc.viz.compare({"one": one}, path),
        "page": lambda path: rc.viz.page(one, path),
        "save_figure": lambda path: rc.viz.save_figure(rc.viz.subplots(1, 1)[0], path),
        "to_parquet": lambda path: rc.datasets.to_parquet(graphs[:2], path),
        "write_nitro": lambda path: write_nitro(path, 2),
        "map_graph": lambda path: rc.datasets.map_graph(graphs[0], path),
        "load": lambda path: rc.load(path, model),
        "load_gnn": rc.gnn.load_gnn,
        "FittedRCExplainer.load": lambda path: rc.FittedRCExplainer.load(path, model),
        "FittedPGExplainer.load": lambda path: FittedPGExplainer.load(path, model),
        "MappedGraph": rc.datasets.MappedGraph,
        "index of MappedGraph": lambda path: rc.datasets.MappedGraph(mapped.path, index=path),
        "index of StoreGraph": lambda path: StoreGraph(*stores(random_graph()), index=path),
    }


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (3, "got int"),
        (b"file", "got bytes"),
        ([], "got list"),
        ("a\0b", r"got 'a\x00b', which cannot be a path"),
        ("a\ud800", r"got 'a\ud800', which cannot be a path"),
        (Path("a\0b"), r"got 'a\x00b', which cannot be a path"),
        ("", "got an empty text"),
    ],
)
@pytest.mark.parametrize("name", [*WRITING, *READING])
def test_what_is_no_path_is_told_with_its_argument(calls, name: str, path, said: str) -> None:
    with pytest.raises(RCExplainerError) as told:
        calls[name](path)
    text = str(told.value)
    assert text.startswith(f"{(WRITING | READING)[name]} must name ")
    assert said in text


@pytest.mark.parametrize("name", WRITING)
def test_a_place_in_a_file_is_told(calls, name: str, tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("text", encoding="utf-8")
    path = file / "inside" / f"name{SUFFIXES.get(name, '')}"
    with pytest.raises(RCExplainerError, match=re.escape(str(path))) as told:
        calls[name](path)
    assert re.search(
        r"(is a file, or in one; name a folder|cannot be written \(.*\): name another file)$", str(told.value)
    )
    assert file.read_text(encoding="utf-8") == "text"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", WRITING)
def test_a_folder_in_the_place_of_a_file_is_told(calls, name: str, tmp_path) -> None:
    path = tmp_path / f"folder{SUFFIXES.get(name, '')}"
    path.mkdir()
    with pytest.raises(
        RCExplainerError, match=f"{re.escape(str(path))} (is a folder: name a file in it|exists already)"
    ):
        calls[name](path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", [one for one in (*WRITING, *READING) if not one.startswith("index of")])
def test_a_name_that_is_too_long_is_told(calls, name: str, tmp_path) -> None:
    with pytest.raises(RCExplainerError, match=r"\(File name too long\)"):
        calls[name](tmp_path / f"{'a' * 300}{SUFFIXES.get(name, '')}")
    assert not list(tmp_path.iterdir())


def test_an_index_with_a_name_that_is_too_long_is_told(calls, tmp_path) -> None:
    mapped = calls["map_graph"](tmp_path / "mapped")
    again = rc.datasets.MappedGraph(mapped.path, index=tmp_path / ("a" * 300))
    with pytest.raises(RCExplainerError, match=r"the index of the edges cannot be written to .*File name too long"):
        _ = again.adjacency


@pytest.mark.parametrize("path", ["a\0b", "a\ud800", "a" * 300, Path("a\0b.csv"), "csv:a\0b.csv"])
def test_tables_and_datasets_with_such_names(path, tmp_path) -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(RCExplainerError):
        rc.datasets.GraphTable(path)
    with pytest.raises(RCExplainerError):
        rc.datasets.load(f"csv:{path}")
    with pytest.raises(RCExplainerError):
        rc.datasets.load("mutag", root=path)
