"""A model is left as it was found, also when it raises."""

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import Linear as LazyLinear

from rcexplainer.errors import SplitError
from rcexplainer.gnn import split_model
from rcexplainer.gnn.scope import Untouched
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs, state_of
from tests.gnn.splits import build


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


def test_lazy_models_are_refused_and_left_alone():
    model = build(zoo.GCNLinear).train()
    model.lin = LazyLinear(-1, 3)
    with pytest.raises(SplitError, match="lazy and has no weights yet"):
        split_model(model, make_graphs(4))
    assert model.training
    assert all(parameter.requires_grad for parameter in model.conv1.parameters())
