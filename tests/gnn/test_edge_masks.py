"""Soft masks: they follow the edges through the model, and a weight of 0 is deletion where the split says so."""

from functools import partial

import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.nn import ARMAConv, ChebConv, GraphConv, SGConv, TAGConv

from rcexplainer.gnn import split_model
from rcexplainer.gnn.edge_masks import layer_masks
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.trial import random_pairs
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of
from tests.gnn.splits import build, model_output, split_of


def test_half_weighted_model_is_masked_through_its_layers():
    assert split_of(zoo.HalfWeighted).masking == "layers"
    assert split_of(zoo.Weighted).masking == "edge_weight"


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
        split = split_of(model_class)
        batch = Batch.from_data_list(graphs)
        mask = torch.full((batch.num_edges,), 0.7, requires_grad=True)
        split.head(split.embed(batch, mask)).square().sum().backward()
        assert (mask.grad != 0).float().mean() > 0.5
        assert all(parameter.grad is None and parameter.requires_grad for parameter in split.model.parameters())


@pytest.mark.parametrize("layer", [partial(ChebConv, K=3), TAGConv, ARMAConv, GraphConv, SGConv])
def test_layers_that_normalise_by_their_weights(layer):
    torch.manual_seed(1)
    graphs = make_graphs(8)
    split = split_model(zoo.Conv(layer(zoo.FEATURES, 16)), graphs)
    batch = Batch.from_data_list(graphs)
    torch.testing.assert_close(split.head(split.embed(batch)), model_output(split, batch))
    assert split.masking == "edge_weight"
    removed = random_pairs(batch.edge_index, batch.num_nodes, 0.5, seed=5)
    masked, deleted = split.run(batch, (~removed).float()).output, split.run(delete_edges(batch, removed)).output
    assert torch.allclose(masked, deleted, atol=1e-4) == split.exact_masking


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


def test_layer_hooks_are_gone_after_a_failure():
    model = zoo.Raising().eval()
    model.fail = True
    batch = Batch.from_data_list(make_graphs(3))
    before = state_of(model)
    with (
        pytest.raises(RuntimeError),
        layer_masks(model, batch.edge_index, batch.num_nodes, torch.ones(batch.num_edges)),
    ):
        raise RuntimeError
    assert state_of(model) == before


def test_masks_follow_edges_that_the_model_reorders():
    """A model that sorts its edges before the convolution: matched by node pair, not by position."""

    class Sorting(zoo.OwnLayer):
        def forward(self, x, edge_index, batch):
            return super().forward(x, edge_index[:, edge_index[1].argsort(stable=True)], batch)

    torch.manual_seed(0)
    model, batch = Sorting().eval(), Batch.from_data_list(make_graphs(4, directed=True))
    mask = torch.rand(batch.num_edges)
    plain = zoo.OwnLayer().eval()
    plain.load_state_dict(model.state_dict())
    outputs = []
    for one in (model, plain):
        with layer_masks(one, batch.edge_index, batch.num_nodes, mask):
            outputs.append(one(batch.x, batch.edge_index, batch.batch))
    torch.testing.assert_close(outputs[0], outputs[1])
