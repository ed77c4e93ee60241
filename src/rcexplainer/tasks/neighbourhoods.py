"""The k-hop computation graphs of many nodes at once, against the direction of messages.

    N_0(v) = {v},   N_{t+1}(v) = N_t(v) ∪ {j : (j → i) an edge, i ∈ N_t(v)}
    graph of v = (N_k(v), the edges between these nodes);   graph of a pair (u, v): the same with N_k(u) ∪ N_k(v)

One sparse sweep for all roots: a set of (root, node) pairs grows hop by hop. The cost depends on the edges at the nodes
reached, never on the size of the whole graph. How many edges that is follows from degrees, before any edge is read: a
root that would need too many is left out, and so is what does not fit into memory at once.

roots [r, m] (m = 1 node, or a pair), k  →  ragged lists of nodes, their hop distances and edges, with pointers [r + 1]
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from rcexplainer.sources.adjacency import Adjacency

MOST_READ = 1 << 21  # edges that are read at a time


@dataclass(frozen=True)
class Neighbourhoods:
    """The computation graphs of r roots, one after the other; nodes and edges keep the order of the whole graph."""

    nodes: Tensor  # [nodes] ids in the whole graph
    hops: Tensor  # [nodes, m] distance from each of the m roots; k + 1 if farther away
    node_ptr: Tensor  # [r + 1] where the nodes of each graph begin
    edges: Tensor  # [edges] columns of the whole graph's `edge_index`
    edge_ptr: Tensor  # [r + 1] where the edges of each graph begin
    ends: Tensor  # [2, edges] the edges between positions among the nodes of their own graph
    roots: Tensor  # [r, m] the roots as positions among the nodes of their own graph

    def to(self, device: torch.device) -> "Neighbourhoods":
        """The same on a device."""
        return Neighbourhoods(*(getattr(self, field.name).to(device) for field in fields(self)))


class Overfull(Exception):  # noqa: N818  never reaches a caller
    """Several roots together need more edges than are read at a time."""


class Sweep:
    """Computation graphs of a graph whose edges are sorted by target.

    Args:
        adjacency: The edges.
        max_edges: Roots for which more edges would have to be read are left out; None: no bound.
    """

    def __init__(self, adjacency: Adjacency, max_edges: int | None = None) -> None:
        self.adjacency, self.max_edges = adjacency, max_edges
        self.num_nodes = adjacency.num_nodes

    def reach(self, roots: Tensor, hops: int, most: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """All nodes within `hops` of each root.

        Args:
            roots: [r] ids of nodes.
            hops: The largest distance.
            most: Edges that may be read at a time for several roots; None: no bound.

        Returns:
            The pairs of a root and a node within reach, their distances, and [r] whether a root needs more than
            `max_edges` edges; its pairs are incomplete. A pair is one number, (position of the root)·num_nodes + node,
            so that a set of pairs is a sorted tensor.

        Raises:
            Overfull: Several roots together need more edges than `most`.
        """
        start = torch.arange(len(roots), device=roots.device) * self.num_nodes + roots
        met, distance, frontier = start, torch.zeros_like(start), start
        needed = torch.zeros_like(roots)
        for hop in range(1, hops + 1):
            frontier = self._affordable(frontier, needed, most)
            found = self.adjacency.into(frontier % self.num_nodes)
            reached = frontier[found.owner] // self.num_nodes * self.num_nodes + found.sources
            frontier = _missing(reached.unique(), met)
            if not len(frontier):
                break
            met, order = torch.cat([met, frontier]).sort()
            distance = torch.cat([distance, torch.full_like(frontier, hop)])[order]
        return met, distance, self._too_many(needed)

    def _affordable(self, pairs: Tensor, needed: Tensor, most: int | None) -> Tensor:
        """The pairs of roots within the bound; the edges into their nodes are added to `needed` [r]."""
        if self.max_edges is None and most is None:
            return pairs
        owner = pairs // self.num_nodes
        needed.index_add_(0, owner, self.adjacency.in_degree(pairs % self.num_nodes))
        over = self._too_many(needed)
        if most is not None and len(needed) > 1 and int(needed[~over].sum()) > most:
            raise Overfull
        return pairs[~over[owner]]

    def _too_many(self, needed: Tensor) -> Tensor:
        return torch.zeros_like(needed, dtype=torch.bool) if self.max_edges is None else needed > self.max_edges

    def around(self, roots: Tensor, hops: int, most: int | None = None) -> tuple[Neighbourhoods, Tensor]:
        """The computation graphs of some roots.

        Args:
            roots: [r, m] ids of nodes: m = 1, or 2 for pairs.
            hops: How far each graph reaches.
            most: As for `reach`.

        Returns:
            The computation graphs, and [r] which roots were left out: they need more than `max_edges` edges.

        Raises:
            Overfull: As for `reach`.
        """
        reached = [self.reach(column, hops, most) for column in roots.unbind(1)]
        met = torch.cat([pairs for pairs, _, _ in reached])
        met = met.unique() if len(reached) > 1 else met
        needed = torch.zeros_like(roots[:, 0])
        self._affordable(met, needed, most)
        out = torch.stack([self._too_many(needed), *(over for _, _, over in reached)]).any(0)
        if bool(out.any()):  # made again without them: positions of roots are part of every pair
            return (self.around(roots[~out], hops, most)[0] if not bool(out.all()) else _nothing(roots)), out
        distance = torch.full((len(met), len(reached)), hops + 1, device=met.device)
        for column, (pairs, far, _) in enumerate(reached):
            distance[torch.searchsorted(met, pairs), column] = far
        nodes, graph = met % self.num_nodes, met // self.num_nodes
        found = self.adjacency.into(nodes)
        edges, target = found.columns, found.owner
        pairs = graph[target] * self.num_nodes + found.sources
        source = torch.searchsorted(met, pairs)
        inside = _equal(met, source, pairs)
        edges, target, source = edges[inside], target[inside], source[inside]
        # In the order of the whole graph's columns within each computation graph.
        order = (graph[target] * self.adjacency.num_edges + edges).argsort()
        edges, target, source = edges[order], target[order], source[order]
        node_ptr = _pointer(graph, len(roots))
        first = node_ptr[graph[target]]
        start = (torch.arange(len(roots), device=roots.device)[:, None] * self.num_nodes + roots).contiguous()
        cut = Neighbourhoods(
            nodes,
            distance,
            node_ptr,
            edges,
            _pointer(graph[target], len(roots)),
            torch.stack([source - first, target - first]),
            torch.searchsorted(met, start) - node_ptr[:-1, None],
        )
        return cut, out

    def batches(self, roots: Tensor, hops: int, max_edges: int) -> Iterator[tuple[Tensor, Neighbourhoods, Tensor]]:
        """The computation graphs in pieces of bounded memory.

        The size of a graph is unknown before it is made, so the size of a piece follows from that of the last one.

        Args:
            roots: [r, m] ids of nodes.
            hops: How far each graph reaches.
            max_edges: About the most edges of a piece.

        Yields:
            Some of the roots, in order, their computation graphs, and which of the roots were left out.
        """
        size, done = 1, 0
        while done < len(roots):
            piece = roots[done : done + size]
            try:
                found, out = self.around(piece, hops, MOST_READ)
            except Overfull:
                size = max(1, len(piece) // 2)
                continue
            yield piece, found, out
            done += len(piece)
            each = max(1.0, len(found.edges) / len(piece))
            size = max(1, min(2 * size, int(max_edges / each)))


def _nothing(roots: Tensor) -> Neighbourhoods:
    """No computation graph at all."""
    none, ptr, roots = roots.new_empty(0), roots.new_zeros(1), roots[:0]
    return Neighbourhoods(none, roots, ptr, none, ptr, roots.new_empty(2, 0), roots)


def _missing(values: Tensor, known: Tensor) -> Tensor:
    """The values that are not known; both are sorted."""
    return values[~_equal(known, torch.searchsorted(known, values), values)]


def _equal(sorted_values: Tensor, place: Tensor, values: Tensor) -> Tensor:
    """Whether each value is what the sorted values have at its place; a place past the end is no match."""
    return sorted_values[place.clamp_max(len(sorted_values) - 1)] == values


def _pointer(owner: Tensor, number: int) -> Tensor:
    """[number + 1] where the entries of each owner begin."""
    counts = torch.bincount(owner, minlength=number)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
