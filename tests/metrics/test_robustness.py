"""Robustness by hand: scores that are known, graphs small enough to count on paper, and what the noise may change."""

import math
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.explanation import Counterfactual, Explanation, Failure
from rcexplainer.gnn.graph_checks import GraphKind
from rcexplainer.gnn.split import split_model
from rcexplainer.method import inputs as streaming
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import Robustness, perturb, robustness
from rcexplainer.metrics.perturbation import feature_rows
from rcexplainer.metrics.robustness import edge_auc, jaccard, node_accuracy
from tests.metrics.test_metrics import ByNumberOfEdges

PROTOCOLS = ("paper", "strict")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def undirected(pairs: list[tuple[int, int]], nodes: int, **attributes: torch.Tensor) -> Data:
    there = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    return Data(x=torch.ones(nodes, 1), edge_index=torch.cat([there, there.flip(0)], 1), **attributes)


def path(length: int) -> Data:
    return undirected([(node, node + 1) for node in range(length)], length + 1)


def explained(pairs: list[tuple[int, int]], scores: list[float], nodes: int, removed: list[int] | None = None):
    """These node pairs with these scores, and a counterfactual without the pairs at the positions `removed`."""
    graph = undirected(pairs, nodes)
    probabilities = torch.tensor([0.2, 0.8])
    found = None
    if removed is not None:
        gone = torch.zeros(len(pairs), dtype=torch.bool)
        gone[removed] = True
        after = probabilities.flip(0) if removed else probabilities
        found = Counterfactual(graph, gone.repeat(2).nonzero().flatten(), 1, after, bool(removed))
    return Explanation(graph, torch.tensor(scores * 2), 1, probabilities, (), found)


def pairs_of(graph: Data) -> set[tuple[int, int]]:
    return {(min(edge), max(edge)) for edge in graph.edge_index.T.tolist() if edge[0] != edge[1]}


# Four nodes, a square and its diagonal; T_2 = {01, 12}.
CLEAN = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]
CLEAN_SCORES = [0.9, 0.8, 0.3, 0.2, 0.1]


def test_edge_auc_by_hand():
    """01 is gone and 13 is new: 12 is the one positive, above 23 and 03, level with 02, below 13."""
    clean = explained(CLEAN, CLEAN_SCORES, 4)
    noisy = explained([(1, 2), (2, 3), (0, 3), (0, 2), (1, 3)], [0.5, 0.2, 0.1, 0.5, 0.7], 4)
    assert edge_auc(clean, noisy, 2) == 2.5 / 4
    assert edge_auc(clean, noisy, 5) == pytest.approx((0 + 0 + 0 + 0) / 4)  # 13 alone is negative, above all others
    assert edge_auc(clean, clean, 2) == 1.0


def test_edge_auc_does_not_depend_on_the_order_of_edges():
    clean = explained(CLEAN, CLEAN_SCORES, 4)
    turned = explained([(b, a) for a, b in CLEAN[::-1]], CLEAN_SCORES[::-1], 4)
    assert edge_auc(clean, turned, 2) == edge_auc(turned, clean, 2) == 1.0


def test_edge_auc_is_undefined_with_one_kind_of_pairs():
    clean = explained(CLEAN, CLEAN_SCORES, 4)
    assert math.isnan(edge_auc(clean, clean, 5))  # all are positive
    assert math.isnan(edge_auc(clean, clean, 8))
    assert math.isnan(edge_auc(clean, explained(CLEAN[2:], [0.3, 0.2, 0.1], 4), 2))  # none is left
    assert math.isnan(edge_auc(clean, explained([], [], 4), 2))


def test_node_accuracy_by_hand():
    """a = (.9, .9, .8, .3) and (.5, .7, .5, .7): the top two are 01 and 13, the top three 012 and 013."""
    clean = explained(CLEAN, CLEAN_SCORES, 4)
    noisy = explained([(1, 2), (2, 3), (0, 3), (0, 2), (1, 3)], [0.5, 0.2, 0.1, 0.5, 0.7], 4)
    assert node_accuracy(clean, noisy, 2) == 1 / 2
    assert node_accuracy(clean, noisy, 3) == pytest.approx(2 / 3)
    assert node_accuracy(clean, noisy, 8) == 1.0
    assert node_accuracy(clean, clean, 2) == 1.0


def test_jaccard_by_hand():
    """{01, 12} and {12, 13}: one of three."""
    clean = explained(CLEAN, CLEAN_SCORES, 4, removed=[0, 1])
    noisy = explained([(1, 2), (2, 3), (1, 3)], [0.5, 0.2, 0.7], 4, removed=[0, 2])
    assert jaccard(clean, noisy) == pytest.approx(1 / 3)
    assert jaccard(clean, clean) == 1.0
    assert math.isnan(jaccard(clean, explained(CLEAN, CLEAN_SCORES, 4, removed=[])))  # that one does not flip
    assert math.isnan(jaccard(explained(CLEAN, CLEAN_SCORES, 4), clean))


@pytest.mark.parametrize(("noise", "changed"), [(0.0, 0), (0.1, 2), (0.3, 6), (0.12, 2), (0.15, 3), (1.0, 20)])
def test_strict_noise_changes_exactly_so_many_pairs(noise, changed):
    graph = path(20)
    before = pairs_of(graph)
    gone = set()
    for seed in range(20):
        noisy = perturb(graph, noise, rng(seed), protocol="strict")
        after = pairs_of(noisy)
        assert len(before - after) + len(after - before) == changed
        assert abs(len(before - after) - len(after - before)) == changed % 2
        assert noisy.num_nodes == 21
        gone.add(len(before - after))
    assert gone == {changed // 2, (changed + 1) // 2}  # the odd one is a deletion or an addition, by a coin


def test_strict_noise_only_deletes_where_nothing_can_be_added():
    triangle = undirected([(0, 1), (1, 2), (0, 2)], 3)
    for seed in range(5):
        assert len(pairs_of(perturb(triangle, 2 / 3, rng(seed), protocol="strict"))) == 1


def test_strict_noise_adds_every_missing_pair_alike():
    """A path of three edges lacks 02, 03 and 13; one of its pairs changes, half the time one of these."""
    graph = path(3)
    added = Counter(
        pair
        for seed in range(600)
        for pair in pairs_of(perturb(graph, 0.3, rng(seed), protocol="strict")) - pairs_of(graph)
    )
    assert set(added) == {(0, 2), (0, 3), (1, 3)}
    assert all(60 < count < 140 for count in added.values())


def test_paper_noise_sets_pairs_to_edge_or_non_edge():
    """int(.3 · 20) = 6 of 210 pairs are set; half of those without an edge get one, half of those with one lose it."""
    graph = path(20)
    before = pairs_of(graph)
    added, gone = [], []
    for seed in range(300):
        after = pairs_of(perturb(graph, 0.3, rng(seed)))
        added.append(len(after - before))
        gone.append(len(before - after))
        assert added[-1] + gone[-1] <= 6
    assert np.mean(added) == pytest.approx(6 * 190 / 210 / 2, abs=0.25)
    assert np.mean(gone) == pytest.approx(6 * 20 / 210 / 2, abs=0.1)
    assert pairs_of(perturb(path(3), 0.3, rng())) == pairs_of(path(3))  # int(.9) = 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_noise_leaves_well_formed_undirected_graphs(protocol):
    weights = torch.arange(20.0)
    motif = torch.arange(20) < 5
    graph = undirected(
        [(node, node + 1) for node in range(20)],
        21,
        edge_weight=weights.repeat(2),
        edge_attr=torch.stack([weights, -weights], 1).repeat(2, 1),
        edge_motif=motif.repeat(2),
        edge_motif_id=torch.where(motif, 0, -1).repeat(2),
        y=torch.tensor([1]),
    )
    before = graph.clone()
    known = dict(zip(map(tuple, graph.edge_index.T.tolist()), graph.edge_weight.tolist(), strict=True))
    new = 0
    for seed in range(10):
        noisy = perturb(graph, 0.5, rng(seed), protocol=protocol)
        assert noisy.is_undirected()
        assert noisy.is_coalesced() or len(set(map(tuple, noisy.edge_index.T.tolist()))) == noisy.num_edges
        assert not noisy.has_self_loops()
        assert torch.equal(noisy.y, graph.y)
        for column, edge in enumerate(map(tuple, noisy.edge_index.T.tolist())):
            weight = float(noisy.edge_weight[column])
            assert noisy.edge_attr[column].tolist() == [weight, -weight]  # all attributes come from one edge
            if edge in known:
                assert weight == known[edge]
                assert bool(noisy.edge_motif[column]) == (weight < 5)
            else:
                new += 1
                assert weight in weights
                assert not noisy.edge_motif[column]
                assert noisy.edge_motif_id[column] == -1
    assert new > 20
    assert graph.to_dict().keys() == before.to_dict().keys()
    assert all(torch.equal(graph[key], before[key]) for key in before.to_dict())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_noise_on_a_directed_graph_adds_single_directions(protocol):
    edge_index = torch.stack([torch.arange(20), torch.arange(1, 21)])
    graph = Data(x=torch.ones(21, 1), edge_index=edge_index, edge_weight=torch.rand(20))
    upwards = set()
    for seed in range(10):
        noisy = perturb(graph, 0.5, rng(seed), protocol=protocol)
        assert noisy.num_edges == len(pairs_of(noisy)) == len(noisy.edge_weight)
        new = set(map(tuple, noisy.edge_index.T.tolist())) - set(map(tuple, edge_index.T.tolist()))
        upwards |= {a < b for a, b in new}
    assert upwards == {True, False}


def test_noise_keeps_self_loops_and_deletes_all_edges_of_a_pair():
    """A pair with two parallel edges and a one-way edge beside self-loops: |E| = 2."""
    edge_index = torch.tensor([[0, 0, 1, 0, 1, 2], [0, 1, 0, 1, 2, 2]])
    graph = Data(x=torch.ones(3, 1), edge_index=edge_index)
    sizes = set()
    for seed in range(20):
        noisy = perturb(graph, 1.0, rng(seed), protocol="strict")
        assert int((noisy.edge_index[0] == noisy.edge_index[1]).sum()) == 2
        assert len(pairs_of(noisy)) == 2
        assert (0, 2) in pairs_of(noisy)
        sizes.add(noisy.num_edges)
    assert sizes == {2 + 1 + 1, 2 + 3 + 1}  # without the pair of three edges, or without the single edge


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("nodes", [1, 3])
def test_noise_on_graphs_without_edges_changes_features_alone(protocol, nodes):
    graph = Data(x=torch.eye(3)[:nodes], edge_index=torch.empty(2, 0, dtype=torch.long))
    noisy = perturb(graph, 1.0, rng(), protocol=protocol, rows=torch.eye(3))
    assert noisy.num_edges == 0
    assert noisy.x.sum(1).tolist() == [1] * nodes


def test_noise_on_one_pair():
    """Two nodes, one edge: strict takes it away, the paper's does so half the time."""
    graph = path(1)
    assert perturb(graph, 1.0, rng(), protocol="strict").num_edges == 0
    assert {perturb(graph, 1.0, rng(seed)).num_edges for seed in range(20)} == {0, 2}
    assert {perturb(graph, 1.0, rng(seed)).num_nodes for seed in range(20)} == {2}


def test_noise_without_features_keeps_the_nodes():
    graph = Data(edge_index=path(1).edge_index, num_nodes=2)
    assert perturb(graph, 1.0, rng(), protocol="strict").num_nodes == 2


def test_one_hot_features_are_drawn_uniformly():
    graph = Data(x=torch.eye(4)[torch.arange(4000) % 2], edge_index=torch.empty(2, 0, dtype=torch.long))
    noisy = perturb(graph, 0.5, rng())
    assert (noisy.x.sum(1) == 1).all()
    # A node keeps its class if it is not hit, and a quarter of the time if it is.
    assert float((noisy.x == graph.x).all(1).double().mean()) == pytest.approx(1 / 2 + 1 / 8, abs=0.03)
    assert noisy.x[:, 2:].mean(0).tolist() == pytest.approx([1 / 8, 1 / 8], abs=0.02)
    assert torch.equal(graph.x, torch.eye(4)[torch.arange(4000) % 2])


def test_other_features_are_drawn_from_the_data():
    """Constant ones stay, continuous ones become another node's, also of another graph."""
    empty = torch.empty(2, 0, dtype=torch.long)
    constant = Data(x=torch.full((5, 3), 0.1), edge_index=empty)
    assert torch.equal(perturb(constant, 1.0, rng()).x, constant.x)
    constant = Data(x=torch.tensor([[1.0, 0.0]] * 5), edge_index=empty)
    assert torch.equal(perturb(constant, 1.0, rng()).x, constant.x)
    first, second = (Data(x=torch.rand(50, 3) + shift, edge_index=empty) for shift in (0, 5))
    rows = feature_rows([first, second])
    noisy = perturb(first, 1.0, rng(), rows=rows)
    assert all((row == rows).all(1).any() for row in noisy.x)
    assert 0.3 < float((noisy.x[:, 0] > 5).double().mean()) < 0.7
    whole = Data(x=torch.arange(9)[:, None], edge_index=empty)
    assert perturb(whole, 1.0, rng()).x.dtype == torch.long


def test_the_same_generator_gives_the_same_noise():
    graph = path(20)
    one, two, other = (perturb(graph, 0.3, rng(seed)) for seed in (1, 1, 2))
    assert torch.equal(one.edge_index, two.edge_index)
    assert not torch.equal(one.edge_index, other.edge_index)


WIDE = 40  # more nodes than any graph here has


def by_position(instances, labels):
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
    monkeypatch.setattr(streaming, "CHUNK_GRAPHS", 1)
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
    with pytest.raises(RCExplainerError, match="none of the 1 graphs could be explained; the first: unlucky"):
        robustness(fitted, graphs[-1:])


def test_noisy_copies_that_cannot_be_explained_are_counted():
    def few(instances, labels):
        if int(instances.units.counts.max()) > 10:
            raise ValueError("too many edges")
        return by_position(instances, labels)

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
        ({"k": 0}, "k is a number of edges from 1, got 0"),
        ({"k": (4, -1)}, "k is a number of edges from 1, got -1"),
        ({"copies": 0}, "copies is the number of noisy copies of each graph from 1, got 0"),
        ({"seed": -1}, "the seed is a number from 0, got -1"),
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
    with pytest.raises(RCExplainerError, match="protocol must be one of paper, strict"):
        perturb(GRAPHS[0], 0.1, rng(), protocol="loose")
    with pytest.raises(RCExplainerError, match="noise is a share from 0 to 1, got 2"):
        perturb(GRAPHS[0], 2, rng())
