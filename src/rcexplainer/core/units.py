"""Units: what can be deleted. An unordered pair of nodes with every edge between them, in both directions.

    edge_index [2, E]  →  of_edge [E]: the unit of each column, −1 for what is never deleted: self-loops, and columns
                          that are fixed (the link that is asked about; edges along which no message comes)
                          pair [2, U]: the two nodes of each unit, low and high
                          owner [U]: the graph it belongs to

Nodes of one graph are numbered together, so the units of one graph stand together too: `ptr` [G + 1] says where.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Units:
    of_edge: Tensor
    pair: Tensor
    owner: Tensor
    ptr: Tensor

    def __len__(self) -> int:
        return int(self.owner.numel())

    @property
    def counts(self) -> Tensor:
        """Units of each graph, [G]."""
        return self.ptr.diff()

    def to_edges(self, values: Tensor, loops: float | bool) -> Tensor:
        """One value per unit [U] as one per column [E]; self-loops take the value `loops`."""
        return torch.cat([values, values.new_full((1,), loops)])[self.of_edge]  # −1 is the last one


def find_units(
    edge_index: Tensor, num_nodes: int, graph_of_node: Tensor, num_graphs: int, fixed: Tensor | None = None
) -> Units:
    """The units of a batch of graphs, in the order of their node pairs; a pair all whose columns are `fixed` [E] is
    none."""
    low, high = edge_index.amin(0), edge_index.amax(0)
    number = low * num_nodes + high
    proper = low != high
    if fixed is not None:
        proper &= torch.isin(number, number[~fixed])
    keys, inverse = torch.unique(number[proper], return_inverse=True)
    of_edge = torch.full_like(low, -1)
    of_edge[proper] = inverse
    pair = torch.stack([keys // max(num_nodes, 1), keys % max(num_nodes, 1)])
    owner = graph_of_node[pair[0]]
    counts = torch.bincount(owner, minlength=num_graphs)
    return Units(of_edge, pair, owner, torch.cat([counts.new_zeros(1), counts.cumsum(0)]))
