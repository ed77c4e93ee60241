"""The networks: every architecture runs, takes weights where its layers can, and the paper's is the paper's."""

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.data import Batch

from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN, MODELS, GNNConfig, gnn_config, split_model
from tests.gnn.graphs import make_graphs
from tests.gnn.zoo import CLASSES, FEATURES


@pytest.mark.parametrize("task", ["graph", "node"])
@pytest.mark.parametrize("name", MODELS)
def test_every_named_model_runs_and_splits(name, task):
    torch.manual_seed(0)
    graphs = make_graphs(6)
    for graph in graphs:
        graph.y = graph.y if task == "graph" else torch.zeros(graph.num_nodes).long()
    model = GNN(gnn_config(name, FEATURES, CLASSES, task))
    split = split_model(model, graphs, task=task)
    batch = Batch.from_data_list(graphs)
    rows = 6 if task == "graph" else batch.num_nodes
    assert split.head_name == "head"
    assert split.head(split.embed(batch)).shape == (rows, CLASSES)
    assert len(split.layer_names) == model.config.layers
    model.eval()
    torch.testing.assert_close(split.embed(batch), model.embed(batch.x, batch.edge_index, batch.batch))
    torch.testing.assert_close(split.run(batch).output, model(batch.x, batch.edge_index, batch.batch))


@pytest.mark.parametrize(
    ("conv", "pool", "concat", "batch_norm", "hidden"),
    [
        ("graphconv", "max", True, True, (8, 8, 8)),
        ("gcn", "sum", True, False, ()),
        ("gin", "mean", False, True, (8,)),
        ("gat", "max", True, True, ()),
        ("sage", "sum", False, False, (8, 8)),
    ],
)
def test_options(conv, pool, concat, batch_norm, hidden):
    config = GNNConfig(FEATURES, 4, "graph", conv, 8, 2, pool, concat, batch_norm, head_hidden=hidden, dropout=0.5)
    model = GNN(config).eval()
    batch = Batch.from_data_list(make_graphs(5))
    embedding = model.embed(batch.x, batch.edge_index, batch.batch)
    assert embedding.shape == (5, 16 if concat else 8)
    assert sum(isinstance(module, torch.nn.Linear) for module in model.head) == len(hidden) + 1
    torch.testing.assert_close(model.head(embedding), model(batch.x, batch.edge_index, batch.batch))


def test_weight_zero_is_deletion_where_the_layer_takes_weights():
    batch = Batch.from_data_list(make_graphs(5))
    weight = (torch.arange(batch.num_edges) % 3 > 0).float()
    for name in ("paper", "gcn"):
        model = GNN(gnn_config(name, FEATURES, CLASSES)).eval()
        weighted = model(batch.x, batch.edge_index, batch.batch, weight)
        deleted = model(batch.x, batch.edge_index[:, weight > 0], batch.batch)
        torch.testing.assert_close(weighted, deleted)


def test_the_papers_network_by_hand():
    """x ← relu(normalize(x W_self + Σ_j x_j W + b)), no ReLU after the third layer, mean pool, one Linear."""
    torch.manual_seed(0)
    model = GNN(gnn_config("paper", FEATURES, CLASSES)).eval()
    graph = make_graphs(1)[0]
    adjacency = torch.zeros(graph.num_nodes, graph.num_nodes)
    adjacency[graph.edge_index[1], graph.edge_index[0]] = 1
    x = graph.x
    for depth, conv in enumerate(model.convs):
        x = x @ conv.lin_root.weight.T + adjacency @ x @ conv.lin_rel.weight.T + conv.lin_rel.bias
        x = F.normalize(x, dim=1)
        x = x.relu() if depth < 2 else x
        assert x.size(1) == 20
    (head,) = model.head
    expected = x.mean(0) @ head.weight.T + head.bias
    torch.testing.assert_close(model(graph.x, graph.edge_index), expected[None])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conv": "cheb"}, "conv must be one of graphconv, gcn"),
        ({"pool": "median"}, "pool must be one of mean, max, sum"),
        ({"layers": 0}, "layers ≥ 1"),
        ({"dropout": 1.0}, r"dropout must be in \[0, 1\)"),
        ({"head_hidden": (8, 0)}, "head_hidden must hold widths ≥ 1"),
        ({"widht": 3}, "unknown setting widht; known: num_features"),
        ({"task": "edge"}, "task must be one of graph, node"),
    ],
)
def test_bad_settings(changes, message):
    with pytest.raises(RCExplainerError, match=message):
        gnn_config("paper", FEATURES, CLASSES, **changes)


def test_unknown_model_and_single_class():
    with pytest.raises(RCExplainerError, match="unknown architecture 'papper'; did you mean paper"):
        gnn_config("papper", FEATURES, CLASSES)
    with pytest.raises(RCExplainerError, match="at least 2 classes"):
        gnn_config("paper", FEATURES, 1)
