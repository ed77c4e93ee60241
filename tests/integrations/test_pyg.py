"""Inside PyG's own Explainer: its calls, not ours."""

import pytest
import torch
from torch_geometric.explain import Explainer
from torch_geometric.explain.metric import fidelity

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn


@pytest.fixture(scope="module")
def case():
    data = rc.datasets.load("ba-2motifs", num_graphs=80)
    settings = TrainConfig(epochs=40, lr=0.01)
    model = train_gnn(gnn_config("paper", 10, 2), data.graphs, data.split, settings=settings, progress=False).model
    fitted = rc.RCExplainer(epochs=2).fit(model, data.subset("train"), progress=False)
    return data, model, fitted


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
    data, model, fitted = case
    graph = data[0]
    target = {"target": graph.y} if kind == "phenomenon" else {}
    found = explainer(model, fitted, kind)(graph.x, graph.edge_index, **target)
    assert found.validate()
    torch.testing.assert_close(found.edge_mask, fitted.explain(graph, search="none").edge_scores)


def test_pygs_thresholds_and_fidelity(case):
    data, model, fitted = case
    graph = data[1]
    one = explainer(model, fitted, threshold_config={"threshold_type": "topk", "value": 6})
    found = one(graph.x, graph.edge_index)
    assert int((found.edge_mask > 0).sum()) == 6
    positive, negative = fidelity(one, found)
    assert 0 <= positive <= 1
    assert 0 <= negative <= 1


def test_pygs_drawing(case, tmp_path):
    pytest.importorskip("matplotlib")
    data, model, fitted = case
    found = explainer(model, fitted)(data[0].x, data[0].edge_index)
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


def test_another_model_and_several_graphs(case):
    data, model, fitted = case
    other = rc.gnn.GNN(model.config)
    with pytest.raises(RCExplainerError, match="fitted for another GNN"):
        explainer(other, fitted)(data[0].x, data[0].edge_index)
    x, edge_index = torch.cat([data[0].x] * 2), torch.cat([data[0].edge_index, data[0].edge_index + 25], 1)
    with pytest.raises(RCExplainerError, match="one graph at a time, got a batch of 2"):
        explainer(model, fitted)(x, edge_index, batch=torch.arange(50) // 25)
