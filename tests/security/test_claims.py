"""Sizes that files claim are checked before memory is taken: none of these small files costs more than it holds."""

import gzip
import json
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rcexplainer as rc
from rcexplainer.datasets import parquet_rows
from rcexplainer.datasets.molecule_rows import MOST_CHARACTERS
from rcexplainer.errors import CheckpointError, DatasetError, GraphError, RCExplainerError
from rcexplainer.paper import packs
from rcexplainer.saving.files import read_tensors
from rcexplainer.server.limits import RequestLimits
from rcexplainer.server.uploads import GraphForm, RequestError, read_json
from rcexplainer.sources.mapped_graph import MappedGraph, map_graph
from tests.security.saved_case import graphs, network, opened, saved, with_header

HUGE = 10**12
MOST_MEMORY = 64 << 20  # bytes of Python's and numpy's own


def cheaply(refused: Callable[[], Any]) -> None:
    """Do something, and see that it takes little memory; torch's would raise at once for these sizes."""
    tracemalloc.start()
    try:
        refused()
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


# Saved networks and explainers


def safetensors(path: Path, header: bytes, length: int | None = None, data: bytes = b"") -> Path:
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header + data)
    return path


def entry(shape: list[int], end: int) -> bytes:
    return json.dumps({"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, end]}}).encode()


@pytest.mark.parametrize(
    ("header", "length"),
    [
        (b"{}", 2**63),
        (b"{}", 90_000_000),
        (entry([10**6, 10**6], 4 * HUGE), None),
        (entry([10**6, 10**6], 8), None),
        (entry([2**62, 8], 8), None),
        (entry([3], 8), None),
    ],
)
def test_a_header_beyond_its_file_is_refused(tmp_path: Path, header: bytes, length: int | None) -> None:
    path = safetensors(tmp_path / "a.safetensors", header, length, bytes(8))

    def refused() -> None:
        with pytest.raises(CheckpointError, match="cannot be read as safetensors"):
            read_tensors(path, "rcexplainer-gnn")

    cheaply(refused)


@pytest.mark.parametrize(
    ("kind", "text", "values"),
    [
        ("gnn", "config", {"width": 10**6}),
        ("gnn", "config", {"num_features": HUGE}),
        ("gnn", "config", {"layers": 10**9}),
        ("gnn", "config", {"head_hidden": [10**9]}),
        ("gnn", "config", {"num_classes": 10**9}),
        ("rcexplainer", "about", {"ensemble": 10**9}),
        ("rcexplainer", "about", {"hops": 10**9}),
        ("rcexplainer", "about", {"hops": "3"}),
        ("rcexplainer", "about", {"probes": [HUGE]}),
        ("rcexplainer", "about", {"probes": [3] * 10**5}),
        ("pgexplainer", "about", {"probes": [10**10]}),
        ("pgexplainer", "about", {"hops": -1}),
    ],
)
def test_a_header_that_claims_more_than_its_tensors_is_refused(
    tmp_path: Path, kind: str, text: str, values: dict[str, Any]
) -> None:
    path = with_header(saved(tmp_path)[kind], text, **values)

    def refused() -> None:
        with pytest.raises(CheckpointError):
            opened(kind, path)

    cheaply(refused)


@pytest.mark.parametrize("claim", [{"hidden": 10**10}, {"restarts": 10**9}])
def test_settings_of_a_baseline_are_bounded_by_its_tensors(tmp_path: Path, claim: dict[str, int]) -> None:
    path = saved(tmp_path)["pgexplainer"]
    settings = {**json.loads(header_of(path)["about"])["settings"], **claim}
    path = with_header(path, "about", settings=settings)
    with pytest.raises(CheckpointError, match=r"its header claims 10+ (hidden units|networks), and the file has room"):
        opened("pgexplainer", path)


def header_of(path: Path) -> dict[str, str]:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        return file.metadata()


@pytest.mark.parametrize(("kind", "text"), [("gnn", "config"), ("rcexplainer", "about"), ("pgexplainer", "about")])
def test_json_that_is_nested_without_end_is_refused(tmp_path: Path, kind: str, text: str) -> None:
    from tests.security.saved_case import contents

    path = saved(tmp_path)[kind]
    tensors, header = contents(path)
    from safetensors.torch import save_file

    save_file(tensors, path, {**header, text: "[" * 100_000 + "]" * 100_000})
    with pytest.raises(CheckpointError):
        opened(kind, path)


def test_brackets_inside_texts_are_not_nested(tmp_path: Path) -> None:
    path = with_header(saved(tmp_path)["rcexplainer"], "about", class_names=["[" * 200, '{"' * 200])
    assert rc.load(path, network()).class_names == ("[" * 200, '{"' * 200)


# Graphs in files


def tu(folder: Path, **changed: str) -> Path:
    raw = folder / "Toy" / "raw"
    raw.mkdir(parents=True)
    files = {
        "A": "1, 2\n2, 1\n3, 4\n4, 3\n",
        "graph_indicator": "1\n1\n2\n2\n",
        "graph_labels": "0\n1\n",
        "node_labels": "0\n1\n1\n0\n",
        "edge_labels": "0\n1\n1\n0\n",
    }
    for part, text in {**files, **changed}.items():
        (raw / f"Toy_{part}.txt").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"A": "999999999999, 1\n2, 1\n3, 4\n4, 3\n"},
            "line 1 is the edge 999999999999, 1, expected nodes from 1 to 4",
        ),
        ({"graph_indicator": "1\n1\n2\n999999999999\n"}, "line 4 is graph 999999999999 after graph 2"),
        ({"node_labels": "0\n1\n1\n999999999999\n"}, r"one-hot, they would be 4,000,000,000,000 numbers"),
        ({"edge_labels": "0\n1\n1\n-999999999\n"}, r"labels from -999999999 to 1 in 4 lines"),
        ({"node_labels": f"{-(2**63)}\n1\n1\n{2**63 - 1}\n"}, r"number the labels 0, 1, 2, … without gaps"),
    ],
)
def test_a_set_with_huge_numbers_is_refused(tmp_path: Path, changed: dict[str, str], said: str) -> None:
    root = tu(tmp_path, **changed)

    def refused() -> None:
        with pytest.raises(DatasetError, match=said):
            rc.datasets.load("tu:Toy", root=root)

    cheaply(refused)


def test_labels_with_a_few_gaps_are_read(tmp_path: Path) -> None:
    data = rc.datasets.load("tu:Toy", root=tu(tmp_path, node_labels="0\n1\n1\n1000\n"))
    assert data.num_features == 1001


def test_a_parquet_file_of_few_bytes_that_claims_many_numbers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables)")
    from pyarrow import parquet

    edges = pa.array([[[0] * 500_000, [0] * 500_000]], pa.list_(pa.list_(pa.int64())))
    table = pa.table({"edge_index": edges, "x": pa.array([[[1.0]]], pa.list_(pa.list_(pa.float32())))})
    path = tmp_path / "bomb.parquet"
    parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 3000
    monkeypatch.setattr(parquet_rows, "MOST_NUMBERS", 1 << 19)
    monkeypatch.setattr(parquet_rows, "NUMBERS_PER_BYTE", 1 << 6)
    with pytest.raises(DatasetError, match=r"claims 1,000,001 numbers in [\d,]+ bytes"):
        rc.datasets.GraphTable(path)


def test_a_text_that_a_parquet_file_repeats_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables)")
    pytest.importorskip("rdkit", reason="rdkit is not installed (extra chem)")
    from pyarrow import parquet

    def written(smiles: list[str | None]) -> Path:
        path = tmp_path / "molecules.parquet"
        parquet.write_table(pa.table({"smiles": pa.array(smiles, pa.string())}), path, compression="zstd")
        return path

    assert [one.smiles for one in rc.datasets.GraphTable(written(["CCO", "CCN", "CCO"]))] == ["CCO", "CCN", "CCO"]
    rows = pa.array([[[0], [0]]] * 3, pa.list_(pa.list_(pa.int64())))
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.int64()):
        ids = pa.array([7, 8, 7]).cast(pa.string()) if kind != pa.int64() else pa.array([7, 8, 7])
        table = pa.table({"edge_index": rows, "num_nodes": [1, 1, 1], "id": ids.cast(kind)})
        parquet.write_table(table, tmp_path / "ids.parquet")
        assert [one.id for one in rc.datasets.GraphTable(tmp_path / "ids.parquet")] == ["7", "8", "7"], kind
    bomb = written(["C" * 200_000] * 200)
    assert bomb.stat().st_size < 20_000
    with pytest.raises(DatasetError, match=r"smiles has a text of 200,000 bytes; up to 131,072 are read"):
        rc.datasets.GraphTable(bomb).read(0, 200)


@pytest.mark.parametrize("nodes", [HUGE, 2**62, 5000])
def test_a_row_that_claims_nodes_is_an_error_in_its_place(nodes: int) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables)")
    from rcexplainer.datasets.row_graphs import graphs_of_rows

    edges = pa.array([[[0, 1], [1, 0]]] * 2, pa.list_(pa.list_(pa.int64())))

    def read() -> None:
        found = graphs_of_rows(pa.table({"edge_index": edges, "num_nodes": pa.array([3, nodes])}))
        assert found.errors == {1: f"num_nodes is {nodes} for 2 edges: without x, at most 4096 nodes may have no edge"}
        assert found.graphs()[0].num_nodes == 3

    cheaply(read)


@pytest.mark.parametrize("shape", [(HUGE, 0), (HUGE, 4), (2**40,)])
def test_an_array_that_claims_rows_is_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    map_graph(graphs()[0], tmp_path / "mapped")
    with (tmp_path / "mapped" / "node" / "x.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    with pytest.raises(GraphError, match=r"x\.npy (cannot be read as an array|has the shape)"):
        MappedGraph(tmp_path / "mapped")


def test_long_cells_and_long_smiles_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="rdkit is not installed (extra chem)")
    long = tmp_path / "long.csv"
    long.write_text(f"smiles,label\n{'C' * 200_000},0\nCC,1\n")
    for read in (lambda: rc.datasets.load(f"csv:{long}"), lambda: rc.datasets.GraphTable(long)):
        with pytest.raises(DatasetError, match="field larger than field limit"):
            read()
    long.write_text(f"smiles,label\n{'C' * (MOST_CHARACTERS + 1)},0\nCC,1\nCCO,0\n")
    data = rc.datasets.load(f"csv:{long}")
    assert [one.reason for one in data.bad_rows] == ["the SMILES has 10,001 characters; up to 10,000 are read"]
    assert len(data.bad_rows[0].value) < 100


# Uploads and results


@pytest.mark.parametrize(
    "graph",
    [
        {"edge_index": [[0], [1]], "num_nodes": HUGE},
        {"edge_index": [[0], [HUGE]], "num_nodes": 2},
        {"edge_index": [[0], [10**400]], "num_nodes": 2},
    ],
)
def test_an_upload_that_claims_nodes_is_refused(graph: dict[str, Any]) -> None:
    form = GraphForm(None, None, {}, RequestLimits())
    with pytest.raises(RequestError):
        form.graph(graph)
    for body in (b"[" * 10**6, b'{"a":' * 10**5, b"1" * 10**6):
        with pytest.raises(RequestError):
            read_json(body)


def test_a_line_of_a_compact_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a":"' + b" " * 10**7 + b'"}\n'))
    monkeypatch.setattr(packs, "LONGEST_LINE", 1 << 16)

    def read() -> None:
        assert packs.read_pack(path) == ([], False)

    cheaply(read)
    path.write_bytes(gzip.compress(b"[" * 50_000))
    assert packs.read_pack(path) == ([], False)


def test_the_limits_leave_room_for_what_is_real(tmp_path: Path) -> None:
    """Files of ours are read as before."""
    for kind, path in saved(tmp_path).items():
        assert opened(kind, path) is not None
    model = opened("gnn", tmp_path / "gnn.safetensors").model
    for name, value in network().state_dict().items():
        assert torch.equal(model.state_dict()[name], value)
    assert issubclass(RequestError, RCExplainerError)
