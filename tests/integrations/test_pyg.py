"""Inside PyG's own Explainer: its calls, not ours."""

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.explain.metric import fidelity

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.testing.sample_graphs import sample_graphs
from rcexplainer.testing.sample_networks import predictions, random_network


@pytest.fixture(scope="module", params=[rc.RCExplainer(epochs=1), rc.baselines.Gradient()], ids=["ours", "gradient"])
def case(request):
    graphs = [Data(x=graph.x, edge_index=graph.edge_index) for graph in sample_graphs()]
    model = random_network("graphconv")
    return graphs, model, request.param.fit(model, graphs, progress=False)


def explainer(model, fitted, kind="model", level="graph", mode="multiclass_classification", mask="object", **options):
    return Explainer(
        model,
        rc.integrations.pyg.RCExplainerAlgorithm(fitted),
        explanation_type=kind,
        edge_mask_type=mask,
        model_config={"mode": mode, "task_level": level, "return_type": "raw"},
        **options,
    )


@pytest.mark.parametrize("kind", ["model", "phenomenon"])
def test_edge_masks_are_our_scores(case, kind):
    (graph, *_), model, fitted = case
    target = {"target": predictions(model, [graph])} if kind == "phenomenon" else {}
    found = explainer(model, fitted, kind)(graph.x, graph.edge_index, **target)
    assert found.validate()
    torch.testing.assert_close(found.edge_mask, fitted.explain(graph, search="none").edge_scores)


def test_another_target_than_the_prediction_is_said(case, caplog):
    (graph, *_), model, fitted = case
    (label,) = predictions(model, [graph]).tolist()
    found = explainer(model, fitted, "phenomenon")(graph.x, graph.edge_index, target=torch.tensor([1 - label]))
    assert f"class {label} is predicted and explained, not the target {1 - label}" in caplog.text
    torch.testing.assert_close(found.edge_mask, fitted.explain(graph, search="none").edge_scores)


def test_pygs_thresholds_and_fidelity(case):
    (_, graph, *_), model, fitted = case
    one = explainer(model, fitted, threshold_config={"threshold_type": "topk", "value": 6})
    found = one(graph.x, graph.edge_index)
    assert int((found.edge_mask > 0).sum()) == 6
    positive, negative = fidelity(one, found)
    assert 0 <= positive <= 1
    assert 0 <= negative <= 1


def test_pygs_drawing(case, tmp_path):
    pytest.importorskip("matplotlib")
    (graph, *_), model, fitted = case
    found = explainer(model, fitted)(graph.x, graph.edge_index)
    found.visualize_graph(tmp_path / "graph.png", backend="networkx")
    assert (tmp_path / "graph.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"level": "node"}, "task_level must be 'graph'"),
        ({"mode": "regression"}, "mode must be a classification"),
        ({"mask": None, "node_mask_type": "object"}, "edge_mask_type must be 'object'"),
        ({"node_mask_type": "object"}, "node_mask_type must be None"),
    ],
)
def test_what_it_does_not_do_is_refused_and_said(case, caplog, options, reason):
    _, model, fitted = case
    with pytest.raises(ValueError, match="does not support the given explanation settings"):
        explainer(model, fitted, **options)
    assert reason in caplog.text


def test_another_model_an_index_and_several_graphs(case):
    (graph, *_), model, fitted = case
    with pytest.raises(RCExplainerError, match="fitted for another GNN"):
        explainer(rc.gnn.GNN(model.config), fitted)(graph.x, graph.edge_index)
    with pytest.raises(RCExplainerError, match=r"fitted for graphs, which need no index; got \[3\]"):
        explainer(model, fitted)(graph.x, graph.edge_index, index=3)
    nodes = graph.num_nodes
    x, edge_index = torch.cat([graph.x] * 2), torch.cat([graph.edge_index, graph.edge_index + nodes], 1)
    with pytest.raises(RCExplainerError, match="one graph at a time, got a batch of 2"):
        explainer(model, fitted)(x, edge_index, batch=torch.arange(2 * nodes) // nodes)
