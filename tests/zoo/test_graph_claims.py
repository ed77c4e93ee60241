"""Hostile graph classifiers: each is explained rightly or refused, and every claim is re-run one by one.

The bulk: one claimed flip and one claimed minimal removal for most of 120 graphs and each model; 0 may be wrong.
"""

import pytest
import torch
from torch import nn

import rcexplainer as rc
from rcexplainer.errors import SplitError
from tests.zoo import graph_models as zoo
from tests.zoo.claims import Tally, check, check_total

WANTED = 1400  # claimed flips of all models that are explained
LEAST = 40  # of one model
TALLIES: dict[str, Tally] = {}


def net_of(name: str, seed: int = 0) -> nn.Module:
    return zoo.balanced(zoo.built(zoo.EXPLAINED[name], seed), zoo.graphs())


@pytest.mark.parametrize("name", zoo.EXPLAINED)
def test_explained_rightly(name: str) -> None:
    model, graphs = net_of(name), list(zoo.graphs())
    found = rc.baselines.Occlusion().fit(model, graphs).explain(graphs)
    TALLIES[name] = check(model, found)
    assert TALLIES[name].wrong == 0
    assert TALLIES[name].flips >= LEAST


def test_enough_claims_were_re_run() -> None:
    check_total(TALLIES, len(zoo.EXPLAINED), WANTED)


def test_the_graphs_and_the_model_are_left_alone() -> None:
    for name in ("writes to features", "writes to edges", "replaces attributes", "leaves traces"):
        model, graphs = net_of(name), [graph.clone() for graph in zoo.graphs()[:20]]
        before = {key: value.clone() for key, value in model.state_dict().items()}
        rc.baselines.Occlusion().fit(model, graphs).explain(graphs)
        for one, other in zip(graphs, zoo.graphs(), strict=False):
            assert torch.equal(one.x, other.x)
            assert torch.equal(one.edge_index, other.edge_index)
        assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


@pytest.mark.parametrize("name", zoo.REFUSED)
def test_refused(name: str) -> None:
    make, why = zoo.REFUSED[name]
    with pytest.raises(SplitError, match=why):
        rc.baselines.Occlusion().fit(zoo.built(make), list(zoo.graphs()))


@pytest.mark.parametrize("name", ["plain", "token for each graph", "writes to features", "index_add"])
def test_random_rankings_and_the_greedy_search(name: str) -> None:
    model, graphs = net_of(name), list(zoo.graphs()[:60])
    tally = check(model, rc.baselines.Random().fit(model, graphs).explain(graphs, search="greedy"))
    assert tally.wrong == 0
    assert tally.flips >= 25


@pytest.mark.parametrize("name", ["plain", "leaves traces", "replaces attributes", "index_add", "dense adjacency"])
def test_rcexplainer_makes_true_claims(name: str) -> None:
    model, graphs = net_of(name), list(zoo.graphs()[:40])
    fitted = rc.RCExplainer(epochs=2).fit(model, graphs, progress=False)
    tally = check(model, fitted.explain(graphs))
    assert tally.wrong == 0
    assert tally.flips >= 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("name", zoo.EXPLAINED)
def test_other_weights(name: str, seed: int) -> None:
    model, graphs = net_of(name, seed), list(zoo.graphs())
    for method, search in ((rc.baselines.Occlusion(), "prefix"), (rc.baselines.Random(), "greedy")):
        assert check(model, method.fit(model, graphs).explain(graphs, search=search)).wrong == 0


def test_a_compiled_graph_takes_no_hooks() -> None:
    with pytest.raises(SplitError, match=r"a TorchScript model cannot be split.*pass the nn\.Module"):
        rc.baselines.Occlusion().fit(torch.jit.script(nn.Linear(4, 2)), list(zoo.graphs()))
