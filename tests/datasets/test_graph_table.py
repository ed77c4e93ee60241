"""Graphs in files, by row number."""

import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.datasets import csv_rows, parquet_rows
from rcexplainer.datasets.csv_rows import CSVRows
from rcexplainer.datasets.graph_table import GraphTable
from rcexplainer.errors import DatasetError


def path_graphs(count: int, first: int = 0) -> list[Data]:
    """Paths of 2 to 5 nodes whose feature is their number."""
    found = []
    for number in range(first, first + count):
        nodes = 2 + number % 4
        ends = torch.arange(nodes - 1)
        found.append(
            Data(x=torch.full((nodes, 1), float(number)), edge_index=torch.stack([ends, ends + 1]), id=str(number))
        )
    return found


def numbers(graphs) -> list[int]:
    return [int(graph.x[0]) for graph in graphs]


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(parquet_rows, "ROW_GROUP", 4)


def test_every_row_in_any_order(tmp_path, small_groups) -> None:
    table = GraphTable(rc.datasets.to_parquet(path_graphs(19), tmp_path / "a.parquet"))
    assert len(table) == 19
    for start, stop in ((0, 5), (5, 11), (11, 12), (3, 9), (17, 30), (0, 19), (2, 3)):
        found = table.read(start, stop)
        assert numbers(found.graphs()) == list(range(start, min(stop, 19)))
        assert found.names["id"] == [str(number) for number in range(start, min(stop, 19))]


def test_it_can_be_gone_through_again_and_again(tmp_path, small_groups) -> None:
    table = GraphTable(rc.datasets.to_parquet(iter(path_graphs(9)), tmp_path / "a.parquet"))
    assert numbers(table) == numbers(table) == list(range(9))
    assert numbers(pickle.loads(pickle.dumps(table))) == list(range(9))


def test_several_files_are_one_table(tmp_path, small_groups) -> None:
    rc.datasets.to_parquet(path_graphs(5), tmp_path / "a.parquet")
    rc.datasets.to_parquet(path_graphs(6, 5), tmp_path / "b.parquet")
    for name in (tmp_path, f"{tmp_path}/*.parquet", tmp_path / "[ab].parquet"):
        table = GraphTable(name)
        assert numbers(table) == list(range(11))
        assert numbers(table.read(3, 8).graphs()) == list(range(3, 8))


def test_the_digest_is_that_of_the_rows(tmp_path) -> None:
    one = GraphTable(rc.datasets.to_parquet(path_graphs(5), tmp_path / "a.parquet")).digest
    assert GraphTable(rc.datasets.to_parquet(path_graphs(5), tmp_path / "b.parquet")).digest == one
    assert GraphTable(rc.datasets.to_parquet(path_graphs(5, 1), tmp_path / "c.parquet")).digest != one
    assert GraphTable(rc.datasets.to_parquet(path_graphs(4), tmp_path / "d.parquet")).digest != one


def test_large_row_groups_are_read_on_where_reading_stopped(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(parquet_rows, "ROW_GROUP", 50)
    path = rc.datasets.to_parquet(path_graphs(50), tmp_path / "a.parquet")
    monkeypatch.setattr(parquet_rows, "ROW_GROUP", 5)  # rows decoded at a time
    table = GraphTable(path)
    (rows, *_) = table.files[0].read.args
    table.read(0, 10)
    cursor = rows._cursor
    assert numbers(table.read(10, 20).graphs()) == list(range(10, 20))
    assert rows._cursor is cursor
    assert numbers(table.read(30, 35).graphs()) == list(range(30, 35))
    assert rows._cursor is cursor  # further on in the same row group
    assert numbers(table.read(0, 2).graphs()) == [0, 1]


def test_a_file_appears_whole_or_not_at_all(tmp_path) -> None:
    def broken():
        yield from path_graphs(3)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        rc.datasets.to_parquet(broken(), tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match="there are no graphs to write"):
        rc.datasets.to_parquet([], tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_tables_of_graphs(tmp_path) -> None:
    whole = rc.datasets.to_parquet(path_graphs(50), tmp_path / "a.parquet")
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[:-20])
    empty = tmp_path / "empty.parquet"
    pq.write_table(pq.read_table(whole).slice(0, 0), empty)
    untyped = tmp_path / "untyped.parquet"  # as pandas writes columns without rows
    pq.write_table(pa.table({"edge_index": pa.nulls(0), "x": pa.nulls(0)}), untyped)
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1], "b": [2]}), other)
    numbered = tmp_path / "numbered.parquet"
    pq.write_table(pa.table({"smiles": [1]}), numbered)
    blank = tmp_path / "blank.csv"
    blank.write_text("", encoding="utf-8")
    unnamed = tmp_path / "unnamed.csv"
    unnamed.write_text("a,b\n1,2\n", encoding="utf-8")
    for path, error in (
        (cut, "cut.parquet is no Parquet file, or was cut short"),
        (empty, "has no rows"),
        (untyped, "has no rows"),
        (other, "has neither a column edge_index nor one of SMILES; it has a, b"),
        (numbered, "column smiles is int64, it must be string"),
        (blank, "is empty"),
        (unnamed, "has no column of SMILES; it has a, b: choose one with smiles_column (--smiles-column)"),
        (tmp_path / "absent.parquet", "there is no file"),
        (tmp_path / "*.txt", "no file fits it as a pattern"),
        (Path(__file__), "must end in .parquet or .csv"),
    ):
        with pytest.raises(DatasetError) as found:
            GraphTable(path)
        assert error in str(found.value)


def test_files_of_two_kinds_are_refused(tmp_path) -> None:
    rc.datasets.to_parquet(path_graphs(2), tmp_path / "a.parquet")
    pq.write_table(pa.table({"smiles": ["CC"]}), tmp_path / "b.parquet")
    with pytest.raises(DatasetError, match="one has graphs, the other SMILES"):
        GraphTable(tmp_path)
    weighted = [Data(**one.to_dict(), edge_weight=torch.ones(one.num_edges)) for one in path_graphs(2)]
    rc.datasets.to_parquet(weighted, tmp_path / "b.parquet")
    with pytest.raises(DatasetError, match="have different columns: edge_index, x; edge_index, x, edge_weight"):
        GraphTable(tmp_path)


def test_a_damaged_file_names_its_rows(tmp_path, small_groups) -> None:
    path = rc.datasets.to_parquet(path_graphs(40), tmp_path / "a.parquet")
    table = GraphTable(path)
    content = bytearray(path.read_bytes())
    middle = len(content) // 3
    content[middle : middle + 400] = b"\xff" * 400
    path.write_bytes(bytes(content))
    with pytest.raises(DatasetError, match=r"rows 0 to 39, cannot be read"):
        table.read(0, 40)
    rc.datasets.to_parquet(path_graphs(5), tmp_path / "b.parquet")
    both = GraphTable(tmp_path)  # damage costs the rows it is in, though the first are those that sizes are judged by
    assert numbers(both.read(40, 45).graphs()) == list(range(5))


SMILES = 'name;SMILES;note\nethanol;CCO;"two\nlines"\n\nbroken;C(C;\nwater;O;x\nnothing;;\n'


def test_molecules_of_a_csv_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(csv_rows, "STRIDE", 2)
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + SMILES.encode())
    table = GraphTable(path)
    found = table.read(0, 10)
    assert (len(table), table.holds_smiles) == (4, True)
    assert found.names == {"id": ["ethanol", "broken", "water", "nothing"], "smiles": ["CCO", "C(C", "O", ""]}
    assert found.errors == {1: "SMILES 'C(C': not a SMILES", 3: "SMILES '': the SMILES is missing"}
    assert [one.num_nodes for one in table] == [3, 1]
    for start in range(4):
        assert table.read(start, start + 1).names["id"] == found.names["id"][start : start + 1]
    rows = CSVRows.open(path)
    assert [line for line, _ in rows.rows(0, 9)] == [2, 5, 6, 7]  # as an editor numbers them


def test_parquet_with_smiles_is_read_alike(tmp_path) -> None:
    pq.write_table(pa.table({"Smiles": ["CCO", None, "c1ccccc1"], "id": [7, 8, 9]}), tmp_path / "a.parquet")
    found = GraphTable(tmp_path / "a.parquet").read(0, 3)
    assert found.names["id"] == ["7", "8", "9"]
    assert found.errors == {1: "SMILES '': the SMILES is missing"}
    csv = tmp_path / "a.csv"
    csv.write_text("smiles\nCCO\nc1ccccc1\n", encoding="utf-8")
    for one, other in zip(GraphTable(csv), GraphTable(tmp_path / "a.parquet"), strict=True):
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.edge_index, other.edge_index)


def test_columns_can_be_chosen(tmp_path) -> None:
    pq.write_table(pa.table({"a": ["CCO"], "b": ["one"]}), tmp_path / "a.parquet")
    found = GraphTable(tmp_path / "a.parquet", "A", "b").read(0, 1)
    assert found.names == {"smiles": ["CCO"], "id": ["one"]}
    with pytest.raises(DatasetError, match="no column 'c', which id_column names; it has a, b"):
        GraphTable(tmp_path / "a.parquet", "a", "c")


def test_text_that_is_not_utf_8(tmp_path) -> None:
    (tmp_path / "a.csv").write_bytes(b"smiles\nCCO\n\xff\xfe\n")
    with pytest.raises(DatasetError, match="line 3, is not text in UTF-8"):
        GraphTable(tmp_path / "a.csv")


def test_rows_that_are_no_graphs_are_named_by_their_lines(tmp_path, caplog) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "a.csv").write_text("smiles\nCCO\n\nC1CC\nCC\n", encoding="utf-8")
    alone = GraphTable(tmp_path / "a.csv")
    assert len(list(alone)) == 2
    assert "1 of 3 rows were left out, the first is line 4: SMILES 'C1CC': not a SMILES" in caplog.text
    (tmp_path / "b.csv").write_text("smiles\nC\nx(\n", encoding="utf-8")
    both = GraphTable(tmp_path)
    assert [both.where(row) for row in range(5)] == [
        "a.csv, line 2", "a.csv, line 4", "a.csv, line 5", "b.csv, line 2", "b.csv, line 3",
    ]  # fmt: skip
    assert pickle.loads(pickle.dumps(both)).where(4) == "b.csv, line 3"


def test_the_first_graphs_are_read_without_a_warning(tmp_path, caplog) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "a.csv").write_text("smiles\nC1CC\nCCO\nCC\nCCC\n", encoding="utf-8")
    assert [graph.num_nodes for graph in GraphTable(tmp_path / "a.csv").first(2)] == [3, 2]
    assert caplog.text == ""


def test_rows_of_a_parquet_file_are_named_by_their_numbers(tmp_path) -> None:
    table = GraphTable(rc.datasets.to_parquet(path_graphs(3), tmp_path / "a.parquet"))
    assert table.where(2) == "row 2"
