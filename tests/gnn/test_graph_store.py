"""Mini-batches cut by index arithmetic are PyG's own batches; deletion cuts every edge-level attribute."""

import pytest
import torch
from torch_geometric.data import Batch, Data

from rcexplainer.errors import SplitError
from rcexplainer.gnn.graph_store import GraphStore, delete_edges
from rcexplainer.sources.attribute_levels import edge_level_keys
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


KEYS = ("x", "edge_index", "edge_attr", "edge_weight", "y", "batch", "ptr")


@pytest.mark.parametrize(("first", "end"), [(0, 6), (0, 1), (2, 5), (5, 6)])
def test_consecutive_graphs_are_cut_without_gathering(first, end):
    graphs = make_graphs(6, edge_weight=True)
    store = GraphStore(graphs)
    expected = Batch.from_data_list(graphs[first:end])
    found = store.range(first, end)
    for key in KEYS:
        assert torch.equal(found[key], expected[key])
    found.x.zero_()  # as a model may that works in place
    assert torch.equal(store.range(first, end).x, expected.x)


@pytest.mark.parametrize("ids", [[0], [4, 1, 1, 3], [2, 0, 5, 4, 3, 1]])
def test_a_batch_is_stored_as_it_is(ids):
    graphs = make_graphs(6, edge_weight=True)
    store = GraphStore(Batch.from_data_list(graphs))
    expected = Batch.from_data_list([graphs[i] for i in ids])
    for key in KEYS:
        assert torch.equal(store[torch.tensor(ids)][key], expected[key])


def test_some_of_the_edges():
    graphs = make_graphs(3, edge_weight=True)
    store = GraphStore(graphs)
    ids, kept = torch.tensor([2, 0]), [1, 3, 4]
    start = int(store.edge_ptr[2])
    columns = torch.tensor([start + 1, start + 3, 0, 2])
    batch = store.cut(ids, (columns, torch.tensor([0, 0, 1, 1])))
    shift = graphs[2].num_nodes
    expected = torch.cat([graphs[2].edge_index[:, kept[:2]], graphs[0].edge_index[:, [0, 2]] + shift], 1)
    assert torch.equal(batch.edge_index, expected)
    assert torch.equal(batch.edge_weight, torch.cat([graphs[2].edge_weight[kept[:2]], graphs[0].edge_weight[[0, 2]]]))
    assert torch.equal(batch.x, torch.cat([graphs[2].x, graphs[0].x]))


class Own(Data):
    """A class with a rule of its own: `pairs` counts labels, not nodes."""

    def __inc__(self, key, value, *args, **kwargs):
        return 100 if key == "pairs" else super().__inc__(key, value, *args, **kwargs)

    def __cat_dim__(self, key, value, *args, **kwargs):
        return 1 if key == "pairs" else super().__cat_dim__(key, value, *args, **kwargs)


def test_rules_of_a_class_and_values_that_are_no_tensors():
    graphs = [Own(**graph.to_dict()) for graph in make_graphs(3)]
    for number, graph in enumerate(graphs):
        graph.pairs = torch.arange(4).reshape(2, 2)
        graph.weight = float(number)
        graph.name = "not a tensor"
    batch, expected = GraphStore(graphs)[torch.tensor([2, 0])], Batch.from_data_list([graphs[2], graphs[0]])
    for key in ("x", "edge_index", "pairs", "weight", "batch"):
        assert torch.equal(batch[key], expected[key]), key


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


def test_deletion_cuts_every_edge_attribute_and_leaves_the_graph_alone():
    graph = make_graphs(1, edge_weight=True)[0]
    graph.bond = torch.arange(graph.num_edges)
    graph.edge_label_index = graph.edge_index[:, :2]
    before = graph.clone()
    removed = torch.zeros(graph.num_edges, dtype=torch.bool)
    removed[::3] = True
    kept = delete_edges(graph, removed)
    for key in ("edge_attr", "edge_weight", "bond"):
        assert torch.equal(kept[key], graph[key][~removed])
    assert torch.equal(kept.edge_index, graph.edge_index[:, ~removed])
    assert torch.equal(kept.edge_label_index, graph.edge_label_index)
    assert kept.num_nodes == graph.num_nodes
    assert all(torch.equal(before[key], graph[key]) for key in before.keys())  # noqa: SIM118


def test_label_of_a_graph_with_one_edge_is_not_cut():
    graph = Data(
        x=torch.rand(2, 1), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([1]), edge_attr=torch.rand(1, 2)
    )
    kept = delete_edges(graph, torch.tensor([True]))
    assert kept.y.tolist() == [1]
    assert kept.edge_attr.shape == (0, 2)
    assert edge_level_keys(graph) == ["edge_index", "edge_attr"]


def test_as_many_nodes_as_edges():
    ring = Data(x=torch.rand(3, 2), edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]]), edge_attr=torch.rand(3, 4))
    kept = delete_edges(ring, torch.tensor([True, False, False]))
    assert kept.x.shape == (3, 2)
    assert kept.edge_attr.shape == (2, 4)


@pytest.mark.parametrize("removed", [torch.ones(3), torch.ones(3, dtype=torch.bool), torch.tensor([0, 1])])
def test_wrong_masks(removed):
    with pytest.raises(SplitError, match=r"must be a boolean mask of \d+ edges, got"):
        delete_edges(make_graphs(1)[0], removed)


def test_a_batch_can_still_be_taken_apart_after_deletion():
    graphs = make_graphs(4, edge_weight=True)
    batch = Batch.from_data_list(graphs)
    removed = torch.arange(batch.num_edges) % 3 == 0
    start = 0
    for graph, kept in zip(graphs, delete_edges(batch, removed).to_data_list(), strict=True):
        mine = removed[start : start + graph.num_edges]
        start += graph.num_edges
        assert torch.equal(kept.edge_index, graph.edge_index[:, ~mine])
        assert torch.equal(kept.edge_weight, graph.edge_weight[~mine])
        assert torch.equal(kept.x, graph.x)
