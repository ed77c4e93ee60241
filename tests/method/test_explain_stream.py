"""Chunk after chunk, in their order: what is wrong with an instance stands in its place and names it."""

import logging

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_add_pool

from rcexplainer.baselines import Random
from rcexplainer.errors import GraphError, ModelError, RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.testing.sample_graphs import FEATURES, sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import random_network


@pytest.fixture(scope="module")
def fitted() -> FittedExplainer:
    return Random().fit(random_network("graphconv"), sample_graphs())


@pytest.fixture(scope="module")
def nodes() -> FittedExplainer:
    return Random(task="node").fit(random_network("graphconv", "node"), whole_graph())


@pytest.fixture(params=[1, 2, 100])
def chunk_size(request, monkeypatch) -> None:
    monkeypatch.setattr("rcexplainer.method.inputs.CHUNK_GRAPHS", request.param)


def masks_for(graphs: list[Data]) -> list[Tensor]:
    return [torch.ones(graph.num_edges, dtype=torch.bool) for graph in graphs]


def both_ways(fitted: FittedExplainer, asked, **more) -> list[list[Explanation | Failure]]:
    """The results of a call, and those of a stream."""
    return [list(fitted.explain(asked, on_error="keep", **more)), list(fitted.explain_iter(asked, **more))]


@pytest.mark.usefixtures("chunk_size")
def test_a_wrong_mask_is_an_error_in_its_place(fitted) -> None:
    graphs = sample_graphs()
    masks = masks_for(graphs)
    masks[2] = masks[2][:-1]
    for first, second, third, fourth in both_ways(fitted, graphs, candidates=masks):
        assert all(isinstance(one, Explanation) for one in (first, second, fourth))
        assert third.index == 2
        assert str(third.error).startswith("the candidates of graph 2 must be a boolean mask of its ")


@pytest.mark.usefixtures("chunk_size")
def test_of_nodes_it_names_the_node(nodes) -> None:
    graph = whole_graph()
    masks = masks_for([graph] * 3)
    masks[1] = masks[1][:-1]
    for first, second, third in both_ways(nodes, graph, index=[4, 7, 9], candidates=masks):
        assert [first.index, third.index] == [4, 9]
        assert isinstance(second, Failure)
        assert second.index == 1
        assert str(second.error).startswith("the candidates of node 7 must be a boolean mask of its ")


@pytest.mark.usefixtures("chunk_size")
def test_what_is_wrong_with_a_graph_comes_before_what_is_wrong_with_its_mask(fitted) -> None:
    graphs = sample_graphs()
    masks = masks_for(graphs)
    graphs[1].x[0, 0] = torch.nan
    masks[1] = masks[1][:-1]
    for _, second, *_ in both_ways(fitted, graphs, candidates=masks):
        assert isinstance(second.error, GraphError)
        assert "graph 1 has 1 NaN" in str(second.error)


@pytest.mark.usefixtures("chunk_size")
def test_a_mask_for_each_instance_goes_with_it(fitted) -> None:
    """Only the edges of the first node may go, in each graph."""
    graphs = sample_graphs()
    masks = [(graph.edge_index == 0).any(0) for graph in graphs]
    for found in both_ways(fitted, graphs, candidates=masks):
        for one, mask in zip(found, masks, strict=True):
            assert not one.counterfactual.removed[~mask].any()
    for count in (3, 5):
        with pytest.raises(RCExplainerError, match="candidates must hold one mask for each"):
            list(fitted.explain_iter(graphs, candidates=(masks * 2)[:count]))


@pytest.mark.usefixtures("chunk_size")
def test_failures_are_numbered_through_all_chunks(fitted) -> None:
    graphs = sample_graphs(6)
    for place in (1, 4):
        graphs[place].x[0, 0] = torch.nan
    for found in both_ways(fitted, graphs):
        assert [one.index for one in found if isinstance(one, Failure)] == [1, 4]
        assert [place for place, one in enumerate(found) if isinstance(one, Failure)] == [1, 4]
        assert [f"graph {one.index} has" in str(one.error) for one in found if isinstance(one, Failure)] == [True, True]


@pytest.mark.usefixtures("chunk_size")
def test_progress_ends_with_the_last_instance(fitted, capsys) -> None:
    for asked in (sample_graphs(), Batch.from_data_list(sample_graphs())):
        fitted.explain(asked, search="none", progress=True)
        assert " 4/4 [" in capsys.readouterr().err.rpartition("\r")[2]
    list(fitted.explain_iter(sample_graphs(), search="none", progress=True))
    assert " 4graph [" in capsys.readouterr().err.rpartition("\r")[2]


def test_there_must_be_something_to_explain(fitted) -> None:
    with pytest.raises(GraphError, match="there is nothing to explain"):
        list(fitted.explain_iter([]))


# ---- models that mix what is run together


class Mixing(nn.Module):
    """From `number` on, the first feature of a graph, graphs have the mean of their batch taken away."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head, self.number = GraphConv(FEATURES, 8), nn.Linear(8, 2), float("inf")

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        rows = global_add_pool(self.conv(x, edge_index).relu(), batch)
        mixed = len(rows) > 1 and bool((x[:, 0] >= self.number).any())
        return self.head(rows - rows.mean(0) if mixed else rows)


def alone(model: Mixing, graph: Data) -> Tensor:
    with torch.no_grad():
        return model(graph.x, graph.edge_index, torch.zeros(graph.num_nodes, dtype=torch.long))[0].softmax(0)


def test_a_call_is_run_again_from_the_start_and_a_stream_from_where_it_was_found(monkeypatch, caplog) -> None:
    monkeypatch.setattr("rcexplainer.method.inputs.CHUNK_GRAPHS", 3)
    graphs, model = sample_graphs(9), Mixing()
    for place, graph in enumerate(graphs):
        graph.x[:, 0] = place
    fitted = Random().fit(model, graphs)
    model.number = 4.0
    for explain, said in (
        (lambda: fitted.explain(graphs, search="none"), "this call is run one by one"),
        (lambda: fitted.explain(Batch.from_data_list(graphs), search="none"), "this call is run one by one"),
        (lambda: list(fitted.explain_iter(graphs, search="none")), "instances from 3 on are run one by one"),
    ):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            found = explain()
        (record,) = caplog.records
        assert record.getMessage().startswith("Mixing mixes the graphs of a batch (")
        assert record.getMessage().endswith(said)
        for one, graph in zip(found, graphs, strict=True):
            torch.testing.assert_close(one.probabilities, alone(model, graph))


class Fragile(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gnn, self.wrong = random_network("graphconv"), float("nan")

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if bool((x[:, 0] == self.wrong).any()):
            raise ZeroDivisionError("such a graph is too much")
        return self.gnn(x, edge_index, batch)


def test_a_graph_on_which_the_model_raises_costs_no_other() -> None:
    graphs, model = sample_graphs(), Fragile()
    fitted = Random().fit(model, graphs)
    graphs[2].x[:, 0] = model.wrong = 77.0
    for asked in (graphs, Batch.from_data_list(graphs)):
        found = fitted.explain(asked, on_error="keep")
        assert [isinstance(one, Explanation) for one in found] == [True, True, False, True]
        assert isinstance(found[2].error, ModelError)


# ---- nodes and their whole graph


class Sized(nn.Module):
    """A layer; once `size` is set, the class of every node depends on whether the graph is that large."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head, self.size = GraphConv(FEATURES, 8), nn.Linear(8, 2), 0

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        logits = self.head(self.conv(x, edge_index).relu())
        return -logits if len(x) == self.size else logits


def test_a_node_that_is_answered_differently_in_its_whole_graph_is_not_explained() -> None:
    graph, model = whole_graph(30), Sized()
    fitted = Random(task="node").fit(model, graph)
    assert isinstance(fitted.explain(graph, index=3), Explanation)
    model.size = 30
    for found in both_ways(fitted, graph, index=[3, 5]):
        assert all("in the 1-hop computation graph than in the whole graph" in str(one.error) for one in found)
