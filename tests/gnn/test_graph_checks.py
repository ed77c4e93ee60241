"""Every malformed graph is named, with what was found and how to fix it."""

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from rcexplainer.errors import GraphError, MissingExtraError, require
from rcexplainer.gnn.graph_checks import as_graphs
from tests.gnn.graphs import make_graphs


@pytest.mark.parametrize("kind", [list, tuple, Batch.from_data_list, lambda g: DataLoader(g, batch_size=2), iter])
def test_every_way_of_handing_in_graphs(kind):
    graphs = make_graphs(5)
    found = as_graphs(kind(graphs))
    assert len(found) == 5
    assert all(torch.equal(one.edge_index, two.edge_index) for one, two in zip(found, graphs, strict=True))


def test_a_single_graph():
    graph = make_graphs(1)[0]
    assert as_graphs(graph) == [graph]


def broken(**changes):
    graph = make_graphs(1)[0]
    for key, value in changes.items():
        graph[key] = value
    return graph


X = torch.rand(10, 5)
X_NAN = X.index_fill(0, torch.tensor([2]), float("nan"))
X_INF = X.index_fill(0, torch.tensor([2]), float("inf"))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (broken(edge_index=torch.tensor([[0], [10]]), edge_attr=None), "edge to node 10, but its nodes are 0 to 9"),
        (broken(edge_index=torch.tensor([[-1], [0]]), edge_attr=None), "edge to node -1"),
        (broken(edge_index=torch.tensor([[0], [1]]).int(), edge_attr=None), r"torch.int32; convert it with .long\(\)"),
        (broken(edge_index=torch.tensor([0, 1])), r"shape \[2, num_edges\], found shape \(2,\)"),
        (Data(x=X), "found none"),
        (broken(x=X_NAN), "5 NaN or infinite values in x"),
        (broken(x=X_INF), "5 NaN or infinite values in x"),
        (broken(edge_attr=torch.rand(3, 2)), r"edge_attr of shape \(3, 2\) for \d+ edges"),
        (broken(edge_weight=torch.tensor(1.0)), r"edge_weight of shape \(\) for"),
        (broken(pos=X_NAN), "5 NaN or infinite values in pos"),
        (broken(y=torch.tensor([0.5])), "non-integer label 0.5"),
        (broken(y=torch.tensor([float("nan")])), "non-integer label nan"),
        (broken(y=torch.ones(1, 3)), "3 labels per instance"),
    ],
)
def test_malformed(graph, message):
    with pytest.raises(GraphError, match=message):
        as_graphs([graph])


def test_the_graph_is_named():
    with pytest.raises(GraphError, match="graph 3 has 5 NaN"):
        as_graphs([*make_graphs(3), broken(x=X_NAN)])
    with pytest.raises(GraphError, match="graph 2 has node features of width 4, the first graph 5"):
        as_graphs([*make_graphs(2), broken(x=torch.rand(10, 4))])


def test_all_graphs_need_the_same_attributes():
    with pytest.raises(GraphError, match="the first graph has edge_attr, graph 2 does not: all graphs need the same"):
        as_graphs([*make_graphs(2), broken(edge_attr=None)])
    with pytest.raises(GraphError, match="graph 1 has edge_weight, the first graph does not"):
        as_graphs([*make_graphs(1), *make_graphs(1, edge_weight=True)])


def test_float_labels_that_are_whole_numbers_are_fine():
    assert len(as_graphs([broken(y=torch.tensor([1.0]))])) == 1


def test_missing_extra_names_the_line_that_installs_it():
    with pytest.raises(MissingExtraError, match=r'nowhere is not installed; run: pip install "rcexplainer\[chem\]"'):
        require("nowhere.at.all", "chem")
