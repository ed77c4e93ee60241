"""Noise on graphs small enough to count on paper: what it changes, how often, and what it never does."""

from collections import Counter

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError
from rcexplainer.metrics import perturb
from rcexplainer.metrics.perturbation import feature_rows
from tests.metrics.paths import PROTOCOLS, path, rng, undirected


def pairs_of(graph: Data) -> set[tuple[int, int]]:
    return {(min(edge), max(edge)) for edge in graph.edge_index.T.tolist() if edge[0] != edge[1]}


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


@pytest.mark.parametrize(
    ("noise", "protocol", "message"),
    [
        (0.1, "loose", "protocol must be one of paper, strict, got 'loose'"),
        (2, "paper", "noise is a share from 0 to 1, got 2"),
    ],
)
def test_wrong_noise(noise: float, protocol: str, message: str):
    with pytest.raises(RCExplainerError, match=message):
        perturb(path(3), noise, rng(), protocol=protocol)
