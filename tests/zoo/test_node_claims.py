"""Hostile node classifiers: each is explained rightly or refused, and every claim is re-run in the whole graph."""

import copy

import pytest
import torch
from torch import nn

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from tests.zoo import graph_models
from tests.zoo import node_models as zoo
from tests.zoo.claims import Tally, check, check_total

ASKED = 80  # nodes
WANTED = 700  # claimed flips of all models that are explained
LEAST = 25  # of one model
TALLIES: dict[str, Tally] = {}


def net_of(name: str, seed: int = 0) -> nn.Module:
    return zoo.balanced(graph_models.built(zoo.EXPLAINED[name], seed), zoo.graph())


def to_ask(model: nn.Module) -> nn.Module:
    """The model whose answers count: a layer that caches its first graph has no answer for another one."""
    if not isinstance(model, zoo.CachedGCN):
        return model
    plain = zoo.PlainGCN().eval()
    plain.load_state_dict(copy.deepcopy(model.state_dict()))
    return plain


@pytest.mark.parametrize("name", zoo.EXPLAINED)
def test_explained_rightly(name: str) -> None:
    model, graph = net_of(name), zoo.graph().clone()
    found = rc.baselines.Occlusion(task="node").fit(model, graph).explain(graph, index=list(range(ASKED)))
    TALLIES[name] = check(to_ask(model), found)
    assert TALLIES[name].wrong == 0
    assert TALLIES[name].flips >= LEAST
    assert torch.equal(graph.x, zoo.graph().x)
    assert torch.equal(graph.edge_index, zoo.graph().edge_index)


def test_enough_claims_were_re_run() -> None:
    check_total(TALLIES, len(zoo.EXPLAINED), WANTED)


@pytest.mark.parametrize("name", zoo.REFUSED)
def test_refused(name: str) -> None:
    make, why = zoo.REFUSED[name]
    with pytest.raises(RCExplainerError, match=why):
        rc.baselines.Occlusion(task="node").fit(graph_models.built(make), zoo.graph(40))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("name", zoo.EXPLAINED)
def test_other_weights(name: str, seed: int) -> None:
    model, graph = net_of(name, seed), zoo.graph()
    for method, search in ((rc.baselines.Occlusion, "prefix"), (rc.baselines.Random, "greedy")):
        found = method(task="node").fit(model, graph).explain(graph, index=list(range(40)), search=search)
        assert check(to_ask(model), found).wrong == 0
