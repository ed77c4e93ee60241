"""Any model as embed and head: head(embed(G)) = φ(G), an all-ones mask is no mask, weight 0 is measured."""

import pytest
import torch
from torch_geometric.data import Batch

from rcexplainer.errors import SplitError
from rcexplainer.gnn import split_model
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.trial import random_pairs
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs
from tests.gnn.splits import build, model_output, split_of

GRAPH_MODELS = [
    # model, output kind, head, exact masking
    (zoo.GCNLinear, "logits", "lin", True),
    (zoo.GINDeepHead, "logits", "lin1", True),
    (zoo.GATEdgeAttr, "logits", "lin", False),
    (zoo.SAGE, "logits", "lin", False),
    (zoo.Transformer, "logits", "lin", False),
    (zoo.TakesData, "logits", "lin", True),
    (zoo.TakesAnnotatedData, "logits", "lin", True),
    (zoo.ReturnsTuple, "logits", "lin", True),
    (zoo.ReturnsDict, "logits", "lin", True),
    (zoo.Jumping, "logits", "lin", True),
    (zoo.PyGsGIN, "logits", "classify", True),
    (zoo.LogSoftmax, "log_probs", "lin", True),
    (zoo.Softmax, "probs", "lin", True),
    (zoo.TwoLogits, "logits", "lin", True),
    (zoo.OneLogit, "binary_logit", "lin", True),
    (zoo.OneProbability, "probs", "lin", True),
    (zoo.Weighted, "logits", "lin", True),
    (zoo.HalfWeighted, "logits", "lin", True),
    (zoo.ByHand, "logits", "out", True),
    (zoo.OwnLayer, "logits", "lin", True),
]
NODE_MODELS = [
    (zoo.NodeClassifier, "logits", "lin"),
    (zoo.Cached, "logits", "lin"),
    (zoo.KipfGCN, "log_probs", "output"),
    (zoo.Propagated, "logits", "output"),
]


@pytest.mark.parametrize(("model_class", "output", "head", "exact"), GRAPH_MODELS)
def test_graph_models(model_class, output, head, exact):
    split = split_of(model_class)
    assert (split.output, split.head_name, split.exact_masking) == (output, head, exact)
    batch = Batch.from_data_list(make_graphs(12)[3:9])
    expected = model_output(split, batch)
    torch.testing.assert_close(split.head(split.embed(batch)), expected)
    ones = torch.ones(batch.num_edges)
    torch.testing.assert_close(split.run(batch, ones).output, expected)
    log_probs = split.log_probs(expected)
    assert log_probs.shape == (6, split.num_classes)
    torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(6))
    removed = random_pairs(batch.edge_index, batch.num_nodes, 0.5, seed=3)
    masked = split.run(batch, (~removed).float()).output
    deleted = split.run(delete_edges(batch, removed)).output
    assert torch.allclose(masked, deleted, atol=1e-4) == exact
    assert not torch.allclose(deleted, expected, atol=1e-4)


@pytest.mark.parametrize(("model_class", "output", "head"), NODE_MODELS)
def test_node_models(model_class, output, head):
    graph = make_graphs(1, num_nodes=40)[0]
    graph.y = torch.arange(40) % zoo.CLASSES
    split = split_model(build(model_class), graph, task="node")
    assert (split.output, split.head_name) == (output, head)
    expected = model_output(split, graph)
    assert expected.shape == (40, zoo.CLASSES)
    torch.testing.assert_close(split.head(split.embed(graph)), expected)
    torch.testing.assert_close(split.run(graph, torch.ones(graph.num_edges)).output, expected)


def test_cached_convolutions_see_deleted_edges_and_keep_their_cache():
    graph = make_graphs(1, num_nodes=40)[0]
    model = build(zoo.Cached).eval()
    with torch.no_grad():
        expected = model(graph.x, graph.edge_index)
    cache = model.conv1._cached_edge_index
    split = split_model(model, graph, task="node")
    removed = random_pairs(graph.edge_index, 40, 0.5, seed=0)
    deleted = split.run(delete_edges(graph, removed)).output
    assert split.exact_masking
    assert not torch.allclose(deleted, expected, atol=1e-4)
    assert model.conv1._cached_edge_index is cache
    assert model.conv1.cached is True


def test_pooling_model_splits_and_says_that_masks_are_not_exact():
    graphs = make_graphs(8)
    split = split_model(build(zoo.Pooling), graphs)
    batch = Batch.from_data_list(graphs)
    torch.testing.assert_close(split.head(split.embed(batch)), model_output(split, batch))
    assert not split.exact_masking
    assert "inexact" in repr(split)


@pytest.mark.parametrize("model_class", [zoo.GCNLinear, zoo.OwnLayer, zoo.Weighted])
def test_directed_graphs(model_class):
    graphs = make_graphs(8, directed=True)
    split = split_model(build(model_class), graphs)
    batch = Batch.from_data_list(graphs)
    torch.testing.assert_close(split.head(split.embed(batch)), model_output(split, batch))
    assert split.exact_masking


def test_layers_are_the_outputs_of_the_message_passing():
    graphs = make_graphs(6)
    split = split_of(zoo.GCNLinear)
    batch = Batch.from_data_list(graphs)
    layers = split.run(batch).layers
    assert split.layer_names == ("conv1", "conv2")
    assert [tuple(layer.shape) for layer in layers] == [(batch.num_nodes, 16)] * 2
    torch.testing.assert_close(layers[0], split.model.conv1(batch.x, batch.edge_index).detach())


def test_graph_alone_and_in_a_batch():
    graphs = make_graphs(6)
    split = split_of(zoo.GINDeepHead)
    together = split.embed(Batch.from_data_list(graphs))
    alone = torch.cat([split.embed(Batch.from_data_list([graph])) for graph in graphs])
    torch.testing.assert_close(together, alone)


def test_a_single_graph_and_a_list():
    graphs = make_graphs(6)
    for model_class in (zoo.GCNLinear, zoo.TakesData):
        split = split_of(model_class)
        together = split.embed(Batch.from_data_list(graphs))
        torch.testing.assert_close(split.embed(graphs), together)
        torch.testing.assert_close(split.embed(graphs[2]), together[2:3])


def test_which_of_several_tensors_is_the_prediction():
    graph = make_graphs(1, num_nodes=20)[0]
    graph.y = None
    with pytest.raises(SplitError, match=r"could be its prediction \(\[0\] of shape \(20, 16\), \[1\] of"):
        split_model(build(zoo.EmbeddingThenLogits), graph, task="node")
    split = split_model(build(zoo.NamedLogits), graph, task="node")
    assert split.num_classes == zoo.CLASSES
