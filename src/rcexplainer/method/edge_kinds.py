"""Kinds of edges: what the edges of different graphs have in common.

    kind of a node   its feature row, where the graphs have few different ones (one-hot atoms); else its degree
    kind of an edge  the kinds of its two ends, the smaller first

The degree of a node is the number of units at it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.explanation import Explanation

MOST_KINDS = 64  # more different feature rows are numbers, not kinds of nodes

EdgeKind = tuple[int, int]


@dataclass(frozen=True, eq=False)
class EdgeKinds:
    """The kinds of the units of some explanations.

    Attributes:
        of_node: For each explanation [n] the kind of every node of its graph.
        names: The name of each kind of node; empty where kinds are degrees.
    """

    of_node: tuple[Tensor, ...]
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, explanations: Sequence[Explanation], node_names: Sequence[str] = ()) -> "EdgeKinds":
        """Find the kinds of the nodes of all graphs.

        Args:
            explanations: Explanations of graphs with the same features.
            node_names: What each one-hot node feature means, such as an element; numbers are used without.

        Returns:
            The kinds.
        """
        graphs = list({id(one.graph): one.graph for one in explanations}.values())
        if not graphs or any(graph.get("x") is None for graph in graphs):
            return cls(tuple(_degrees(one) for one in explanations))
        features = torch.cat([graph.x.flatten(1) if graph.x.dim() > 1 else graph.x[:, None] for graph in graphs])
        rows, kind = torch.unique(features, dim=0, return_inverse=True)
        if not 1 < len(rows) <= MOST_KINDS:
            return cls(tuple(_degrees(one) for one in explanations))
        sizes = [int(graph.num_nodes or 0) for graph in graphs]
        of_graph = {id(graph): part for graph, part in zip(graphs, kind.split(sizes), strict=True)}
        return cls(tuple(of_graph[id(one.graph)] for one in explanations), _row_names(rows, node_names))

    def counts(self, place: int, one: Explanation, units: Tensor) -> Counter[EdgeKind]:
        """Count the kinds of some units.

        Args:
            place: The position of the explanation among those the kinds were found for.
            one: That explanation.
            units: [k] positions in `one.units`.

        Returns:
            The number of units of each kind.
        """
        ends = self.of_node[place][one.units.pair[:, units]].sort(0).values
        return Counter((low, high) for low, high in ends.T.tolist())

    def text(self, kind: EdgeKind) -> str:
        """Name a kind of edge: `N–O`, or `degrees 2–3`."""
        if not self.names:
            return f"degrees {kind[0]}–{kind[1]}"
        return "–".join(sorted(self.names[end] for end in kind))


def _degrees(one: Explanation) -> Tensor:
    """[n] the number of units at each node."""
    return torch.bincount(one.units.pair.flatten(), minlength=int(one.graph.num_nodes or 0))


def _row_names(rows: Tensor, node_names: Sequence[str]) -> tuple[str, ...]:
    """The names of feature rows: of their entry that is not 0, or numbers with # where rows are not one-hot."""
    if not bool(((rows != 0).sum(1) == 1).all()):
        return tuple(f"#{number}" for number in range(len(rows)))
    entries = rows.abs().argmax(1).tolist()
    return tuple(node_names[entry] if node_names else str(entry) for entry in entries)
