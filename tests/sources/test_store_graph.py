"""A graph behind PyG's stores: every layout gives the same edges, asked for once; what is missing is named."""

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.sources import MemoryGraph, StoreGraph, is_store_pair
from tests.sources.stores import EDGES, Edges, random_graph, sorted_by, stores
from tests.sources.test_mapped_graph import same_edges


@pytest.mark.parametrize("layout", ["coo", "csc", "csr"])
def test_every_layout(layout: str) -> None:
    graph = random_graph()
    graph = {"coo": graph, "csc": sorted_by(graph, 1), "csr": sorted_by(graph, 0)}[layout]
    features, edges = stores(graph, layout)
    found = StoreGraph(features, edges)
    same_edges(found, MemoryGraph(graph), torch.arange(graph.num_nodes))
    nodes = torch.tensor([5, 3])
    assert torch.equal(found.node_values(nodes)["x"], graph.x[nodes])
    assert torch.equal(found.edge_values(nodes)["edge_weight"], graph.edge_weight[nodes])
    assert torch.equal(found.labels(nodes), graph.y[nodes])
    assert features.rows == {"x": 2, "edge_weight": 2, "y": 2}
    assert (found.num_nodes, found.num_edges, edges.fetched) == (200, 700, 1)


def test_edges_are_sorted_once_for_a_pair_and_once_for_a_folder(tmp_path) -> None:
    graph = random_graph()
    features, edges = stores(graph)
    for _ in range(3):
        same_edges(StoreGraph(features, edges), MemoryGraph(graph), torch.arange(9))
    assert edges.fetched == 1
    for _ in range(3):
        same_edges(StoreGraph(features, edges, index=tmp_path / "index"), MemoryGraph(graph), torch.arange(9))
    assert edges.fetched == 2


def test_what_a_pair_of_stores_is() -> None:
    features, edges = stores(random_graph())
    assert is_store_pair((features, edges))
    data = random_graph()
    assert not is_store_pair((data, data))  # a list of two graphs
    assert not is_store_pair((edges, features))
    assert not is_store_pair([features, edges])
    assert not is_store_pair(data)


def test_a_graph_of_pygs_own_is_a_store_too() -> None:
    graph = random_graph()
    found = StoreGraph(graph, graph, num_nodes=graph.num_nodes)
    same_edges(found, MemoryGraph(graph), torch.arange(graph.num_nodes))
    assert torch.equal(found.node_values(torch.tensor([4]))["x"], graph.x[[4]])


def test_what_is_missing_or_does_not_fit_is_named() -> None:
    graph = random_graph()
    features, edges = stores(graph)
    with pytest.raises(GraphError, match="the graph store holds no edge_index"):
        StoreGraph(features, Edges())
    lost = Edges()
    lost.held = dict(edges.held)
    lost._get_edge_index = lambda attr: None  # type: ignore[method-assign]
    with pytest.raises(GraphError, match=r"the graph store has no edge_index of EdgeAttr"):
        _ = StoreGraph(features, lost).adjacency
    features.groups["lost"] = "item"
    features.values["lost"] = graph.x
    listed = StoreGraph(features, edges)
    del features.values["lost"]
    with pytest.raises(GraphError, match="has no rows of lost, which it lists"):
        listed.node_values(torch.tensor([0]))
    del features.groups["lost"]
    features.put_tensor(graph.x[:7], group_name="item", attr_name="short", index=None)
    with pytest.raises(GraphError, match="has short with 7 rows for 200 nodes"):
        StoreGraph(features, edges)
    features.put_tensor(graph.x, group_name="other", attr_name="short", index=None)
    with pytest.raises(GraphError, match="several types of nodes"):
        StoreGraph(features, edges)
    several = Edges()
    several.put_edge_index(tuple(graph.edge_index), edge_type=EDGES, layout="coo")
    several.held["more"] = type("Attr", (), {"edge_type": ("a", "b", "c"), "layout": "coo"})(), ()
    with pytest.raises(GraphError, match="several types of edges"):
        StoreGraph(stores(graph)[0], several)
    bare, _ = stores(Data(edge_index=graph.edge_index, edge_weight=graph.edge_weight, num_nodes=200))
    with pytest.raises(GraphError, match="no value for nodes"):
        StoreGraph(bare, edges)


def test_edges_that_lead_nowhere() -> None:
    graph = random_graph()
    graph.edge_index[0, 3] = 999
    with pytest.raises(GraphError, match="an edge to node 999, but its nodes are 0 to 199"):
        _ = StoreGraph(*stores(graph)).adjacency
    with pytest.raises(GraphError, match="an edge to node 999"):
        _ = StoreGraph(*stores(sorted_by(graph, 1), "csc")).adjacency


def test_a_store_that_returns_other_rows_than_asked_for() -> None:
    features, edges = stores(random_graph())
    features._get_tensor = lambda attr: features.values[attr.attr_name]  # type: ignore[method-assign]
    with pytest.raises(GraphError, match="returned 200 rows of x, 1 were asked for"):
        StoreGraph(features, edges).node_values(torch.tensor([3]))
