"""What hostile cases found, each kept as an ordinary test."""

import copy
import math

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader

import rcexplainer as rc
from rcexplainer.errors import DatasetError, GraphError, ModelError, RCExplainerError, SplitError
from rcexplainer.explanation import Explanation, Failure
from tests.hostile import models
from tests.hostile.graphs import sound_graph
from tests.hostile.pool import SPECS, Pooled, pooled
from tests.hostile.watch import model_print
from tests.zoo import graph_models, node_models
from tests.zoo.parts import FEATURES


def explainer(kind: str, name: str, method: int) -> Pooled:
    found = pooled(SPECS.index((kind, name, method)))
    assert found is not None
    return found


def graph_with(**attributes: object) -> Data:
    graph = sound_graph(5, "clique", 0, FEATURES)
    for name, value in attributes.items():
        graph[name] = value
    return graph


# ---- graphs


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"x": "abc"}, "has x of type str: it must be a tensor"),
        ({"x": [[1.0] * FEATURES] * 5}, "has x of type list: it must be a tensor"),
        ({"x": torch.tensor(1.0)}, "has a single number for x: it needs a row for each node"),
        ({"x": torch.ones(5, FEATURES).to_sparse()}, "has a sparse x: make it dense"),
        ({"edge_index": "0 1"}, "has edge_index of type str: it must be a tensor"),
        ({"edge_index": [[0], [1]]}, "has edge_index of type list: it must be a tensor"),
        ({"edge_attr": torch.tensor(2.0)}, r"has edge_attr of shape \(\) for 20 edges"),
        ({"num_nodes": "three"}, "has num_nodes='three': it must be a whole number"),
        ({"num_nodes": -1}, "has no nodes"),
        ({"num_nodes": 99}, rf"has x of shape \(5, {FEATURES}\) for 99 nodes"),
    ],
)
def test_a_graph_with_something_else_than_tensors_is_refused(attributes, message) -> None:
    fitted = explainer("zoo", "plain", 0).fitted
    good, bad = sound_graph(5, "path", 1, FEATURES), graph_with(**attributes)
    with pytest.raises(GraphError, match=message):
        fitted.explain(bad)
    found = fitted.explain([good, bad, good], on_error="keep")
    assert isinstance(found[1], Failure)
    assert isinstance(found[1].error, GraphError)
    assert isinstance(found[0], Explanation)
    assert isinstance(found[2], Explanation)


def test_a_single_number_is_no_attribute_of_a_single_edge() -> None:
    graph = sound_graph(2, "one edge", 0, FEATURES)
    graph.edge_attr = torch.tensor(2.0)
    with pytest.raises(RCExplainerError, match=r"has edge_attr of shape \(\) for 1 edges"):
        explainer("own", "saturated", 2).fitted.explain([graph])


def test_a_loader_that_cannot_batch_its_graphs() -> None:
    loader = DataLoader([graph_with(), Data(x=torch.ones(2, FEATURES))], batch_size=2)
    with pytest.raises(GraphError, match="the DataLoader cannot batch its graphs"):
        explainer("zoo", "plain", 0).fitted.explain(loader)


def test_a_batch_that_cannot_be_taken_apart() -> None:
    odd = graph_with(x=torch.ones(3, 9), batch=torch.zeros(7, dtype=torch.long))
    with pytest.raises(RCExplainerError, match=r"the Batch cannot be taken apart|could not be explained"):
        explainer("zoo", "plain", 0).fitted.explain(DataLoader([odd], batch_size=1))


def test_the_error_of_a_generator_is_its_own() -> None:
    def broken():
        yield graph_with()
        raise LookupError("the disk is gone")

    with pytest.raises(LookupError, match="the disk is gone"):
        explainer("zoo", "plain", 0).fitted.explain(broken())


@pytest.mark.parametrize("task", ["graph", "node"])
def test_graphs_that_want_gradients_get_none(task) -> None:
    zoo = graph_models if task == "graph" else node_models
    graphs = [graph.clone() for graph in graph_models.graphs(10)] if task == "graph" else [node_models.graph(40)]
    model = zoo.balanced(graph_models.built(zoo.EXPLAINED["plain"]), tuple(graphs) if task == "graph" else graphs[0])
    for graph in graphs:
        graph.x.requires_grad_()
    how = {"index": list(range(20))} if task == "node" else {}
    given = graphs if task == "graph" else graphs[0]
    fitted = rc.RCExplainer(task=task, epochs=2).fit(model, given, progress=False, **how)
    assert all(graph.x.grad is None and graph.x.requires_grad for graph in graphs)
    found = fitted.explain(given, index=[0, 1] if task == "node" else None)
    assert all(not one.edge_scores.requires_grad for one in found)


@pytest.mark.parametrize("name", ["root_index", "hop_code", "edge_fixed"])
def test_names_of_ours_in_a_users_graph(name) -> None:
    plain = explainer("zoo", "plain", 0)
    marked = [graph.clone() for graph in plain.graphs[:3]]
    for graph in marked:
        graph[name] = torch.ones(graph.num_edges, dtype=torch.bool)
    for given in (marked, Batch.from_data_list(marked)):
        for wanted, found in zip(plain.fitted.explain(plain.graphs[:3]), plain.fitted.explain(given), strict=True):
            assert torch.equal(found.edge_scores, wanted.edge_scores)
    one = explainer("node", "gcn", 4)
    graph = copy.copy(one.graphs[0])
    graph[name] = torch.tensor([0])
    wanted, found = one.fitted.explain(one.graphs[0], index=3), one.fitted.explain(graph, index=3)
    torch.testing.assert_close(found.edge_scores, wanted.edge_scores)


# ---- models


def test_what_a_model_raises_is_an_error_of_ours_with_its_cause() -> None:
    one = explainer("own", "sometimes raises", 0)
    extreme = sound_graph(5, "clique", 0, FEATURES)
    extreme.x[0, 0] = 9.0
    with pytest.raises(
        ModelError, match="the model raised ZeroDivisionError on this instance: an extreme feature"
    ) as told:
        one.fitted.explain(extreme)
    assert isinstance(told.value.__cause__, ZeroDivisionError)
    assert isinstance(told.value, RCExplainerError | RuntimeError)
    first, second = one.fitted.explain([one.graphs[0], extreme], on_error="keep")
    assert isinstance(first, Explanation)
    assert isinstance(second.error, ModelError)


@pytest.mark.parametrize("name", ["batch norm in training mode", "trains in forward"])
@pytest.mark.parametrize("zoo", [graph_models, node_models])
def test_norms_stuck_in_training_keep_their_statistics(zoo, name) -> None:
    """Their kernel writes to the buffers without raising the version by which writes are noticed."""
    model = graph_models.built(zoo.REFUSED[name][0])
    graphs = list(graph_models.graphs(10)) if zoo is graph_models else node_models.graph(30)
    before = model_print(model)
    with pytest.raises(RCExplainerError):
        rc.baselines.Occlusion(task="graph" if zoo is graph_models else "node").fit(model, graphs)
    assert model_print(model) == before


@pytest.mark.parametrize("names", [0.5, "ab", 3, object])
def test_names_of_classes_are_a_list(names) -> None:
    for method in (rc.RCExplainer(), rc.baselines.Occlusion()):
        with pytest.raises(RCExplainerError, match="class_names must be a list of texts"):
            method.fit(models.Graphs(), list(graph_models.graphs(6)), class_names=names, progress=False)


@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("name", ["None", "no module", "a function", "a class"])
def test_what_is_no_module(name, device) -> None:
    for method in (rc.RCExplainer(), rc.baselines.Occlusion()):
        with pytest.raises(SplitError, match=r"expected a torch\.nn\.Module, got"):
            method.fit(models.MODELS[name](), list(graph_models.graphs(6)), device=device, progress=False)


def test_a_model_without_weights_cannot_be_moved() -> None:
    with pytest.raises(SplitError, match="the model cannot be moved to cpu"):
        rc.baselines.Occlusion().fit(models.MODELS["on no device"](), list(graph_models.graphs(6)), device="cpu")


def test_a_model_with_answers_of_no_width() -> None:
    with pytest.raises(SplitError, match=r"returns nothing, shape \(.*, 0\): a column per class is needed"):
        rc.baselines.Occlusion().fit(models.NoClasses().eval(), list(graph_models.graphs(6)))


def test_a_gradient_needs_a_model_with_one() -> None:
    one = explainer("zoo", "returns its memory", 2)
    with pytest.raises(RCExplainerError, match="the model's answer has no gradient"):
        one.fitted.explain(one.graphs[0])


# ---- values of other functions


@pytest.mark.parametrize("value", ["x", None, math.nan, -1, [1]])
def test_top_and_sparsity_take_numbers(value) -> None:
    one = explainer("zoo", "plain", 0)
    found = one.fitted.explain(one.graphs[0])
    with pytest.raises(RCExplainerError, match="top"):
        found.top(value)
    with pytest.raises(RCExplainerError, match="a sparsity is a share"):
        found.at_sparsity(value)


@pytest.mark.parametrize("value", [0.5, "x", None, ["x"], [math.nan], [2]])
def test_lists_of_shares(value) -> None:
    one = explainer("zoo", "plain", 0)
    found = list(one.fitted.explain(one.graphs[:3]))
    with pytest.raises(RCExplainerError, match="sparsity"):
        rc.metrics.fidelity(one.model, found, value)
    with pytest.raises(RCExplainerError, match="noise"):
        rc.metrics.flip_stability(one.model, found, value, copies=1)
    with pytest.raises(RCExplainerError, match="noise"):
        rc.metrics.robustness(one.fitted, one.graphs[:3], value)
    assert rc.metrics.fidelity(one.model, found, np.array([0.5])).sparsity == (0.5,)


def test_other_numbers_of_metrics() -> None:
    one = explainer("zoo", "plain", 0)
    found = list(one.fitted.explain(one.graphs[:3]))
    with pytest.raises(RCExplainerError, match="within is a share"):
        rc.metrics.counterfactuals(found, "x")
    with pytest.raises(RCExplainerError, match="k must be a whole number"):
        rc.metrics.robustness(one.fitted, one.graphs[:3], [0.1], k="x")
    with pytest.raises(RCExplainerError, match="noise is a share"):
        rc.metrics.perturb(one.graphs[0], "x", np.random.default_rng(0))
    with pytest.raises(GraphError, match="has no nodes"):
        rc.metrics.perturb(graph_with(x=torch.ones(0, FEATURES)), 0.5, np.random.default_rng(0))
    with pytest.raises(RCExplainerError, match="has no regions"):
        rc.metrics.region_agreement(one.fitted, found)
    trained = explainer("zoo", "plain", 4)
    with pytest.raises(RCExplainerError, match="k must be a whole number or None, got 'x'"):
        rc.metrics.region_agreement(trained.fitted, found, k="x")
    with pytest.raises(RCExplainerError, match="ground truth needs graphs that carry `edge_motif`"):
        rc.metrics.motif_direction(one.model, found)
    with pytest.raises(RCExplainerError, match="unknown preset"):
        rc.RCExplainer(preset=[])


def test_datasets_with_odd_names_and_values(tmp_path) -> None:
    for name, how, message in (
        (0, {}, "takes the name of a dataset, such as mutag, got int"),
        ("tree-cycles", {"seed": None}, "seed must be a whole number"),
        ("tree-cycles", {"seed": 0.5}, "seed must be a whole number"),
        ("tree-cycles", {"root": -1}, "root must be a folder, got -1"),
    ):
        with pytest.raises(DatasetError, match=message):
            rc.datasets.load(name, **how)
    assert rc.datasets.task_of(0) == "graph"
    with pytest.raises(DatasetError, match="the path of a table is a text, got int"):
        rc.datasets.GraphTable(0)
    with pytest.raises(GraphError, match="a graph is a PyG Data, got list"):
        rc.datasets.map_graph([], tmp_path / "mapped")
    with pytest.raises(GraphError, match="the graph needs edge_index of shape"):
        rc.datasets.map_graph(graph_with(edge_index=[[0], [1]]), tmp_path / "mapped")
    for given, message in (
        (7, "graphs are a list of PyG Data, got int"),
        ([7], "graph 0 is no PyG Data, but int"),
        (graph_with(edge_index="0 1"), "graph 0 needs edge_index of shape"),
        (graph_with(x="abc", num_nodes=5), "graph 0 needs x as a dense tensor of one or two dimensions"),
        (graph_with(x=torch.tensor(1.0)), "graph 0 needs x as a dense tensor of one or two dimensions"),
        (graph_with(x=torch.ones(5, 2).to_sparse()), "graph 0 needs x as a dense tensor of one or two dimensions"),
        (graph_with(pos=torch.ones(2, 3)), "graph 0 has pos of 2 rows, it needs 5"),
        (HeteroData(), "graphs are a list of PyG Data, got HeteroData"),
        ([graph_with(), graph_with(x=torch.ones(5, 9))], "graph 1 has no x like that of graph 0"),
        (graph_with(x=torch.ones(5, 0)), "graph 0 has x of no columns"),
    ):
        with pytest.raises(DatasetError, match=message):
            rc.datasets.to_parquet(given, tmp_path / "table.parquet")


def test_a_batch_of_sound_graphs_is_still_explained_at_once() -> None:
    one = explainer("zoo", "plain", 0)
    found = one.fitted.explain(Batch.from_data_list(one.graphs[:4]))
    assert len(found) == 4
    assert not found.failures
