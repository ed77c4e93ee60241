"""Which instances are meant: `--index` as text or as a file, and parts of a split."""

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.benchmark.own_dataset import all_instances, own_dataset
from rcexplainer.cli.instance_index import in_whole, parse_index
from rcexplainer.errors import RCExplainerError

EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def test_numbers_pairs_files_and_all(tmp_path):
    assert parse_index(["3,5", "8"], "node") == [3, 5, 8]
    assert parse_index(["0-5,2-9"], "link") == [(0, 5), (2, 9)]
    assert parse_index(["0–5"], "link") == [(0, 5)]  # as tables print it
    assert parse_index(["all"]) is None
    kept = tmp_path / "index.txt"
    kept.write_text("1 2\n\n3,\n", encoding="utf-8")
    assert parse_index([str(kept), "7"]) == [1, 2, 3, 7]
    kept.write_text("1-2\n3-4\n", encoding="utf-8")
    assert parse_index([str(kept)], "link") == [(1, 2), (3, 4)]


def test_what_is_no_index(tmp_path):
    kept = tmp_path / "index.txt"
    kept.write_text("1 2\nthree\n", encoding="utf-8")
    with pytest.raises(RCExplainerError, match=r"index\.txt, line 2: expected whole numbers, .*, got 'three'"):
        parse_index([str(kept)])
    with pytest.raises(RCExplainerError, match="--index takes pairs of nodes, such as 0-5 or 0-5,2-9, got '3'; also a"):
        parse_index(["3"], "link")


def test_a_split_of_graphs_is_seeded_and_stratified():
    graphs = [Data(edge_index=EDGES, num_nodes=3, y=torch.tensor([place % 2])) for place in range(40)]
    one, other = own_dataset("m:f", graphs, "graph", 0), own_dataset("m:f", graphs, "graph", 1)
    assert [len(part) for part in (one.split.train, one.split.val, one.split.test)] == [32, 4, 4]
    assert sum(int(graph.y) for graph in one.subset("test")) == 2
    assert one.split.test.tolist() != other.split.test.tolist()
    assert one.split.test.tolist() == own_dataset("m:f", graphs, "graph", 0).split.test.tolist()
    bare = [Data(edge_index=EDGES, num_nodes=3) for _ in range(10)]
    assert len(own_dataset("m:f", bare, "graph").split.train) == 8
    scores = [Data(edge_index=EDGES, num_nodes=3, y=torch.rand(1)) for _ in range(10)]
    assert len(own_dataset("m:f", scores, "graph").split.train) == 8


def test_masks_of_a_graph_are_its_split():
    masks = {f"{name}_mask": torch.arange(3) == place for place, name in enumerate(("train", "val", "test"))}
    data = own_dataset("m:f", [Data(edge_index=EDGES, num_nodes=3, **masks)], "node")
    assert [one.tolist() for one in (data.split.train, data.split.val, data.split.test)] == [[0], [1], [2]]
    assert [one.position for one in in_whole(data, "test", None)] == [2]
    assert all_instances(data).tolist() == [0, 1, 2]


def test_links_are_those_of_edge_label_index():
    graph = Data(edge_index=EDGES, num_nodes=3, edge_label_index=EDGES[:, :2], edge_label=torch.tensor([1, 0]))
    data = own_dataset("m:f", [graph], "link")
    assert [one.position for one in in_whole(data, None, None)] == [(0, 1), (1, 0)]
    assert [one.position for one in in_whole(data, None, [(0, 2)])] == [(0, 2)]
    with pytest.raises(RCExplainerError, match="links are explained in one graph, m:f returned 2"):
        own_dataset("m:f", [graph, graph], "link")
