"""Files of generated molecules: the same rows for the same seed, whoever makes them."""

import pytest
import torch

from rcexplainer.datasets import nitro_file
from rcexplainer.datasets.nitro_file import nitro_rows, write_nitro
from rcexplainer.datasets.nitro_stream import NitroStream
from rcexplainer.errors import DatasetError

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables)")


def test_the_rows_are_those_of_the_stream(tmp_path):
    from rcexplainer.datasets.graph_table import GraphTable

    table = GraphTable(write_nitro(tmp_path / "made" / "molecules.parquet", 7, seed=3))
    for number, (made, row) in enumerate(zip(NitroStream(7, seed=3), table, strict=True)):
        assert torch.equal(made.x, row.x)
        assert torch.equal(made.edge_index, row.edge_index)
        assert torch.equal(made.edge_attr, row.edge_attr)
        assert row.id == f"nitro-3-{number}"
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["molecules.parquet"]


def test_smiles_are_the_same_molecules(tmp_path):
    pytest.importorskip("rdkit", reason="RDKit is not installed (extra chem)")
    from rcexplainer.datasets.graph_table import GraphTable

    table = GraphTable(write_nitro(tmp_path / "smiles.parquet", 9, content="smiles"))
    assert table.holds_smiles
    for made, row in zip(NitroStream(9), table, strict=True):
        assert made.x.sum(0).tolist() == row.x.sum(0).tolist()  # atoms of each kind
        assert made.edge_attr.sum(0).tolist() == row.edge_attr.sum(0).tolist()


@pytest.mark.slow
def test_several_processes_write_what_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr(nitro_file, "ROW_GROUP", 64)
    one, two = (write_nitro(tmp_path / f"{n}.parquet", 1001, seed=5, processes=n) for n in (1, 2))
    assert one.read_bytes() == two.read_bytes()


def test_any_piece_is_the_same():
    whole = nitro_rows(0, 20, seed=2)
    assert nitro_rows(8, 13, seed=2).equals(whole.slice(8, 5))
    assert not nitro_rows(0, 20, seed=3).equals(whole)


def test_a_file_that_fails_is_not_left_half(tmp_path, monkeypatch):
    monkeypatch.setattr(nitro_file, "ROW_GROUP", 4)
    made = nitro_file.draw_twins

    def full(random, calls=iter(range(100))):  # noqa: B008
        if next(calls) > 4:
            raise OSError("no space left")
        return made(random)

    monkeypatch.setattr(nitro_file, "draw_twins", full)
    with pytest.raises(OSError, match="no space left"):
        write_nitro(tmp_path / "molecules.parquet", 100)
    assert not list(tmp_path.iterdir())
    with pytest.raises(DatasetError, match="num_graphs must be at least 1, got 0"):
        write_nitro(tmp_path / "molecules.parquet", 0)
