"""Robustness with scores that are known: what is averaged, drawn again, left out and counted."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from torch_geometric.data import Data

from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.explanation import Failure
from rcexplainer.gnn.graph_checks import GraphKind
from rcexplainer.gnn.split import split_model
from rcexplainer.method import inputs
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import Robustness, perturb, robustness
from rcexplainer.metrics.agreement import edge_auc
from tests.metrics.paths import PROTOCOLS, path, rng, undirected
from tests.metrics.test_fidelity import ByNumberOfEdges

WIDE = 40  # more nodes than any graph here has


def by_position(instances, labels, target):
    """A score of its own for every pair of nodes; a graph with 13 nodes cannot be explained."""
    batch, units = instances[instances.everything]
    if 13 in batch.ptr.diff():
        raise ValueError("unlucky")
    low, high = units.pair - batch.ptr[units.owner]
    return (low * 17 + high * 29).remainder(101) / 101 + (low * WIDE + high) / 1e5


def fit(graphs: list[Data], scores=by_position) -> FittedExplainer:
    return FittedExplainer(split_model(ByNumberOfEdges(), graphs), scores, GraphKind.of(graphs[0]))


GRAPHS = [path(length) for length in (10, 14, 18, 25)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_noise_everything_stays(protocol):
    found = robustness(fit(GRAPHS), GRAPHS, (0.0,), (4, 8), protocol=protocol, search="prefix")
    assert found.auc == ((1.0, 1.0),)
    assert found.defined == ((4, 4),)
    assert found.node_accuracy == ((1.0, 1.0, 1.0),)
    assert (found.kept, found.failed, found.graphs, found.unexplained) == ((1.0,), (0,), 4, 0)
    assert found.flipped == (0,)  # half of the edges are not enough to flip
    assert asdict(found)["auc"] == ((1.0, 1.0),)
    assert Robustness.better == "higher"


def test_counterfactuals_are_compared_when_asked():
    """Two edges are class 0: half of a path of four has to go, which a search tries, and more than half of ten."""
    graphs = [path(4), path(10)]
    found = robustness(fit(graphs), graphs, (0.0, 0.3), 2, search="prefix", copies=10)
    assert found.jaccard is not None
    assert found.flipped is not None
    assert found.flipped[0] == 10
    assert found.jaccard[0] == 1.0
    assert 0 <= found.jaccard[1] < 1.0
    assert robustness(fit(graphs), graphs, (0.0,), 2).jaccard is None


def test_the_values_are_means_over_the_noisy_copies():
    """Scores go by position, so the AUC at a level is that of each copy, which can be made again by hand."""
    fitted = fit(GRAPHS)
    found = robustness(fitted, GRAPHS, (0.0, 0.2), (4, 8), protocol="strict", seed=3, copies=2)
    clean = fitted.explain(GRAPHS, search="none")
    values = []
    for place, graph in enumerate(GRAPHS):
        for number in range(2):  # all have far more than three edges: no copy is drawn again
            noisy = perturb(graph, 0.2, rng([3, 200_000_000, place, number, 0]), protocol="strict")
            one = fitted.explain(noisy, search="none")
            values.append([edge_auc(clean[place], one, 4), edge_auc(clean[place], one, 8)])
    assert found.auc[1] == pytest.approx(np.mean(values, 0))
    assert found.defined == ((8, 8), (8, 8))
    assert found.auc[1][0] < 1.0
    assert found.copies == 2


def test_a_level_does_not_depend_on_the_other_levels_the_batch_or_explanations_given(monkeypatch):
    fitted = fit(GRAPHS)
    whole = robustness(fitted, GRAPHS, (0.1, 0.3), seed=1)
    assert whole == robustness(fitted, iter(GRAPHS), (0.1, 0.3), seed=1)
    assert whole.auc[1] == robustness(fitted, GRAPHS, (0.3,), seed=1).auc[0]
    assert whole.auc != robustness(fitted, GRAPHS, (0.1, 0.3), seed=2).auc
    clean = fitted.explain(GRAPHS, search="none")
    monkeypatch.setattr(inputs, "CHUNK_GRAPHS", 1)
    assert whole == robustness(fitted, GRAPHS, (0.1, 0.3), seed=1, explanations=clean)


def test_graphs_whose_prediction_never_stays_are_left_out():
    """A triangle has three edges, class 1, and no room for a fourth: any change makes it class 0."""
    graphs = [undirected([(0, 1), (1, 2), (0, 2)], 3), path(10)]
    found = robustness(fit(graphs), graphs, (0.0, 0.3), 2, protocol="strict", copies=3)
    assert found.kept == found.stayed == (1.0, 0.5)
    assert found.defined == ((6,), (3,))
    assert found.each[1] == ((None,), pytest.approx(found.auc[1]))
    alone = robustness(fit(graphs), graphs[:1], (0.3,), 2, protocol="strict")
    assert alone.kept == (0.0,)
    assert math.isnan(alone.auc[0][0])
    assert alone.defined == ((0,),)


def test_a_copy_is_drawn_again_until_its_prediction_stays():
    """Three edges, one of six pairs changes: half the time it is a deletion, which flips, never 21 times running."""
    graphs = [path(3)] * 20
    found = robustness(fit(graphs), graphs, (0.3,), 2, protocol="strict")
    assert found.kept == (1.0,)
    assert 0.2 < found.stayed[0] < 0.8
    assert found.defined == ((20,),)


def test_graphs_that_cannot_be_explained_are_counted():
    graphs = [*GRAPHS, path(12)]  # 13 nodes
    fitted = fit(graphs)
    found = robustness(fitted, graphs, (0.0, 0.1))
    assert (found.graphs, found.unexplained, found.failed) == (4, 1, (0, 0))
    assert found.auc == robustness(fitted, GRAPHS, (0.0, 0.1)).auc
    said = "none of the 1 graphs could be explained; the first: the model raised ValueError on this instance: unlucky"
    with pytest.raises(RCExplainerError, match=said):
        robustness(fitted, graphs[-1:])


def test_noisy_copies_that_cannot_be_explained_are_counted():
    def few(instances, labels, target):
        if int(instances.units.counts.max()) > 10:
            raise ValueError("too many edges")
        return by_position(instances, labels, target)

    graphs = [path(10)]
    found = robustness(fit(graphs, few), graphs, (0.0, 0.1), 4, protocol="strict", copies=20)
    assert found.kept == (1.0, 1.0)
    assert found.failed[0] == 0
    assert 0 < found.failed[1] < 20  # one pair changes: where it is a new one, there are eleven
    assert found.defined[1] == (20 - found.failed[1],)


def test_undefined_values_are_left_out_and_counted():
    graphs = [path(5), path(20)]
    found = robustness(fit(graphs), graphs, (0.0,), (4, 8))
    assert found.defined == ((2, 1),)  # a path of five has no more than eight edges
    assert found.auc == ((1.0, 1.0),)


def test_a_model_that_raises_on_one_copy_loses_no_other():
    class Picky(ByNumberOfEdges):
        def forward(self, x, edge_index, batch):
            if 22 in batch[edge_index[0]].bincount().tolist():
                raise RuntimeError("eleven")
            return super().forward(x, edge_index, batch)

    graphs = [path(10)]
    fitted = FittedExplainer(split_model(Picky(), graphs), by_position, GraphKind.of(graphs[0]))
    found = robustness(fitted, graphs, (0.1,), 4, protocol="strict", copies=8)
    assert found.kept == (1.0,)  # the copy with eleven edges is drawn again
    assert found.failed == (0,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"protocol": "loose"}, "protocol must be one of paper, strict, got 'loose'"),
        ({"noise": (0.1, 1.5)}, "noise is a share from 0 to 1, got 1.5"),
        ({"noise": (-0.1,)}, "noise is a share from 0 to 1, got -0.1"),
        ({"noise": (math.nan,)}, "noise is a share from 0 to 1, got nan"),
        ({"noise": ()}, "at least one noise level"),
        ({"k": ()}, "at least one k"),
        ({"k": 0}, "k must be a whole number ≥ 1, got 0"),
        ({"k": (4, -1)}, "k must be a whole number ≥ 1, got -1"),
        ({"copies": 0}, "copies must be a whole number ≥ 1, got 0"),
        ({"seed": -1}, "seed must be a whole number ≥ 0, got -1"),
        ({"search": "deep"}, "search must be none, prefix or greedy, got 'deep'"),
        ({"explanations": []}, "explanations must hold one for each of 4 graphs, got 0"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(RCExplainerError, match=message):
        robustness(fit(GRAPHS), GRAPHS, **arguments)


def test_wrong_graphs_and_explanations():
    fitted = fit(GRAPHS)
    with pytest.raises(GraphError, match="the dataset is empty: at least one graph is needed"):
        robustness(fitted, [])
    clean = fitted.explain(GRAPHS, search="none")
    with pytest.raises(RCExplainerError, match='search="prefix" needs explanations with counterfactuals'):
        robustness(fitted, GRAPHS, search="prefix", explanations=clean)
    kept = [Failure(0, ValueError("bad")), *clean[1:]]
    assert robustness(fitted, GRAPHS, (0.0,), explanations=kept).unexplained == 1
