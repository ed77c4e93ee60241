"""A graph in a folder: the same as in memory, read in parts; a folder that does not fit is refused by name."""

import pickle

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.errors import GraphError
from rcexplainer.sources import MappedGraph, MemoryGraph, adjacency_files, map_graph
from tests.sources.stores import random_graph


@pytest.fixture
def graph() -> Data:
    return random_graph()


@pytest.fixture
def mapped(graph, tmp_path) -> MappedGraph:
    return map_graph(graph, tmp_path / "graph")


def same_edges(one, other, nodes: torch.Tensor) -> None:
    ours, theirs = one.adjacency.into(nodes), other.adjacency.into(nodes)
    for name in ("columns", "sources", "owner"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.parametrize("chunk", [7, 64, 10**6])
def test_it_reads_as_the_graph_in_memory_does(graph, tmp_path, monkeypatch, chunk: int) -> None:
    monkeypatch.setattr(adjacency_files, "CHUNK", chunk)
    mapped, memory = map_graph(graph, tmp_path / "graph"), MemoryGraph(graph)
    nodes = torch.tensor([3, 0, 150, 199, 3])
    same_edges(mapped, memory, nodes)
    same_edges(mapped, memory, torch.arange(graph.num_nodes))
    assert torch.equal(mapped.node_values(nodes)["x"], graph.x[nodes])
    assert torch.equal(mapped.edge_values(nodes)["edge_weight"], graph.edge_weight[nodes])
    assert torch.equal(mapped.labels(nodes), graph.y[nodes])
    places = torch.arange(graph.num_edges)
    assert torch.equal(mapped.adjacency.ends(places), graph.edge_index.t()[graph.edge_index[1].argsort(stable=True)])
    assert (mapped.num_nodes, mapped.num_edges) == (graph.num_nodes, graph.num_edges)


def test_values_of_every_level_and_type_survive(tmp_path) -> None:
    graph = random_graph()
    graph.kind = torch.arange(graph.num_nodes, dtype=torch.int32)
    graph.train_mask = torch.arange(graph.num_nodes) < 5
    graph.setting = torch.tensor([[2.5, 1.0]])
    graph.name = "not a tensor"
    mapped = map_graph(graph, tmp_path / "graph")
    found = mapped.node_values(torch.tensor([7, 2]))
    assert found["kind"].dtype == torch.int32
    assert found["kind"].tolist() == [7, 2]
    assert found["train_mask"].tolist() == [False, True]
    assert mapped.get("setting").tolist() == [[2.5, 1.0]]
    assert "setting" in mapped
    assert mapped.get("name") is None


def test_the_index_is_built_once_and_again_after_a_change(graph, mapped, monkeypatch) -> None:
    built: list[int] = []
    plain = adjacency_files._build
    monkeypatch.setattr(adjacency_files, "_build", lambda *given: built.append(1) or plain(*given))
    _ = mapped.adjacency, mapped.adjacency, MappedGraph(mapped.path).adjacency
    assert len(built) == 1
    turned = graph.edge_index.flip(0)
    np.save(mapped.path / "edge_index.npy", turned.numpy())
    again = MappedGraph(mapped.path)
    same_edges(again, MemoryGraph(Data(edge_index=turned, num_nodes=graph.num_nodes)), torch.arange(50))
    assert len(built) == 2


def test_an_interrupted_build_leaves_nothing_that_could_be_used(graph, mapped, monkeypatch) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(adjacency_files, "_check_range", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _ = mapped.adjacency
    assert sorted(path.name for path in mapped.path.iterdir()) == ["edge", "edge_index.npy", "node"]
    killed = mapped.path / ".in_edges.building-999999999"  # its process is gone
    killed.mkdir()
    (killed / "ptr.npy").write_bytes(b"half")
    same_edges(mapped, MemoryGraph(graph), torch.arange(graph.num_nodes))
    assert not killed.exists()
    (mapped.index / "index.json").write_text("{", encoding="utf-8")  # as if it had not been written to its end
    same_edges(MappedGraph(mapped.path), MemoryGraph(graph), torch.arange(graph.num_nodes))


def test_on_another_device_it_is_the_same_graph(mapped) -> None:
    other = mapped.on(torch.device("meta"))
    assert other.adjacency is mapped.adjacency
    assert (mapped.device.type, other.device.type) == ("cpu", "meta")
    assert other.part(torch.tensor([0]), torch.tensor([0]), torch.tensor([[0], [0]])).x.device.type == "meta"


def test_an_index_elsewhere(graph, mapped, tmp_path) -> None:
    other = MappedGraph(mapped.path, index=tmp_path / "index" / "of-it")
    same_edges(other, MemoryGraph(graph), torch.arange(20))
    assert not (mapped.path / "in_edges").exists()
    again = pickle.loads(pickle.dumps(other))
    assert (again.path, again.index, again.max_edges) == (other.path, other.index, other.max_edges)
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(GraphError, match=r"cannot be written to .*name a folder for it that can be written"):
        _ = MappedGraph(mapped.path, index=file / "index").adjacency


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("edge_index.npy", None, r"there is no file .*edge_index\.npy: a mapped graph needs edge_index\.npy \[2, E\]"),
        ("edge_index.npy", np.zeros((2, 700)), r"edge_index\.npy must hold whole numbers .*got float64"),
        ("edge_index.npy", np.zeros((700, 2), np.int64), r"of shape \[2, E\], got int64 of shape \(700, 2\)"),
        ("edge_index.npy", np.zeros((2, 0), np.int64), "edge_index.npy has no edges"),
        ("edge_index.npy", b"\x93NUMPY", r"edge_index\.npy cannot be read as an array.*cut short"),
        ("node/x.npy", None, r"node has no \.npy file"),
        ("node/z.npy", np.zeros((3, 2)), r"node/z\.npy has 3 rows, .*x\.npy 200: one for each node"),
        ("node/z.npy", np.zeros(()), r"node/z\.npy holds a single number"),
        ("node/z.npy", np.zeros(200, "M8[s]"), r"node/z\.npy holds values of type datetime64\[s\]"),
        ("node/z.npy", np.array([{}] * 200), r"node/z\.npy cannot be read as an array"),
        ("edge/edge_weight.npy", np.zeros(5), r"edge/edge_weight\.npy has 5 rows for 700 edges"),
    ],
)
def test_files_that_do_not_fit_are_named(mapped, name: str, content, said: str) -> None:
    file = mapped.path / name
    if content is None:
        file.unlink()
        (mapped.path / "node" / "y.npy").unlink()
    elif isinstance(content, bytes):
        file.write_bytes(content)
    else:
        np.save(file, content)
    with pytest.raises(GraphError, match=said):
        MappedGraph(mapped.path)


def test_a_file_cut_short(mapped) -> None:
    file = mapped.path / "node" / "x.npy"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(GraphError, match=r"x\.npy cannot be read as an array"):
        MappedGraph(mapped.path)


def test_an_edge_to_nowhere_is_found_when_the_index_is_built(mapped) -> None:
    for wrong in (200, -1):
        np.save(mapped.path / "edge_index.npy", np.array([[0, 1], [1, wrong]]))
        (mapped.path / "edge" / "edge_weight.npy").unlink(missing_ok=True)
        with pytest.raises(GraphError, match=f"an edge to node {wrong}, but its nodes are 0 to 199"):
            _ = MappedGraph(mapped.path).adjacency
        assert not mapped.index.exists()


def test_other_refusals(graph, mapped, tmp_path) -> None:
    with pytest.raises(GraphError, match="there is no folder"):
        rc.datasets.MappedGraph(tmp_path / "nowhere")
    with pytest.raises(GraphError, match="exists already"):
        rc.datasets.map_graph(graph, mapped.path)
    with pytest.raises(GraphError, match="max_edges must be a whole number ≥ 1, got 0"):
        MappedGraph(mapped.path, max_edges=0)
    with pytest.raises(GraphError, match="no value for its nodes"):
        map_graph(Data(edge_index=graph.edge_index, num_nodes=200), tmp_path / "bare")
    with pytest.raises(GraphError, match=r"x has the type torch\.bfloat16, which cannot be written"):
        map_graph(Data(x=graph.x.bfloat16(), edge_index=graph.edge_index), tmp_path / "half")
    assert not (tmp_path / "half").exists()
    with pytest.raises(AttributeError, match=r"has no attribute 'edge_index': it is not in memory"):
        _ = mapped.edge_index
