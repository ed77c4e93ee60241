"""Two writers of one file or folder: the last to finish wins with a whole file, nobody fails, nothing is left over."""

import subprocess
import sys
import threading

import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.errors import GraphError

GRAPH = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]))
OTHER = """
import sys, torch
from torch_geometric.data import Data
import rcexplainer as rc
graph = Data(x=torch.zeros(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]))
rc.datasets.to_parquet([graph] * 5, sys.argv[1])
"""


def rows(path) -> int:
    return len(rc.datasets.GraphTable(path))


def test_a_table_that_another_process_finishes_meanwhile(tmp_path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables)")
    path = tmp_path / "table.parquet"

    def slow():
        for _ in range(4096):  # a row group, so that the file has been begun
            yield GRAPH
        yield GRAPH
        subprocess.run([sys.executable, "-W", "ignore", "-c", OTHER, path], check=True, timeout=120)
        assert rows(path) == 5

    assert rows(rc.datasets.to_parquet(slow(), path)) == 4097
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_in_two_threads(tmp_path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables)")
    path, begun, done = tmp_path / "table.parquet", threading.Event(), threading.Event()

    def slow():
        yield GRAPH
        begun.set()
        assert done.wait(60)

    first = threading.Thread(target=rc.datasets.to_parquet, args=(slow(), path))
    first.start()
    assert begun.wait(60)
    rc.datasets.to_parquet([GRAPH] * 7, path)
    assert rows(path) == 7
    done.set()
    first.join(60)
    assert rows(path) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_mapped_graph_that_appears_meanwhile_is_left_whole(tmp_path, monkeypatch) -> None:
    from rcexplainer.sources import mapped_graph

    plain, path = mapped_graph._as_numpy, tmp_path / "mapped"

    def meanwhile(key, value):
        if key == "x" and not path.exists():
            with monkeypatch.context() as patch:
                patch.setattr(mapped_graph, "_as_numpy", plain)
                rc.datasets.map_graph(GRAPH, path)
        return plain(key, value)

    monkeypatch.setattr(mapped_graph, "_as_numpy", meanwhile)
    with pytest.raises(GraphError, match=r"mapped exists already: name a folder that does not, or open it with Mapped"):
        rc.datasets.map_graph(GRAPH, path)
    assert rc.datasets.MappedGraph(path).num_edges == 2
    assert list(tmp_path.iterdir()) == [path]
