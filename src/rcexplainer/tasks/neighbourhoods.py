"""The k-hop computation graphs of many nodes at once, against the direction of messages.

    N_0(v) = {v},   N_{t+1}(v) = N_t(v) ∪ {j : (j → i) an edge, i ∈ N_t(v)}
    graph of v = (N_k(v), the edges between these nodes);   graph of a pair (u, v): the same with N_k(u) ∪ N_k(v)

One sparse sweep for all roots: a set of (root, node) pairs grows hop by hop. The cost depends on the edges at the nodes
reached, never on the size of the whole graph.

roots [r, m] (m = 1 node, or a pair), k  →  ragged lists of nodes, their hop distances and edges, with pointers [r + 1]
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.segments import gather_ranges


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


class Adjacency:
    """A graph whose edges are sorted by target, for any number of lookups.

    Args:
        edge_index: [2, E].
        num_nodes: Nodes of the graph.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int) -> None:
        self.edge_index, self.num_nodes = edge_index, num_nodes
        self.order = edge_index[1].argsort(stable=True)
        counts = torch.bincount(edge_index[1], minlength=num_nodes)
        self.ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])

    def into(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """All edges into some nodes.

        Args:
            nodes: [n] ids of nodes.

        Returns:
            Columns of `edge_index`, and for each the position of its target in `nodes`.
        """
        place, owner = gather_ranges(self.ptr[nodes], self.ptr[nodes + 1])
        return self.order[place], owner

    def reach(self, roots: Tensor, hops: int) -> tuple[Tensor, Tensor]:
        """All nodes within `hops` of each root.

        Args:
            roots: [r] ids of nodes.
            hops: The largest distance.

        Returns:
            The pairs of a root and a node within reach, and their distances. A pair is one number, (position of the
            root)·num_nodes + node, so that a set of pairs is a sorted tensor.
        """
        start = torch.arange(len(roots), device=roots.device) * self.num_nodes + roots
        met, distance, frontier = start, torch.zeros_like(start), start
        for hop in range(1, hops + 1):
            edges, owner = self.into(frontier % self.num_nodes)
            reached = frontier[owner] // self.num_nodes * self.num_nodes + self.edge_index[0, edges]
            frontier = _missing(reached.unique(), met)
            if not len(frontier):
                break
            met, order = torch.cat([met, frontier]).sort()
            distance = torch.cat([distance, torch.full_like(frontier, hop)])[order]
        return met, distance

    def around(self, roots: Tensor, hops: int) -> Neighbourhoods:
        """The computation graphs of some roots.

        Args:
            roots: [r, m] ids of nodes: m = 1, or 2 for pairs.
            hops: How far each graph reaches.
        """
        reached = [self.reach(column, hops) for column in roots.unbind(1)]
        met = torch.cat([pairs for pairs, _ in reached])
        met = met.unique() if len(reached) > 1 else met
        distance = torch.full((len(met), len(reached)), hops + 1, device=met.device)
        for column, (pairs, far) in enumerate(reached):
            distance[torch.searchsorted(met, pairs), column] = far
        nodes, graph = met % self.num_nodes, met // self.num_nodes
        edges, target = self.into(nodes)
        source = torch.searchsorted(met, graph[target] * self.num_nodes + self.edge_index[0, edges])
        inside = _equal(met, source, graph[target] * self.num_nodes + self.edge_index[0, edges])
        edges, target, source = edges[inside], target[inside], source[inside]
        # In the order of the whole graph's columns within each computation graph.
        order = (graph[target] * self.edge_index.size(1) + edges).argsort()
        edges, target, source = edges[order], target[order], source[order]
        node_ptr = _pointer(graph, len(roots))
        first = node_ptr[graph[target]]
        start = (torch.arange(len(roots), device=roots.device)[:, None] * self.num_nodes + roots).contiguous()
        return Neighbourhoods(
            nodes,
            distance,
            node_ptr,
            edges,
            _pointer(graph[target], len(roots)),
            torch.stack([source - first, target - first]),
            torch.searchsorted(met, start) - node_ptr[:-1, None],
        )

    def batches(self, roots: Tensor, hops: int, max_edges: int) -> Iterator[tuple[Tensor, Neighbourhoods]]:
        """The computation graphs in pieces of bounded memory.

        The size of a graph is unknown before it is made, so the size of a piece follows from that of the last one.

        Args:
            roots: [r, m] ids of nodes.
            hops: How far each graph reaches.
            max_edges: About the most edges of a piece.

        Yields:
            Some of the roots, in order, and their computation graphs.
        """
        size, done = 1, 0
        while done < len(roots):
            piece = roots[done : done + size]
            found = self.around(piece, hops)
            yield piece, found
            done += len(piece)
            each = max(1.0, len(found.edges) / len(piece))
            size = max(1, min(2 * size, int(max_edges / each)))


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
