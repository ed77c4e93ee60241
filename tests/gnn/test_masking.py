"""Deletion cuts every edge-level attribute; scopes put everything back."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Batch, Data

from rcexplainer.errors import SplitError
from rcexplainer.gnn.graph_store import delete_edges, edge_level_keys
from rcexplainer.gnn.edge_masks import layer_masks
from rcexplainer.gnn.scope import Untouched
from rcexplainer.gnn.trial import random_pairs
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of


def test_deletion_cuts_every_edge_attribute_and_leaves_the_graph_alone():
    graph = make_graphs(1, edge_weight=True)[0]
    graph.bond = torch.arange(graph.num_edges)
    graph.edge_label_index = graph.edge_index[:, :2]
    before = graph.clone()
    removed = torch.zeros(graph.num_edges, dtype=torch.bool)
    removed[::3] = True
    kept = delete_edges(graph, removed)
    for key in ("edge_attr", "edge_weight", "bond"):
        assert torch.equal(kept[key], graph[key][~removed])
    assert torch.equal(kept.edge_index, graph.edge_index[:, ~removed])
    assert torch.equal(kept.edge_label_index, graph.edge_label_index)
    assert kept.num_nodes == graph.num_nodes
    assert all(torch.equal(before[key], graph[key]) for key in before.keys())  # noqa: SIM118


def test_label_of_a_graph_with_one_edge_is_not_cut():
    graph = Data(
        x=torch.rand(2, 1), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([1]), edge_attr=torch.rand(1, 2)
    )
    kept = delete_edges(graph, torch.tensor([True]))
    assert kept.y.tolist() == [1]
    assert kept.edge_attr.shape == (0, 2)
    assert edge_level_keys(graph) == ["edge_index", "edge_attr"]


def test_as_many_nodes_as_edges():
    ring = Data(x=torch.rand(3, 2), edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]]), edge_attr=torch.rand(3, 4))
    kept = delete_edges(ring, torch.tensor([True, False, False]))
    assert kept.x.shape == (3, 2)
    assert kept.edge_attr.shape == (2, 4)


@pytest.mark.parametrize("removed", [torch.ones(3), torch.ones(3, dtype=torch.bool), torch.tensor([0, 1])])
def test_wrong_masks(removed):
    with pytest.raises(SplitError, match=r"must be a boolean mask of \d+ edges, got"):
        delete_edges(make_graphs(1)[0], removed)


@given(seed=st.integers(0, 100), share=st.floats(0, 1))
def test_random_pairs_take_both_directions_and_no_loops(seed, share):
    graph = make_graphs(1, self_loops=True, seed=seed)[0]
    chosen = random_pairs(graph.edge_index, graph.num_nodes, share, seed)
    pairs = [tuple(sorted(pair)) for pair in graph.edge_index.T.tolist()]
    taken = {pair for pair, yes in zip(pairs, chosen.tolist(), strict=True) if yes}
    assert all(yes == (pair in taken) for pair, yes in zip(pairs, chosen.tolist(), strict=True))
    assert all(u != v for u, v in taken)


def test_scope_restores_all_kinds_of_state():
    model = zoo.Raising().train()
    model.conv1.eval()
    before = state_of(model)

    def misuse() -> None:
        with Untouched(model):
            assert not model.training
            assert not any(parameter.requires_grad for parameter in model.parameters())
            model.calls += 5
            model.history.append(2)
            model.extra = "new"
            model.conv1.register_forward_hook(print)
            model.conv2 = nn.Identity()
            del model.fail
            raise KeyError

    with pytest.raises(KeyError):
        misuse()
    assert state_of(model) == before


def test_scopes_nest():
    model = zoo.GCNLinear().train()
    scope = Untouched(model)
    with scope:
        with scope:
            pass
        assert not model.training
    assert model.training


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


def test_a_batch_can_still_be_taken_apart_after_deletion():
    graphs = make_graphs(4, edge_weight=True)
    batch = Batch.from_data_list(graphs)
    removed = torch.arange(batch.num_edges) % 3 == 0
    start = 0
    for graph, kept in zip(graphs, delete_edges(batch, removed).to_data_list(), strict=True):
        mine = removed[start : start + graph.num_edges]
        start += graph.num_edges
        assert torch.equal(kept.edge_index, graph.edge_index[:, ~mine])
        assert torch.equal(kept.edge_weight, graph.edge_weight[~mine])
        assert torch.equal(kept.x, graph.x)
