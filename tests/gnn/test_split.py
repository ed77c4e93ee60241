"""Any model as embed and head: head(embed(G)) = φ(G), an all-ones mask is no mask, weight 0 is measured."""

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.nn import ARMAConv, ChebConv, GraphConv, SGConv, TAGConv
from torch_geometric.nn import Linear as LazyLinear

from rcexplainer.errors import GraphError, SplitError
from rcexplainer.gnn import split_model
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.trial import random_pairs
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of

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


def build(model_class: type[nn.Module]) -> nn.Module:
    torch.manual_seed(1)
    return model_class()


def model_output(split, batch: Data) -> torch.Tensor:
    """What the user gets, by the user's own call: only the shape is made uniform."""
    model = split.model
    model.eval()
    with torch.no_grad():
        out = split.forward(model, batch, None)
    out = next(iter(out.values())) if isinstance(out, dict) else out
    out = out[1] if isinstance(out, tuple) else out
    return out.reshape(len(out), -1)


@pytest.mark.parametrize(("model_class", "output", "head", "exact"), GRAPH_MODELS)
def test_graph_models(model_class, output, head, exact):
    graphs = make_graphs(12, num_classes=2 if "One" in model_class.__name__ else zoo.CLASSES)
    split = split_model(build(model_class), graphs)
    assert (split.output, split.head_name, split.exact_masking) == (output, head, exact)
    batch = Batch.from_data_list(graphs[3:9])
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


def test_half_weighted_model_is_masked_through_its_layers():
    assert split_model(build(zoo.HalfWeighted), make_graphs(8)).masking == "layers"
    assert split_model(build(zoo.Weighted), make_graphs(8)).masking == "edge_weight"


@pytest.mark.parametrize("model_class", [zoo.Weighted, zoo.HalfWeighted])
def test_own_edge_weights_are_multiplied_by_the_mask(model_class):
    graphs = make_graphs(8, edge_weight=True)
    split = split_model(build(model_class), graphs)
    batch = Batch.from_data_list(graphs)
    assert split.exact_masking
    torch.testing.assert_close(split.run(batch, torch.ones(batch.num_edges)).output, model_output(split, batch))
    if model_class is zoo.Weighted:
        mask = torch.rand(batch.num_edges)
        weighted = batch.clone()
        weighted.edge_weight = batch.edge_weight * mask
        torch.testing.assert_close(split.run(batch, mask).output, model_output(split, weighted))


@pytest.mark.parametrize("model_class", [zoo.GCNLinear, zoo.OwnLayer, zoo.Weighted])
def test_directed_graphs(model_class):
    graphs = make_graphs(8, directed=True)
    split = split_model(build(model_class), graphs)
    batch = Batch.from_data_list(graphs)
    torch.testing.assert_close(split.head(split.embed(batch)), model_output(split, batch))
    assert split.exact_masking


@pytest.mark.parametrize("model_class", [zoo.GCNLinear, zoo.GATEdgeAttr, zoo.Weighted, zoo.OwnLayer])
def test_masks_stay_aligned_when_every_node_has_a_self_loop(model_class):
    graphs = make_graphs(6, self_loops=True)
    split = split_model(build(model_class), graphs)
    batch = Batch.from_data_list(graphs)
    loops = batch.edge_index[0] == batch.edge_index[1]
    expected = model_output(split, batch)
    # Self-loops always count: masking them alone changes nothing.
    torch.testing.assert_close(split.run(batch, (~loops).float()).output, expected)
    removed = random_pairs(batch.edge_index, batch.num_nodes, 0.5, seed=2)
    if split.exact_masking:
        deleted = split.run(delete_edges(batch, removed)).output
        torch.testing.assert_close(split.run(batch, (~removed).float()).output, deleted)


def test_gradients_reach_the_mask_and_never_the_parameters():
    graphs = make_graphs(6)
    for model_class in (zoo.GCNLinear, zoo.GATEdgeAttr, zoo.Weighted):
        model = build(model_class)
        split = split_model(model, graphs)
        batch = Batch.from_data_list(graphs)
        mask = torch.full((batch.num_edges,), 0.7, requires_grad=True)
        split.head(split.embed(batch, mask)).square().sum().backward()
        assert (mask.grad != 0).float().mean() > 0.5
        assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())


def test_gradient_of_the_head_with_respect_to_the_embedding():
    graphs = make_graphs(6)
    split = split_model(build(zoo.LogSoftmax), graphs)
    embedding = split.embed(Batch.from_data_list(graphs)).detach().requires_grad_()
    split.head(embedding)[:, 0].sum().backward()
    weight = split.model.lin.weight.detach()
    probs = split.head(embedding).exp().detach()
    torch.testing.assert_close(embedding.grad, weight[0] - probs @ weight)


def test_head_by_name_by_module_and_by_forward():
    graphs = make_graphs(6)
    model = build(zoo.GINDeepHead)
    assert split_model(model, graphs, head="lin2").head_name == "lin2"
    assert split_model(model, graphs, head=model.lin2).head_name == "lin2"
    assert split_model(model, graphs, head="output").head_name == "output"
    unusual = build(zoo.UnusualCall)

    def forward(model, batch, edge_weight):
        assert edge_weight is None or edge_weight.shape == (batch.num_edges,)
        return model(batch.edge_index, batch.x, batch.batch)

    split = split_model(unusual, graphs, forward=forward)
    batch = Batch.from_data_list(graphs)
    torch.testing.assert_close(split.head(split.embed(batch)), model_output(split, batch))


def test_layers_are_the_outputs_of_the_message_passing():
    graphs = make_graphs(6)
    split = split_model(build(zoo.GCNLinear), graphs)
    batch = Batch.from_data_list(graphs)
    layers = split.run(batch).layers
    assert split.layer_names == ("conv1", "conv2")
    assert [tuple(layer.shape) for layer in layers] == [(batch.num_nodes, 16)] * 2
    torch.testing.assert_close(layers[0], split.model.conv1(batch.x, batch.edge_index).detach())


def test_graph_alone_and_in_a_batch():
    graphs = make_graphs(6)
    split = split_model(build(zoo.GINDeepHead), graphs)
    together = split.embed(Batch.from_data_list(graphs))
    alone = torch.cat([split.embed(Batch.from_data_list([graph])) for graph in graphs])
    torch.testing.assert_close(together, alone)


@pytest.mark.parametrize("task", ["graph", "node"])
def test_the_model_is_left_as_it_was_found(task):
    graphs = make_graphs(6)
    model = build(zoo.Raising if task == "graph" else zoo.Cached)
    model.train()
    model.lin.weight.requires_grad_(False)
    model.conv1.register_forward_hook(lambda *_: None)
    model(
        *((graphs[0].x, graphs[0].edge_index) + ((torch.zeros(graphs[0].num_nodes).long(),) if task == "graph" else ()))
    )
    before = state_of(model)
    split = split_model(model, graphs if task == "graph" else graphs[0], task=task)
    batch = Batch.from_data_list(graphs) if task == "graph" else graphs[0]
    split.run(batch, torch.rand(batch.num_edges))
    split.head(split.embed(batch))
    assert state_of(model) == before


def test_the_model_is_left_as_it_was_found_when_it_raises():
    graphs = make_graphs(6)
    model = build(zoo.Raising).train()
    split = split_model(model, graphs)
    batch = Batch.from_data_list(graphs)
    model.fail = True
    before = state_of(model)
    for mask in (None, torch.rand(batch.num_edges)):
        with pytest.raises(RuntimeError, match="out of luck"):
            split.run(batch, mask)
        assert state_of(model) == before
    with pytest.raises(SplitError, match=r"Raising raised on these graphs: RuntimeError: out of luck.*forward="):
        split_model(model, graphs)
    assert state_of(model) == before


def test_refusals_in_one_clear_sentence():
    graphs = make_graphs(6)
    for graph in graphs:
        graph.y = torch.rand(1)
    with pytest.raises(GraphError, match=r"graph 0 has the non-integer label .*regression is not supported"):
        split_model(build(zoo.OneLogit), graphs)
    for number, graph in enumerate(graphs):
        graph.y = torch.tensor([number])
    with pytest.raises(SplitError, match=r"one number but the labels have 6 values: regression"):
        split_model(build(zoo.OneLogit), graphs)
    with pytest.raises(SplitError, match=r"several numbers between 0 and 1.*multi-label"):
        split_model(build(zoo.MultiLabel), graphs)
    for graph in graphs:
        graph.y = torch.ones(1, 4)
    with pytest.raises(GraphError, match=r"4 labels per instance: multi-label"):
        split_model(build(zoo.GCNLinear), graphs)
    with pytest.raises(GraphError, match="heterogeneous graphs are not supported"):
        split_model(build(zoo.GCNLinear), [HeteroData()])


def test_wrong_head_lists_the_candidates():
    graphs = make_graphs(6)
    with pytest.raises(SplitError, match=r"no module 'classifier'; candidates for the head: lin1, lin2"):
        split_model(build(zoo.GINDeepHead), graphs, head="classifier")
    with pytest.raises(SplitError, match="no module the given Linear"):
        split_model(build(zoo.GINDeepHead), graphs, head=nn.Linear(1, 1))


def test_failing_check_says_what_differs_and_by_how_much():
    graphs = make_graphs(6)
    with pytest.raises(SplitError, match=r"with lin, head\(embed\(g\)\) is off by [\d.e-]+ .*Candidates: lin"):
        split_model(build(zoo.SkipsHead), graphs)
    with pytest.raises(SplitError, match=r"conv1 is called 1 times, with \(\d+, 5\)"):
        split_model(build(zoo.GCNLinear), graphs, head="conv1")


def test_models_that_cannot_be_explained():
    graphs = make_graphs(6)
    with pytest.raises(SplitError, match="NoMessagePassing does no message passing"):
        split_model(build(zoo.NoMessagePassing), graphs)
    with pytest.raises(SplitError, match=r"needs 'adjacency', which the graphs do not have .*forward="):
        split_model(build(zoo.UnusualCall), graphs)
    with pytest.raises(SplitError, match=r"one row of class scores for each of 6 instances, but returned"):
        split_model(build(zoo.NodeClassifier), graphs, task="graph")
    with pytest.raises(SplitError, match="unknown task 'edge'"):
        split_model(build(zoo.GCNLinear), graphs, task="edge")
    with pytest.raises(SplitError, match="unknown output 'softmax'"):
        split_model(build(zoo.GCNLinear), graphs, output="softmax")


def test_bad_graphs():
    model = build(zoo.GCNLinear)
    with pytest.raises(GraphError, match="the dataset is empty"):
        split_model(model, [])
    without_edges = Data(x=torch.rand(3, 5), edge_index=torch.empty(2, 0).long())
    with pytest.raises(GraphError, match="none of the graphs has an edge"):
        split_model(model, [without_edges])
    with pytest.raises(GraphError, match=r"the model is on cpu, graph 0 on meta; move one of them"):
        split_model(model, [graph.to("meta") for graph in make_graphs(2)])
    with pytest.raises(GraphError, match="expected PyG Data objects, got int"):
        split_model(model, [3])


@pytest.mark.parametrize("conv", [ChebConv(5, 16, 3), TAGConv(5, 16), ARMAConv(5, 16), GraphConv(5, 16), SGConv(5, 16)])
def test_layers_that_normalise_by_their_weights(conv):
    graphs = make_graphs(8)
    split = split_model(zoo.Conv(conv), graphs)
    batch = Batch.from_data_list(graphs)
    torch.testing.assert_close(split.head(split.embed(batch)), model_output(split, batch))
    assert split.masking == "edge_weight"
    removed = random_pairs(batch.edge_index, batch.num_nodes, 0.5, seed=5)
    masked, deleted = split.run(batch, (~removed).float()).output, split.run(delete_edges(batch, removed)).output
    assert torch.allclose(masked, deleted, atol=1e-4) == split.exact_masking


def test_a_single_graph_and_a_list():
    graphs = make_graphs(6)
    for model_class in (zoo.GCNLinear, zoo.TakesData):
        split = split_model(build(model_class), graphs)
        together = split.embed(Batch.from_data_list(graphs))
        torch.testing.assert_close(split.embed(graphs), together)
        torch.testing.assert_close(split.embed(graphs[2]), together[2:3])


def test_which_of_several_tensors_is_the_prediction():
    graph = make_graphs(1, num_nodes=20)[0]
    graph.y = None
    with pytest.raises(SplitError, match=r"several tensors that could be its prediction \(\(20, 16\), \(20, 3\)\)"):
        split_model(build(zoo.EmbeddingThenLogits), graph, task="node")
    split = split_model(build(zoo.NamedLogits), graph, task="node")
    assert split.num_classes == zoo.CLASSES


def test_heads_that_work_in_place_leave_the_embedding_alone():
    graphs = make_graphs(6)
    split = split_model(build(zoo.InPlaceHead), graphs)
    assert split.head_name == "lin"
    batch = Batch.from_data_list(graphs)
    embedding = split.embed(batch)
    before = embedding.clone()
    torch.testing.assert_close(split.head(embedding), model_output(split, batch))
    assert torch.equal(embedding, before)


def test_a_head_that_looks_at_its_graph_is_found_out_on_graphs_of_one_size():
    graphs = [graph for graph in make_graphs(12) if graph.num_nodes == 10]
    with pytest.raises(SplitError, match="head\\(embed\\(g\\)\\) is off by"):
        split_model(build(zoo.SizeDependent), graphs)


def test_more_models_and_their_messages():
    graphs = make_graphs(8)
    assert split_model(build(zoo.HandmadeSoftmax), graphs).output == "probs"
    assert split_model(build(zoo.OptionalEdgeAttr), graphs).head_name == "lin"
    assert split_model(build(zoo.NeedsEdges), graphs).exact_masking
    assert not split_model(build(zoo.TinyEffect), graphs).exact_masking
    with pytest.raises(SplitError, match=r"is random in evaluation mode.*training=self.training"):
        split_model(build(zoo.AlwaysDropout), graphs)
    with pytest.raises(SplitError, match=r"expected a torch.nn.Module, got NoneType"):
        split_model(None, graphs)
    split = split_model(build(zoo.GCNLinear), graphs)
    with pytest.raises(SplitError, match=r"one value for each of \d+ edges, got \(1,\)"):
        split.run(graphs, torch.ones(1))
    for graph in graphs:
        graph.y = torch.tensor([0, 1, 1])
    with pytest.raises(GraphError, match="graph 0 has 3 labels: multi-label"):
        split_model(build(zoo.GCNLinear), graphs)


def test_lazy_models_are_refused_and_left_alone():
    model = build(zoo.GCNLinear).train()
    model.lin = LazyLinear(-1, 3)
    with pytest.raises(SplitError, match="lazy and has no weights yet"):
        split_model(model, make_graphs(4))
    assert model.training
    assert all(parameter.requires_grad for parameter in model.conv1.parameters())


def test_parallel_edges_have_masks_of_their_own():
    """Two edges between the same two nodes, one of them masked: as if that one were deleted."""
    torch.manual_seed(0)
    graphs = make_graphs(4, directed=True)
    for graph in graphs:
        graph.edge_index = torch.cat([graph.edge_index, graph.edge_index], 1)
        graph.edge_attr = torch.cat([graph.edge_attr, graph.edge_attr + 1])

    class Typed(zoo.OwnLayer):
        def forward(self, x, edge_index, batch):
            return super().forward(x, edge_index[:, edge_index[1].argsort(stable=True)], batch)

    split = split_model(Typed(), graphs)
    batch = Batch.from_data_list(graphs)
    removed = torch.rand(batch.num_edges) < 0.3
    masked, deleted = split.run(batch, (~removed).float()).output, split.run(delete_edges(batch, removed)).output
    torch.testing.assert_close(masked, deleted)
