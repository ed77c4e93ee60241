"""The checks of many graphs at once refuse exactly what the checks of one graph refuse."""

import copy

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch_geometric.data import Batch, Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.graph_checks import GraphKind, check_graph
from rcexplainer.gnn.graph_store import GraphStore
from rcexplainer.gnn.store_checks import all_sound
from tests.gnn.graphs import make_graphs

CPU = torch.device("cpu")


def with_value(name: str, change) -> Data:
    graph = copy.copy(make_graphs(1, edge_weight=True, seed=3)[0])
    graph[name] = graph[name].clone()
    graph[name] = change(graph[name])
    return graph


def put(value: float):
    def change(tensor: torch.Tensor) -> torch.Tensor:
        tensor.view(-1)[0] = value
        return tensor

    return change


BAD = {
    "NaN feature": lambda: with_value("x", put(torch.nan)),
    "infinite weight": lambda: with_value("edge_weight", put(torch.inf)),
    "edge to nowhere": lambda: with_value("edge_index", put(99)),
    "negative node": lambda: with_value("edge_index", put(-1)),
    "other type": lambda: with_value("x", lambda x: x.double()),
    "other width": lambda: with_value("x", lambda x: x[:, :-1]),
    "too few weights": lambda: with_value("edge_weight", lambda weight: weight[:-1]),
    "edges of another type": lambda: with_value("edge_index", lambda edges: edges.int()),
}


def refused(graphs: list[Data], kind: GraphKind) -> bool:
    try:
        for graph in graphs:
            check_graph(graph)
            kind.check(graph, "it", "others")
    except GraphError:
        return True
    return False


def sound(graphs: list[Data], kind: GraphKind) -> bool:
    try:
        return all_sound(GraphStore(graphs), kind, CPU)
    except (RuntimeError, IndexError):
        return False  # they cannot even be joined


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_bad_graph_among_good_ones(name: str, place: int) -> None:
    graphs = make_graphs(3, edge_weight=True)
    kind = GraphKind.of(graphs[0])
    assert sound(graphs, kind)
    graphs.insert(place, BAD[name]())
    assert refused(graphs, kind)
    assert not sound(graphs, kind)


@given(st.lists(st.sampled_from(["good", *BAD]), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_both_checks_agree(names: list[str]) -> None:
    good = make_graphs(4, edge_weight=True)
    graphs = [good[place] if name == "good" else BAD[name]() for place, name in enumerate(names)]
    kind = GraphKind.of(good[0])
    assert sound(graphs, kind) is not refused(graphs, kind)


def test_another_device_is_seen() -> None:
    graphs = make_graphs(2)
    assert not all_sound(GraphStore(graphs), GraphKind.of(graphs[0]), torch.device("meta"))
    elsewhere = [copy.copy(graph) for graph in graphs]
    for graph in elsewhere:
        graph.x = graph.x.to("meta")  # one attribute is enough
    store = GraphStore(graphs)
    store.source_devices = GraphStore(elsewhere, "meta").source_devices
    assert not all_sound(store, GraphKind.of(graphs[0]), CPU)
    assert all_sound(GraphStore(graphs), GraphKind.of(graphs[0]), None)


def test_a_batch_is_checked_without_taking_it_apart() -> None:
    graphs = make_graphs(3, edge_weight=True)
    kind = GraphKind.of(graphs[0])
    assert all_sound(GraphStore(Batch.from_data_list(graphs)), kind, CPU)
    graphs[1] = BAD["NaN feature"]()
    assert not all_sound(GraphStore(Batch.from_data_list(graphs)), kind, CPU)
