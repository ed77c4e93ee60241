"""Motifs, and graphs put together from a base and motifs with the ground truth of every node and edge.

    planted graph = base ∪ motif ∪ … ∪ motif + links

Only the motif's own edges are ground truth; a link (an edge that attaches a motif, or a random one) never is,
not even between two nodes of one motif. Edges are undirected here and kept once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Pair = tuple[int, int]
Numbers = NDArray[np.int64]

OUTSIDE = -1  # the motif id of nodes and edges that belong to no motif
BASE_ROLE = 0


@dataclass(frozen=True)
class Motif:
    """A small graph on the nodes 0 … n−1. Roles start with 1: role 0 is the base's."""

    name: str
    edges: tuple[Pair, ...]
    roles: tuple[int, ...]


# Nodes 0 and 1 stand between the roof (4) and the floor (2, 3).
HOUSE = Motif("house", edges=((0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 4)), roles=(1, 1, 2, 2, 3))


def cycle(size: int) -> Motif:
    return Motif("cycle", edges=tuple((node, (node + 1) % size) for node in range(size)), roles=(1,) * size)


def grid(side: int) -> Motif:
    """A square grid of `side`×`side` nodes, numbered row by row."""
    nodes = range(side * side)
    right = tuple((node, node + 1) for node in nodes if (node + 1) % side)
    down = tuple((node, node + side) for node in nodes if node + side < side * side)
    return Motif("grid", edges=right + down, roles=(1,) * len(nodes))


def clique(size: int) -> Motif:
    return Motif("clique", edges=tuple(combinations(range(size), 2)), roles=(1,) * size)


@dataclass(frozen=True)
class PlantedGraph:
    """An undirected graph that knows what was planted where: n nodes, m edges."""

    edges: Numbers  # [m, 2]
    edge_motif_id: Numbers  # [m]
    node_motif_id: Numbers  # [n]
    roles: Numbers  # [n]

    @property
    def num_nodes(self) -> int:
        return len(self.roles)

    @property
    def num_edges(self) -> int:
        return len(self.edges)


def bare(base: nx.Graph) -> PlantedGraph:
    """A base on the nodes 0 … n−1 in which nothing is planted yet."""
    return _plain(base.edges, [BASE_ROLE] * base.number_of_nodes(), OUTSIDE)


def _plain(edges: Iterable[Pair], roles: Iterable[int], motif_id: int) -> PlantedGraph:
    pairs = _numbers(edges).reshape(-1, 2)
    node_roles = _numbers(roles)
    return PlantedGraph(
        edges=pairs,
        edge_motif_id=np.full(len(pairs), motif_id, dtype=np.int64),
        node_motif_id=np.full(len(node_roles), motif_id, dtype=np.int64),
        roles=node_roles,
    )


def _numbers(values: Iterable[int] | Iterable[Pair]) -> Numbers:
    return np.array(list(values), dtype=np.int64)


def union(first: PlantedGraph, second: PlantedGraph) -> PlantedGraph:
    """Both graphs side by side; the second's nodes are numbered after the first's, motif ids stay."""
    return PlantedGraph(
        edges=np.concatenate([first.edges, second.edges + first.num_nodes]),
        edge_motif_id=np.concatenate([first.edge_motif_id, second.edge_motif_id]),
        node_motif_id=np.concatenate([first.node_motif_id, second.node_motif_id]),
        roles=np.concatenate([first.roles, second.roles]),
    )


def link(graph: PlantedGraph, pairs: Iterable[Pair]) -> PlantedGraph:
    """Add edges that belong to no motif."""
    new = _numbers(pairs).reshape(-1, 2)
    return PlantedGraph(
        edges=np.concatenate([graph.edges, new]),
        edge_motif_id=np.concatenate([graph.edge_motif_id, np.full(len(new), OUTSIDE, dtype=np.int64)]),
        node_motif_id=graph.node_motif_id,
        roles=graph.roles,
    )


def attach(graph: PlantedGraph, motif: Motif, motif_id: int, links: Iterable[Pair]) -> PlantedGraph:
    """Plant a motif, tied to the graph by `links` of (node of the graph, node of the motif)."""
    both = union(graph, _plain(motif.edges, motif.roles, motif_id))
    return link(both, [(node, graph.num_nodes + inside) for node, inside in links])


def link_at_random(
    graph: PlantedGraph, count: int, random: np.random.RandomState, sources: range, targets: range
) -> PlantedGraph:
    """Link `count` pairs that are not adjacent yet, drawn uniformly from `sources` × `targets`.

    So many free pairs must exist: drawing goes on until they are found.
    """
    taken = set(map(tuple, np.sort(graph.edges, axis=1).tolist()))
    new: list[Pair] = []
    while len(new) < count:
        one, other = whole_number(random, sources), whole_number(random, targets)
        pair = (min(one, other), max(one, other))
        if one != other and pair not in taken:
            taken.add(pair)
            new.append(pair)
    return link(graph, new)


def whole_number(random: np.random.RandomState, among: range) -> int:
    """One of `among`. The type is named because the default differs between systems."""
    return int(random.randint(among.start, among.stop, dtype=np.int64))
