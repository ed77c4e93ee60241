"""Motifs, and graphs composed of a base and motifs, with the ground truth of every node and edge.

    planted graph = base ∪ motif ∪ … ∪ motif + links

Only the motif's own edges are ground truth; a link (an edge that attaches a motif, or a random one) never is, not even
between two nodes of one motif. Edges are undirected here and stored once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from rcexplainer.datasets.dataset import OUTSIDE

NodePair = tuple[int, int]
Integers = NDArray[np.int64]

BASE_ROLE = 0


@dataclass(frozen=True)
class Motif:
    """A small graph on the nodes 0 … n−1.

    Attributes:
        name: Its name, as in class names.
        edges: Its edges, each once.
        roles: The role of each node, from 1 on; role 0 is the base's.
    """

    name: str
    edges: tuple[NodePair, ...]
    roles: tuple[int, ...]


# Nodes 0 and 1 are between the roof (4) and the floor (2, 3).
HOUSE = Motif("house", edges=((0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 4)), roles=(1, 1, 2, 2, 3))


def cycle(size: int) -> Motif:
    """A cycle of `size` nodes."""
    return Motif("cycle", edges=tuple((node, (node + 1) % size) for node in range(size)), roles=(1,) * size)


def grid(side: int) -> Motif:
    """A square grid of `side`×`side` nodes, numbered row by row."""
    nodes = range(side * side)
    right = tuple((node, node + 1) for node in nodes if (node + 1) % side)
    down = tuple((node, node + side) for node in nodes if node + side < side * side)
    return Motif("grid", edges=right + down, roles=(1,) * len(nodes))


def clique(size: int) -> Motif:
    """A complete graph on `size` nodes."""
    return Motif("clique", edges=tuple(combinations(range(size), 2)), roles=(1,) * size)


@dataclass(frozen=True)
class PlantedGraph:
    """An undirected graph with n nodes and m edges that records where motifs were planted.

    Attributes:
        edges: [m, 2], each edge once.
        edge_motif_id: [m] the motif of each edge, or `OUTSIDE`.
        node_motif_id: [n] the motif of each node, or `OUTSIDE`.
        roles: [n] the role of each node.
    """

    edges: Integers
    edge_motif_id: Integers
    node_motif_id: Integers
    roles: Integers

    @property
    def num_nodes(self) -> int:
        """n."""
        return len(self.roles)

    @property
    def num_edges(self) -> int:
        """m."""
        return len(self.edges)


def bare(base: nx.Graph) -> PlantedGraph:
    """Convert a base without motifs.

    Args:
        base: A graph on the nodes 0 … n−1.

    Returns:
        The same graph, all of it outside motifs.
    """
    return _uniform(base.edges, [BASE_ROLE] * base.number_of_nodes(), OUTSIDE)


def _uniform(edges: Iterable[NodePair], roles: Iterable[int], motif_id: int) -> PlantedGraph:
    """A graph all of whose nodes and edges have the same motif id."""
    pairs = _numbers(edges).reshape(-1, 2)
    node_roles = _numbers(roles)
    return PlantedGraph(
        edges=pairs,
        edge_motif_id=np.full(len(pairs), motif_id, dtype=np.int64),
        node_motif_id=np.full(len(node_roles), motif_id, dtype=np.int64),
        roles=node_roles,
    )


def _numbers(values: Iterable[int] | Iterable[NodePair]) -> Integers:
    """The values as an array."""
    return np.array(list(values), dtype=np.int64)


def union(first: PlantedGraph, second: PlantedGraph) -> PlantedGraph:
    """Put two graphs side by side.

    Args:
        first: The graph whose nodes keep their numbers.
        second: The graph whose nodes are numbered after them. Its motif ids stay.

    Returns:
        Both, unconnected.
    """
    return PlantedGraph(
        edges=np.concatenate([first.edges, second.edges + first.num_nodes]),
        edge_motif_id=np.concatenate([first.edge_motif_id, second.edge_motif_id]),
        node_motif_id=np.concatenate([first.node_motif_id, second.node_motif_id]),
        roles=np.concatenate([first.roles, second.roles]),
    )


def link(graph: PlantedGraph, pairs: Iterable[NodePair]) -> PlantedGraph:
    """Add edges that belong to no motif.

    Args:
        graph: The graph.
        pairs: Their ends.

    Returns:
        The graph with these edges.
    """
    new = _numbers(pairs).reshape(-1, 2)
    return PlantedGraph(
        edges=np.concatenate([graph.edges, new]),
        edge_motif_id=np.concatenate([graph.edge_motif_id, np.full(len(new), OUTSIDE, dtype=np.int64)]),
        node_motif_id=graph.node_motif_id,
        roles=graph.roles,
    )


def attach(graph: PlantedGraph, motif: Motif, motif_id: int, links: Iterable[NodePair]) -> PlantedGraph:
    """Plant a motif.

    Args:
        graph: The graph.
        motif: The motif.
        motif_id: Its id.
        links: Edges that connect it, as (node of the graph, node of the motif).

    Returns:
        The larger graph.
    """
    both = union(graph, _uniform(motif.edges, motif.roles, motif_id))
    return link(both, [(node, graph.num_nodes + inside) for node, inside in links])


def link_at_random(
    graph: PlantedGraph, count: int, random: np.random.RandomState, sources: range, targets: range
) -> PlantedGraph:
    """Link pairs that are not adjacent, drawn uniformly from `sources` × `targets`.

    Args:
        graph: The graph.
        count: Number of pairs. As many must be free: pairs are drawn until they are found.
        random: Source of random numbers.
        sources: Nodes for one end.
        targets: Nodes for the other end.

    Returns:
        The graph with these edges.
    """
    taken = set(map(tuple, np.sort(graph.edges, axis=1).tolist()))
    new: list[NodePair] = []
    while len(new) < count:
        one, other = whole_number(random, sources), whole_number(random, targets)
        pair = (min(one, other), max(one, other))
        if one != other and pair not in taken:
            taken.add(pair)
            new.append(pair)
    return link(graph, new)


def whole_number(random: np.random.RandomState, among: range) -> int:
    """Draw one number of a range; the dtype is fixed because numpy's default differs between systems."""
    return int(random.randint(among.start, among.stop, dtype=np.int64))
