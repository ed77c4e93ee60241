"""Units of deletion: an unordered pair of nodes with every edge between them, in both directions.

    edge_index [2, E]  →  of_edge [E]: the unit of each column, −1 for columns that are never deleted: self-loops, and
                          fixed ones (the link to explain; edges that carry no message to the explained node)
                          pair [2, U]: the two nodes of each unit, the lower number first
                          owner [U]: the graph it belongs to

The nodes of one graph have consecutive numbers, so its units are consecutive too: `ptr` [G + 1] holds where they begin.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class Units(ShortRepr):
    """The units of a batch of graphs.

    Attributes:
        of_edge: [E] the unit of each column of `edge_index`, −1 for columns that are never deleted.
        pair: [2, U] the two nodes of each unit.
        owner: [U] the graph of each unit.
        ptr: [G + 1] where the units of each graph begin.
    """

    of_edge: Tensor
    pair: Tensor
    owner: Tensor
    ptr: Tensor

    def __len__(self) -> int:
        return int(self.owner.numel())

    @property
    def counts(self) -> Tensor:
        """[G] the number of units of each graph."""
        return self.ptr.diff()

    def to_edges(self, values: Tensor, loops: float | bool) -> Tensor:
        """Spread values of units over the columns of `edge_index`.

        Args:
            values: [U].
            loops: The value of columns that belong to no unit.

        Returns:
            [E].
        """
        return torch.cat([values, values.new_full((1,), loops)])[self.of_edge]  # −1 is the last one


def find_units(
    edge_index: Tensor, num_nodes: int, graph_of_node: Tensor, num_graphs: int, fixed: Tensor | None = None
) -> Units:
    """Find the units of a batch of graphs, sorted by their node pairs.

    Args:
        edge_index: [2, E].
        num_nodes: Number of nodes of the batch.
        graph_of_node: [num_nodes] the graph of each node.
        num_graphs: G.
        fixed: [E] bool; columns that must stay. A pair whose columns are all fixed is no unit.

    Returns:
        The units.
    """
    low, high = torch.minimum(*edge_index), torch.maximum(*edge_index)  # amin and amax along columns take far longer
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
