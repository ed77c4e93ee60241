"""Mini-batches cut by index arithmetic are PyG's own batches."""

import pytest
import torch
from torch_geometric.data import Batch, Data

from rcexplainer.gnn.graph_store import GraphStore
from tests.gnn.graphs import make_graphs


@pytest.mark.parametrize("ids", [[0], [4, 1, 1, 3], [2, 0, 5, 4, 3, 1], []])
def test_same_as_from_data_list(ids):
    graphs = make_graphs(6, edge_weight=True)
    for graph in graphs:
        graph.edge_label_index = graph.edge_index[:, :2]
        graph.name = "not a tensor"
    batch = GraphStore(graphs)[torch.tensor(ids, dtype=torch.long)]
    assert batch.num_graphs == len(ids)
    if ids:
        expected = Batch.from_data_list([graphs[i] for i in ids])
        for key in ("x", "edge_index", "edge_attr", "edge_weight", "edge_label_index", "y", "batch", "ptr"):
            torch.testing.assert_close(batch[key], expected[key])
        assert batch.num_nodes == expected.num_nodes


def test_graphs_without_edges_or_features():
    graphs = [Data(num_nodes=3, edge_index=torch.empty(2, 0).long()), *make_graphs(2)]
    batch = GraphStore(graphs)[torch.tensor([0, 2, 0])]
    assert batch.num_nodes == 6 + graphs[2].num_nodes
    assert torch.equal(batch.edge_index, graphs[2].edge_index + 3)
    assert batch.batch.bincount().tolist() == [3, graphs[2].num_nodes, 3]


def test_graph_with_as_many_nodes_as_edges_and_one_with_a_single_edge():
    ring = Data(x=torch.rand(3, 2), edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]]), y=torch.tensor([1]))
    single = Data(x=torch.rand(2, 2), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0]))
    batch = GraphStore([ring, single])[torch.tensor([1, 0])]
    assert batch.y.tolist() == [0, 1]
    assert torch.equal(batch.edge_index, torch.tensor([[0, 2, 3, 4], [1, 3, 4, 2]]))
