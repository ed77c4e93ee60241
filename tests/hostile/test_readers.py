"""Every reader takes its seeds, and refuses what fuzzing found; and a little of both fuzzing and hostile cases."""

import random
from functools import partial

import pytest
import torch

import rcexplainer as rc
from rcexplainer.errors import CheckpointError, DatasetError, GraphError, RCExplainerError
from rcexplainer.saving.checkpoint import CHECKPOINT_FORMAT, FitFile
from rcexplainer.saving.files import read_tensors, write_tensors
from rcexplainer.sources import MappedGraph
from tests.hostile.actions import Case
from tests.hostile.pool import SPECS, pooled
from tests.hostile.trust_tools import trust_tool

pytest.importorskip("fastapi", reason="fastapi is not installed: uploads are not read")
pytest.importorskip("rdkit", reason="RDKit is not installed: molecules are not read")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: tables are not read")
NAMES = ("tu", "csv", "smiles", "parquet", "safetensors", "uploads", "arrays")


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_some_mutations_of_them(name, tmp_path) -> None:
    reader = trust_tool("readers").READERS[name]
    seeds, source, answered = reader.seeds(tmp_path), random.Random(0), 0
    for content in seeds:
        bodies = [bytearray(content) for _ in range(2 if name == "safetensors" else 4)]
        for body in bodies[1:]:
            for _ in range(source.randint(1, 4)):
                body[source.randrange(len(body))] = source.randrange(256)
        for body in bodies:
            try:
                reader.read(bytes(body), tmp_path)
                answered += 1
            except RCExplainerError:
                pass  # anything else fails the test
    assert answered


def test_all_readers_are_fuzzed() -> None:
    assert set(trust_tool("readers").READERS) == set(NAMES) == set(trust_tool("fuzz").NAMES)


def test_odd_spaces_in_a_file_of_a_tu_set(tmp_path) -> None:
    parts = [b"1, 2\n2, 1\n2, 3\n6, 7\n", b"1\n1\n1\n2\n2\n3\n\x1d\x1d3\n", b"0\n0\n0\n"]
    with pytest.raises(DatasetError, match="cannot be read"):
        trust_tool("readers").read_tu(b"\x00".join(parts), tmp_path)


def test_unsigned_and_impossible_numbers_of_nodes(tmp_path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    edges = pa.array([[[0, 1], [1, 0]]] * 4, pa.list_(pa.list_(pa.int64())))
    table = pa.table({"edge_index": edges, "num_nodes": pa.array([2, None, 2**64 - 1, 2**62], pa.uint64())})
    parquet.write_table(table, tmp_path / "table.parquet")
    found = rc.datasets.GraphTable(tmp_path / "table.parquet").read(0, 4)
    assert {place for places, _ in found.groups for place in places} == {0}
    assert found.errors[1] == found.errors[2] == "x or num_nodes is missing"
    assert "at most 4096 nodes may have no edge" in found.errors[3]


def test_names_of_columns_that_are_no_text(tmp_path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table({"num_nodes": [1], "edge_index": [[[0], [0]]]}), path)
    path.write_bytes(path.read_bytes().replace(b"num_nodes", b"num\xb6nodes"))
    with pytest.raises(DatasetError, match="is no Parquet file, or was cut short"):
        rc.datasets.GraphTable(path)


@pytest.mark.parametrize(
    "header", [b"\x93NUMPY\x01\x00\x04\x00{'d(", b"\x93NUMPY\x01\x00\x02\x00[]", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"]
)
def test_a_damaged_header_of_an_array(header, tmp_path) -> None:
    (tmp_path / "edge_index.npy").write_bytes(header)
    with pytest.raises(GraphError, match="cannot be read as an array"):
        MappedGraph(tmp_path)


def test_an_array_in_the_other_byte_order(tmp_path) -> None:
    import numpy as np

    (tmp_path / "node").mkdir()
    np.save(tmp_path / "edge_index.npy", np.array([[0, 1], [1, 0]], ">i8" if np.little_endian else "<i8"))
    np.save(tmp_path / "node" / "x.npy", np.ones((2, 2)))
    with pytest.raises(GraphError, match="which torch does not have"):
        MappedGraph(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.pop("net.node_mean"),
        lambda tensors: tensors.update({"net.node_mean": tensors["net.node_mean"].long()}),
        lambda tensors: tensors.update({"probe.1.x": tensors["probe.1.x"].reshape(-1)}),
        lambda tensors: tensors.update({"answers": tensors["answers"][:0]}),
        lambda tensors: tensors.update({"net.node_mean": torch.tensor(1.0)}),
    ],
)
def test_tensors_that_do_not_belong_in_an_explainer(change, tmp_path) -> None:
    model, (fitted, _), _ = trust_tool("readers").explainer_parts()
    path = fitted.save(tmp_path / "explainer.safetensors")
    tensors, header = read_tensors(path, "rcexplainer-explainer")
    change(tensors)
    write_tensors(path, tensors, header)
    with pytest.raises(RCExplainerError):
        rc.load(path, model)


OTHER = "is damaged or was written by another version"


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ("", OTHER),
        ("[]", OTHER),
        ("null", OTHER),
        ('{"config": 1}', OTHER),
        ("{" * 20000, "is damaged: about in its header is nested more than 64 deep"),
        ('{"config": {"epochs": "x"}}', OTHER),
    ],
)
def test_texts_that_do_not_belong_in_an_explainer(about, said, tmp_path) -> None:
    model, explainers, _ = trust_tool("readers").explainer_parts()
    for fitted, kind in zip(explainers, ("explainer", "pgexplainer"), strict=True):
        path = fitted.save(tmp_path / "explainer.safetensors")
        tensors, header = read_tensors(path, f"rcexplainer-{kind}")
        write_tensors(path, tensors, {**header, "about": about})
        with pytest.raises(CheckpointError, match=said):
            rc.load(path, model)


@pytest.mark.parametrize(
    "header", [{}, {"run": "", "texts": "{}"}, {"run": "{}", "texts": "x"}, {"run": "3", "texts": "{}"}]
)
def test_texts_that_do_not_belong_in_a_checkpoint(header, tmp_path) -> None:
    write_tensors(tmp_path / "fit", {}, {"format": CHECKPOINT_FORMAT, **header})
    with pytest.raises(CheckpointError, match="is damaged or was written by another version"):
        FitFile(tmp_path / "fit", {})


def test_a_few_hostile_cases() -> None:
    cases = trust_tool("cases")
    counts = cases.Counts()
    for number in (*range(40, 80), 79):
        cases.numbered(number, 0, counts)
    assert counts.findings == []
    assert counts.cases == 41
    assert counts.fits == 2
    assert min(counts.answered, counts.refused) > 0


def test_flips_are_counted_and_run_again() -> None:
    cases, counts = trust_tool("cases"), None
    for number, (kind, *_) in enumerate(SPECS):
        if kind == "zoo" and (one := pooled(number)) is not None:
            counts = cases.Counts()
            call = partial(one.fitted.explain, list(one.graphs))
            assert cases.tried(Case("explain", call, one.model, tuple(one.graphs), one.ask), counts) == []
            if counts.flips:
                break
    assert counts.flips > 0
