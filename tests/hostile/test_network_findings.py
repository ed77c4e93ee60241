"""What hostile cases of networks, files, drawings and PyG's `Explainer` found, each kept as an ordinary test."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

import rcexplainer as rc
from rcexplainer.datasets.dataset import Split
from rcexplainer.errors import CheckpointError, GraphError, RCExplainerError, SplitError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.integrations.pyg import RCExplainerAlgorithm
from tests.hostile import models
from tests.hostile.graphs import sound_graph
from tests.hostile.pool import SPECS, Pooled, pooled
from tests.zoo import graph_models, node_models
from tests.zoo.parts import FEATURES


def explainer(kind: str, name: str, method: int) -> Pooled:
    found = pooled(SPECS.index((kind, name, method)))
    assert found is not None
    return found


def labelled() -> list[Data]:
    graphs = [graph.clone() for graph in graph_models.graphs(8)]
    for place, graph in enumerate(graphs):
        graph.y = torch.tensor([place % 2])
    return graphs


def pairs_of_nodes() -> Data:
    graph = node_models.graph(models.WHOLE).clone()
    graph.edge_label_index, graph.edge_label = torch.tensor([[0, 1], [2, 3]]), torch.tensor([0, 1])
    return graph


# ---- which value is the prediction


@pytest.mark.parametrize("name", ["two number types", "half outputs", "named tuples"])
def test_one_prediction_in_several_number_types_is_accepted(name) -> None:
    model = graph_models.built(models.MODELS[name])
    split = rc.gnn.split_model(model, list(graph_models.graphs(6)))
    alone = models.logits(model, graph_models.graphs(1)[0])
    torch.testing.assert_close(split.run([graph_models.graphs(1)[0]]).output[0], alone)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("two heads", "returns several tensors that could be its prediction"),
        ("meta too", "returns several tensors that could be its prediction"),
        ("sparse", r"but returned a sparse tensor \(return output.to_dense\(\)\)"),
        ("no values", "but returned tuple"),
    ],
)
def test_predictions_that_cannot_be_told_apart_or_read(name, message) -> None:
    with pytest.raises(SplitError, match=message):
        rc.gnn.split_model(graph_models.built(models.MODELS[name]), list(graph_models.graphs(6)))


def test_a_sparse_tensor_beside_the_prediction_is_left_alone() -> None:
    model = graph_models.built(models.MODELS["sparse too"])
    assert rc.gnn.split_model(model, list(graph_models.graphs(6))).num_classes == 2


# ---- graphs in a batch, and parts of a graph


def test_attributes_that_only_some_graphs_have() -> None:
    one = explainer("zoo", "plain", 0)
    graphs = [graph.clone() for graph in graph_models.graphs(10)]
    graphs[0].name, graphs[0].num_nodes, graphs[0].y = "first", len(graphs[0].x), torch.tensor([1])
    fitted = rc.RCExplainer(epochs=1, teacher_limit=20).fit(one.model, graphs, progress=False)
    assert isinstance(fitted.explain(graphs[0]), Explanation)


def test_attributes_of_several_kinds() -> None:
    graphs = [graph.clone() for graph in graph_models.graphs(4)]
    for place, graph in enumerate(graphs):
        graph.tag = "text" if place % 2 else torch.ones(1)
    with pytest.raises(GraphError, match=r"the graphs cannot be put into one batch .* of one kind in all of them"):
        rc.gnn.split_model(explainer("zoo", "plain", 0).model, graphs)


@pytest.mark.parametrize("error", ["KeyError", "ZeroDivisionError", "AssertionError", "NotImplementedError"])
def test_a_model_that_raises_anything_on_a_part(error) -> None:
    model = graph_models.built(models.NODE_MODELS[f"{error} on parts"])
    with pytest.raises(GraphError, match=r"runs on the whole graph but not on a part of it: .*not the whole graph"):
        rc.baselines.Occlusion(task="node").fit(model, node_models.graph(models.WHOLE), progress=False)


def test_a_model_with_other_columns_on_a_part() -> None:
    model = graph_models.built(models.NODE_MODELS["other shape on parts"])
    with pytest.raises(GraphError, match="returns 2 columns on the whole graph, but 4 on a part of it"):
        rc.baselines.Occlusion(task="node").fit(model, node_models.graph(models.WHOLE), progress=False)


def test_scores_that_are_no_numbers_are_no_result() -> None:
    one = explainer("own", "five classes", 4)
    graph = sound_graph(6, "duplicates", 0, FEATURES)
    graph.x = graph.x * 1e19
    how = {"target_class": 1, "on_error": "keep", "search": "none"}
    found = one.fitted.explain([graph, *one.graphs], **how)
    assert isinstance(found[0], Failure)
    assert "its scores are NaN: the model's numbers for it are too large" in str(found[0].error)
    assert any(isinstance(result, Explanation) for result in found)
    for result in found:
        assert isinstance(result, Failure) or bool(result.edge_scores.isfinite().all())


@pytest.mark.parametrize("pairs", [torch.tensor([1]), torch.tensor([[0.0], [1.0]]), torch.ones(3, 2).long(), "0 1"])
def test_pairs_of_another_shape(pairs) -> None:
    graph = node_models.graph(models.WHOLE).clone()
    graph.edge_label_index = pairs
    with pytest.raises(GraphError, match=r"a link task needs graphs with edge_label_index \[2, n\]"):
        rc.gnn.split_model(explainer("link", "gcn", 0).model, graph, task="link")


# ---- training


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": "x"}, "width must be a whole number, got 'x'"),
        ({"layers": 1.5}, "layers must be a whole number, got 1.5"),
        ({"head_hidden": 3}, "head_hidden must hold widths ≥ 1, got 3"),
        ({"head_hidden": ("a",)}, "head_hidden must hold widths"),
        ({"dropout": None}, r"dropout must be in \[0, 1\), got None"),
        ({"conv": []}, r"conv must be one of .*, got \[\]"),
        ({"task": {}}, "task must be one of graph, node, link"),
    ],
)
def test_settings_of_a_network_of_another_type(changes, message) -> None:
    with pytest.raises(RCExplainerError, match=message):
        rc.gnn.gnn_config("paper", FEATURES, 2, **{"task": "graph", **changes})
    with pytest.raises(RCExplainerError, match="unknown architecture 3"):
        rc.gnn.gnn_config(3, FEATURES, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 0.5}, "epochs must be a whole number, got 0.5"),
        ({"patience": "x"}, "patience must be a whole number or None, got 'x'"),
        ({"lr": ()}, r"lr must be a number, got \(\)"),
        ({"clip": True}, "clip must be a number or None, got True"),
        ({"without_edges": 3}, r"without_edges must be classes, such as \(0, 1\), got 3"),
        ({"decay": []}, r"decay must be cosine or constant, got \[\]"),
    ],
)
def test_settings_of_a_training_of_another_type(changes, message) -> None:
    with pytest.raises(RCExplainerError, match=message):
        rc.gnn.TrainConfig(**changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config": "paper"}, "config must be a GNNConfig, such as .* makes, got str"),
        ({"settings": 3}, "settings must be a TrainConfig, got int"),
        ({"file": "file"}, "file must be a FitFile, got str"),
        ({"seed": 2**64}, "seed must be a whole number from -2⁶³ to 2⁶⁴-1, got 18446744073709551616"),
        ({"seed": "x"}, "seed must be a whole number from -2⁶³ to 2⁶⁴-1, got 'x'"),
        ({"parts": None}, "parts has train, val and test, such as dataset.split; NoneType has no train"),
        (
            {"parts": Split(torch.arange(4), torch.arange(4), [0])},
            r"the test split must be a tensor \[n\] of positions",
        ),
        ({"parts": Split(torch.ones(2), torch.arange(4), torch.arange(4))}, "the training split .* got torch.float32"),
        ({"parts": Split(torch.arange(4), torch.arange(4), torch.tensor([9]))}, "the test split names instance 9"),
        ({"graphs": [Data(x="a", edge_index=torch.zeros(2, 1).long(), y=torch.ones(1))]}, "has x of type str"),
        ({"graphs": [*labelled()[:3], labelled()[3].to("meta")]}, "on the device meta, which holds no numbers"),
    ],
)
def test_trainings_that_cannot_begin(change, message) -> None:
    config = rc.gnn.gnn_config("paper", FEATURES, 2, width=4, layers=1)
    parts = Split(torch.arange(4), torch.arange(4, 6), torch.arange(6, 8))
    given = {"config": config, "graphs": labelled(), "parts": parts, "settings": rc.gnn.TrainConfig(epochs=1), **change}
    with pytest.raises(RCExplainerError, match=message):
        rc.gnn.train_gnn(**given, progress=False)


@pytest.mark.parametrize(
    ("task", "changes", "message"),
    [
        ("graph", {"y": "yes"}, "has `y` of type str: it must be a tensor of whole numbers"),
        ("graph", {"y": torch.tensor(1)}, "graph 7 has `y` of 0 dimensions, the first graph of 1"),
        ("graph", {"y": torch.arange(2)}, "graph 7 has 2 labels in `y`, it needs one for each of 1"),
        ("graph", {"y": torch.arange(len(labelled()[-1].x))}, 'one for each node: with task="node" its nodes are the'),
        ("graph", {"y": torch.tensor([1j])}, "has `y` of type torch.complex64"),
        ("link", {"edge_label_index": None}, r"needs edge_label_index \[2, n\] of type torch.int64, got NoneType"),
        ("link", {"edge_label_index": torch.tensor([[0, 1], [2, 99]])}, "with nodes that it does not have"),
        ("link", {"edge_label": torch.arange(3) % 2}, "has 3 labels in `edge_label`, it needs one for each of 2"),
        ("node", {}, "has 3 labels in `y`"),
    ],
)
def test_labels_that_do_not_fit(task, changes, message) -> None:
    graphs = labelled() if task == "graph" else [pairs_of_nodes()]
    if task == "node":
        graphs[0].y = torch.arange(3) % 2
    for name, value in changes.items():
        graphs[-1][name] = value
    net = rc.gnn.GNN(rc.gnn.gnn_config("paper", FEATURES, 2, task, width=4, layers=1))
    with pytest.raises(GraphError, match=message):
        rc.gnn.accuracy(net, graphs)


def test_accuracy_of_instances_that_do_not_exist() -> None:
    net = rc.gnn.GNN(rc.gnn.gnn_config("paper", FEATURES, 2, width=4, layers=1))
    assert 0 <= rc.gnn.accuracy(net, labelled(), torch.arange(3)) <= 1
    for index, message in (
        (torch.tensor([-1]), "index names instance -1, but the instances are 0 to 7"),
        (torch.tensor([10**9]), "index names instance 1000000000"),
        ([0, 1], r"index must be a tensor \[n\] of positions of type torch.int64, such as torch.arange\(8\), got list"),
        (torch.ones(8) > 0, r"got torch.bool \(8,\); those of a mask are mask.nonzero\(\).flatten\(\)"),
        (torch.ones(2, 2, dtype=torch.long), r"got torch.int64 \(2, 2\)"),
    ):
        with pytest.raises(GraphError, match=message):
            rc.gnn.accuracy(net, labelled(), index)
    nodes = rc.gnn.GNN(rc.gnn.gnn_config("paper", FEATURES, 2, "node", width=4, layers=1))
    with pytest.raises(GraphError, match="a node task has one graph, got 8"):
        rc.gnn.accuracy(nodes, labelled())


# ---- files and deletions


def test_files_of_networks(tmp_path) -> None:
    net = rc.gnn.GNN(rc.gnn.gnn_config("paper", FEATURES, 2, width=4, layers=1))
    path = rc.gnn.save_gnn(tmp_path / "net.safetensors", net, {"seed": 3})
    for device in ("x", "cuda:7", "meta", 0.5):
        with pytest.raises(RCExplainerError, match="cannot be used here"):
            rc.gnn.load_gnn(path, device)
    for info in ({"model": object()}, 3, {(1, 2): 3}):
        with pytest.raises(CheckpointError, match="info must be a dict of JSON values, got"):
            rc.gnn.save_gnn(tmp_path / "other.safetensors", net, info)
    with pytest.raises(CheckpointError, match="is a file, or in one; name a folder"):
        rc.gnn.save_gnn(path / "below", net)
    assert rc.gnn.load_gnn(path).info == {"seed": 3}


def test_deletions_from_what_is_no_graph() -> None:
    graph = graph_models.graphs(1)[0]
    for given in (None, "graph", [graph], Data(), Data(edge_index=torch.tensor(1))):
        with pytest.raises(GraphError, match=r"needs a PyG Data with edge_index of shape \[2, E\], got"):
            rc.gnn.delete_edges(given, torch.ones(2) > 0)
    for removed in (None, [True], "all"):
        with pytest.raises(SplitError, match="must be a boolean mask of 6 edges, got"):
            rc.gnn.delete_edges(graph, removed)
    both = Batch.from_data_list([graph, graph])
    assert rc.gnn.delete_edges(both, torch.arange(12) < 5).num_edges == 7


# ---- drawings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axes": None}, "axes must be matplotlib's"),
        ({"graph": "graph"}, "graph must be a PyG Data, got str"),
        ({"graph": Data(x=torch.tensor(1.0), edge_index=torch.zeros(2, 0).long())}, "does not say how many nodes"),
        ({"graph": Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [9]]))}, "an edge to node 9, but the nodes"),
        ({"graph": Data(x=torch.ones(2, 1), edge_index="0 1")}, r"a drawing needs edge_index \[2, num_edges\]"),
        ({"edge_scores": [0.5] * 6}, "edge_scores must be a tensor with a number for each of 6 edges, got list"),
        ({"edge_scores": torch.full((6,), math.nan)}, r"edge_scores must be in \[0, 1\]"),
        ({"edge_scores": torch.full((6,), -0.5)}, r"edge_scores must be in \[0, 1\]"),
        ({"layout": "x"}, r"layout must be numbers of the shape \(5, 2\)"),
        ({"layout": np.full((5, 2), math.nan)}, "positions that are NaN or farther out"),
        ({"roots": (9,)}, "roots must be a list of nodes from 0 to 4"),
        ({"labels": 3}, "labels must have one text for each of 5 nodes, got int"),
    ],
)
def test_graphs_that_cannot_be_drawn(changes, message) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: nothing is drawn")
    given = {"axes": rc.viz.subplots(1, 1)[1][0][0], "graph": graph_models.graphs(1)[0], **changes}
    with pytest.raises(RCExplainerError, match=message):
        rc.viz.draw_graph(**given)


def test_layouts_of_no_nodes_or_no_edges() -> None:
    assert rc.viz.stress_layout(torch.zeros(2, 0).long(), 0).shape == (0, 2)
    assert rc.viz.stress_layout(torch.zeros(2, 0).long(), 3).shape == (3, 2)
    with pytest.raises(RCExplainerError, match="the number of nodes must be a whole number ≥ 0, got 'x'"):
        rc.viz.stress_layout(torch.zeros(2, 0).long(), "x")


def test_explanations_and_figures_of_another_type(tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: nothing is drawn")
    figure, axes = rc.viz.subplots(1, 1)
    one = explainer("zoo", "plain", 0)
    with pytest.raises(RCExplainerError, match="an Explanation is drawn, got int; draw_graph draws graphs"):
        rc.viz.draw_explanation(axes[0][0], 3)
    with pytest.raises(RCExplainerError, match="motif must have one value for each of 6 edges"):
        rc.viz.draw_explanation(axes[0][0], one.fitted.explain(one.graphs[0]), torch.ones(1))
    with pytest.raises(RCExplainerError, match="figure must be matplotlib's, got int"):
        rc.viz.save_figure(3, tmp_path / "figure.svg")
    with pytest.raises(RCExplainerError, match=r"save_figure\(figure, path\): path must name a file, got int"):
        rc.viz.save_figure(figure, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": None}, "nodes of the cell .* cannot be None"),
        ({"edges": ((0, 99),)}, "has an edge to node 99, which is not among its nodes"),
        ({"edges": ((0, 1, 2),)}, "must be pairs of nodes"),
        ({"motif": frozenset({("a", "b")})}, "must be whole numbers"),
        ({"labels": "C"}, "must be a dict of texts by node, got"),
        ({"whole": []}, "must be whole numbers"),
    ],
)
def test_grids_that_cannot_be_drawn(changes, message) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: nothing is drawn")
    edges = frozenset({(0, 1)})
    cell = rc.viz.Shown((0, 1), ((0, 1),), edges, edges, (), {}, True, True, 2)
    with pytest.raises(RCExplainerError, match=message):
        rc.viz.explanation_grid({("a", "b"): replace(cell, **changes)})
    for given, said in (
        ({}, "needs cells"),
        (3, "needs cells"),
        ({"a": cell}, "a cell is named by two texts"),
        ({("a", "b"): 3}, "must be a Shown, got int"),
    ):
        with pytest.raises(RCExplainerError, match=said):
            rc.viz.explanation_grid(given)
    bare = rc.viz.Shown((), (), frozenset(), frozenset(), (), {}, False, False, 0)
    assert rc.viz.explanation_grid({("a", "b"): bare}) is not None


# ---- PyG's Explainer


def test_odd_arguments_of_the_algorithm() -> None:
    one, link = explainer("zoo", "plain", 0), explainer("link", "gcn", 0)
    graph, algorithm = one.graphs[0], RCExplainerAlgorithm(one.fitted)
    target = torch.zeros(1, dtype=torch.long)
    for how, message in (
        ({"batch": 3}, "batch must be a tensor of whole numbers, got int"),
        ({"batch": torch.tensor([math.nan])}, "batch must be a tensor of whole numbers, got torch.float32"),
        ({"index": "x"}, "index must be a tensor of whole numbers, got str"),
        ({"target": 0.5}, "target must be a tensor of numbers, got float"),
    ):
        with pytest.raises(RCExplainerError, match=message):
            algorithm(one.model, graph.x, graph.edge_index, **{"target": target, **how})
    with pytest.raises(RCExplainerError, match=r"model must be the torch.nn.Module that was given to fit, got str"):
        algorithm("model", graph.x, graph.edge_index, target=target)
    for odd in (None, torch.tensor([math.nan]), torch.tensor([1.0])):
        assert algorithm(one.model, graph.x, graph.edge_index, target=odd).edge_mask.shape == (graph.num_edges,)
    whole = link.graphs[0]
    for pairs in (None, torch.arange(3), 3):
        with pytest.raises(RCExplainerError, match="edge_label_index"):
            RCExplainerAlgorithm(link.fitted)(
                link.model, whole.x, whole.edge_index, target=target, index=0, edge_label_index=pairs
            )
