"""The set whose classes are unions of two motifs: what is planted, and that a network can use it."""

from collections import Counter, defaultdict
from itertools import combinations

import networkx as nx
import pytest
import torch

from rcexplainer.datasets import load
from rcexplainer.datasets.motif_graphs import UNIONS
from rcexplainer.datasets.motifs import Motif
from rcexplainer.datasets.shapes import DIAMOND, bipartite, fan, ladder, wheel, windmill
from rcexplainer.errors import DatasetError
from tests.datasets.test_synthetic import assert_tree_with_motifs, crc, shape, with_id

KINDS = [pair[which] for which in (0, 1) for pair in UNIONS]


@pytest.mark.parametrize(
    ("motif", "reference", "nodes", "edges"),
    [
        (wheel(5), nx.wheel_graph(6), 6, 10),
        (fan(4), nx.from_edgelist([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4)]), 5, 7),
        (ladder(4), nx.grid_graph([2, 4]), 8, 10),
        (bipartite(2, 4), nx.complete_bipartite_graph(2, 4), 6, 8),
        (windmill(2), nx.from_edgelist([(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)]), 5, 6),
        (windmill(3), nx.windmill_graph(3, 3), 7, 9),
        (DIAMOND, nx.from_edgelist([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]), 4, 5),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_shapes(motif: Motif, reference: nx.Graph, nodes: int, edges: int) -> None:
    assert nx.is_isomorphic(shape(motif), reference)
    assert (len(motif.roles), len(motif.edges)) == (nodes, edges)
    assert sorted(shape(motif)) == list(range(nodes))


def test_message_passing_can_tell_the_motifs_apart() -> None:
    """Three rounds of colour refinement give every pair of motifs different colours."""
    assert len({colours(shape(motif), rounds=3) for motif in KINDS}) == len(KINDS) == 12


def colours(graph: nx.Graph, rounds: int) -> tuple[str, ...]:
    """The nodes' colours after colour refinement, each spelt out by those of its neighbours."""
    colour = dict.fromkeys(graph, "")
    for _ in range(rounds):
        colour = {node: f"({''.join(sorted(colour[other] for other in graph[node]))})" for node in graph}
    return tuple(sorted(colour.values()))


def test_a_graph_has_one_of_the_two_motifs_of_its_class() -> None:
    dataset = load("motif-unions", num_graphs=240)
    assert torch.cat([data.y for data in dataset.graphs]).bincount().tolist() == [40] * 6
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for data in dataset.graphs:
        (kind,) = set(data.edge_motif_id[data.edge_motif].tolist())
        both = [with_id(data, kind).subgraph(nodes) for nodes in nx.connected_components(with_id(data, kind))]
        assert [nx.is_isomorphic(one, shape(KINDS[kind])) for one in both] == [True, True]
        assert torch.equal(data.x, torch.full((data.num_nodes, 10), 0.1))
        assert_tree_with_motifs(data, num_motifs=2)
        found[int(data.y)][kind] += 1
    assert found == {label: Counter({label: 20, label + 6: 20}) for label in range(6)}
    assert dataset.class_names[1] == "house/wheel"
    assert all(not set(one) & set(other) for one, other in combinations(found.values(), 2))


@pytest.mark.parametrize("size", ["num_nodes", "num_edges"])
def test_size_does_not_tell_the_class(size: str) -> None:
    """Guessing the class from the size is little better than chance, a sixth."""
    graphs = load("motif-unions").graphs
    votes: dict[int, Counter[int]] = defaultdict(Counter)
    for data in graphs:
        votes[getattr(data, size)][int(data.y)] += 1
    assert sum(max(vote.values()) for vote in votes.values()) / len(graphs) < 1 / 3


def test_same_data_on_every_machine() -> None:
    assert crc(load("motif-unions", num_graphs=60)) == 3428558643


@pytest.mark.parametrize("num_graphs", [5, 0, 6.0, "12", True])
def test_bad_num_graphs(num_graphs: object) -> None:
    with pytest.raises(DatasetError, match=r"motif-unions needs num_graphs .* at least 6.*; got "):
        load("motif-unions", num_graphs=num_graphs)


def test_more_graphs_do_not_change_the_first_ones() -> None:
    few, more = load("motif-unions", num_graphs=9).graphs, load("motif-unions", num_graphs=13).graphs
    assert all(torch.equal(one.edge_index, other.edge_index) for one, other in zip(few, more, strict=False))
