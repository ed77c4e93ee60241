"""The edges into each node of a graph, sorted by target (CSC), in memory or mapped from files.

edges into node v  =  places ptr[v] … ptr[v + 1] − 1,  each with a source node and a column of `edge_index`
"""

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from rcexplainer.core.segments import gather_ranges
from rcexplainer.sources.mapped_array import MappedArray

CPU = torch.device("cpu")
Values: TypeAlias = Tensor | MappedArray  # anything that gives the entries at some places


@dataclass(frozen=True, eq=False)
class InEdges:
    """The edges into some nodes."""

    columns: Tensor  # [e] columns of the whole graph's `edge_index`
    sources: Tensor  # [e] ids of the nodes they come from
    owner: Tensor  # [e] position of the target among the nodes that were given


@dataclass(frozen=True, eq=False)
class Adjacency:
    """The edges of a graph by their targets, for any number of lookups.

    Attributes:
        ptr: [N + 1] where the edges into each node begin.
        sources: [E] the node that each edge comes from, in the order of the targets.
        columns: [E] its column of `edge_index`; None: the same order.
        device: Where lookups take place.
    """

    ptr: Values
    sources: Values
    columns: Values | None = None
    device: torch.device = CPU

    @classmethod
    def of(cls, edge_index: Tensor, num_nodes: int) -> "Adjacency":
        """Sort the edges [2, E] of a graph in memory."""
        order = edge_index[1].argsort(stable=True)
        counts = torch.bincount(edge_index[1], minlength=num_nodes)
        ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return cls(ptr, edge_index[0][order], order, edge_index.device)

    @property
    def num_nodes(self) -> int:
        """N, the number of nodes."""
        return len(self.ptr) - 1

    @property
    def num_edges(self) -> int:
        """E, the number of edges."""
        return len(self.sources)

    def in_degree(self, nodes: Tensor) -> Tensor:
        """[n] the number of edges into each of some nodes [n]."""
        return self.ptr[nodes + 1] - self.ptr[nodes]

    def into(self, nodes: Tensor) -> InEdges:
        """All edges into some nodes.

        Args:
            nodes: [n] ids of nodes.
        """
        place, owner = gather_ranges(self.ptr[nodes], self.ptr[nodes + 1])
        columns = place if self.columns is None else self.columns[place].long()
        return InEdges(columns, self.sources[place].long(), owner)

    def ends(self, places: Tensor) -> Tensor:
        """The (source, target) pairs [n, 2] of edges, by their places [n] in the order of the targets."""
        low, high = torch.zeros_like(places), torch.full_like(places, self.num_nodes)
        while bool((high - low > 1).any()):  # bisection: `ptr` may be on disk
            middle = (low + high) // 2
            beyond = self.ptr[middle] > places
            low, high = torch.where(beyond, low, middle), torch.where(beyond, middle, high)
        return torch.stack([self.sources[places].long(), low], 1)
