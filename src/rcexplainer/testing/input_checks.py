"""Checks of what a method does with the model and the graphs it is given."""

from copy import copy

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from rcexplainer.errors import ExplainError, GraphError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.testing.expectation import ConformanceError, expect
from rcexplainer.testing.method_case import MethodCase
from rcexplainer.testing.model_state import state_of
from rcexplainer.testing.sample_graphs import EDGE_FEATURES, FEATURES, sample_graphs
from rcexplainer.testing.sample_networks import random_network


def the_model_is_left_as_it_was(case: MethodCase) -> None:
    """Parameters, buffers, hooks, training flags and attributes."""
    model = random_network(case.conv).train()
    before = state_of(model)
    fitted = case.fit(model)
    expect(state_of(model) == before, "fit changes the model: run it inside `with instances.split.scope:`")
    fitted.explain(sample_graphs())
    expect(state_of(model) == before, "explain changes the model: run it inside `with instances.split.scope:`")


def the_model_is_left_as_it_was_when_it_raises(case: MethodCase) -> None:
    """And every graph has its failure."""
    model = case.fitted.split.model
    layer = next(module for module in model.modules() if isinstance(module, MessagePassing))
    hook = layer.register_forward_pre_hook(_fail)
    model.train()
    try:
        before = state_of(model)
        found = case.fitted.explain(sample_graphs(), on_error="keep")
        expect(all(isinstance(one, Failure) for one in found), "a model that raises is explained")
        expect(state_of(model) == before, "a model that raises is changed: use `with instances.split.scope:`")
    finally:
        hook.remove()
        model.eval()


def _fail(module: nn.Module, inputs: object) -> None:
    raise RuntimeError("this network always fails")


def a_graph_without_edges_has_no_scores(case: MethodCase) -> None:
    """Nor has one with self-loops alone, which are never deleted."""
    fitted = case.fitted
    none, two = torch.empty(2, 0, dtype=torch.long), torch.tensor([[0, 1], [0, 1]])
    bare, loops = (
        Data(x=torch.ones(3, FEATURES), edge_index=edges, edge_attr=torch.ones(edges.size(1), EDGE_FEATURES))
        for edges in (none, two)
    )
    expect(fitted.explain(bare).edge_scores.shape == (0,), "a graph without edges has scores")
    expect(fitted.explain(loops).edge_scores.tolist() == [0, 0], "self-loops have scores")


def bad_graphs_are_refused_and_the_others_explained(case: MethodCase) -> None:
    """Features of another width, and NaN."""
    fitted = case.fitted
    good = sample_graphs(2)
    narrow, broken = copy(good[0]), copy(good[0])
    narrow.x = good[0].x[:, :2]
    broken.x = good[0].x.clone().fill_(torch.nan)
    some = [good[0], narrow, broken, good[1]]
    first, *bad, last = fitted.explain(some, search="none", on_error="keep")
    for one, words in zip(bad, (f"width 2, the explainer was fitted on {FEATURES}", "NaN"), strict=True):
        refused = isinstance(one, Failure) and isinstance(one.error, GraphError) and words in str(one.error)
        expect(refused, f"a bad graph is not refused for its reason ({words}): {one}")
    expect(isinstance(first, Explanation) and isinstance(last, Explanation), "a bad graph costs the others")
    if isinstance(last, Explanation):
        torch.testing.assert_close(last.edge_scores, fitted.explain(good[1], search="none").edge_scores)
    try:
        fitted.explain(some, search="none")
    except ExplainError as error:
        expect("instance 1 could not be explained" in str(error), f"the error does not name the graph: {error}")
        expect(isinstance(error.results[3], Explanation), "the error does not hold the other results")
    else:
        raise ConformanceError('on_error="raise" does not raise')
