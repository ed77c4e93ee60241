"""Which nodes or links are meant: an int, a list, a LongTensor or a boolean mask, as positions."""

from collections.abc import Sequence
from numbers import Integral
from typing import TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.short_repr import short_repr

Pair: TypeAlias = tuple[int, int]
Index: TypeAlias = int | Pair | Sequence[int] | Sequence[Pair] | Tensor


def is_number(value: object) -> bool:
    """Whether this is one node: a Python or numpy integer, or a tensor with a single value."""
    return isinstance(value, Integral) or (isinstance(value, Tensor) and value.dim() == 0)


def _numbers(index: object) -> Tensor:
    try:
        return torch.as_tensor(index).cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise GraphError(f"an index holds node numbers, such as [0, 5], got {short_repr(index)}") from error


def nodes_of(index: Index | None, num_nodes: int) -> Tensor:
    """Positions of nodes [n], not yet checked against the graph.

    Args:
        index: An int, a list, a LongTensor or a boolean mask; all nodes if None.
        num_nodes: How many nodes the graph has.

    Raises:
        GraphError: The index is empty, holds no whole numbers, or is a mask of another length.
    """
    if index is None:
        return torch.arange(num_nodes)
    found = _numbers(index)
    if found.dtype == torch.bool:
        if found.shape != (num_nodes,):
            raise GraphError(f"a boolean index has one value for each of {num_nodes} nodes, got {tuple(found.shape)}")
        found = found.nonzero().flatten()
    if found.is_floating_point() and found.numel():
        raise GraphError(f"an index holds whole numbers, got {found.dtype}; convert it with .long()")
    found = found.reshape(-1).long()
    if not len(found):
        raise GraphError("the index is empty: at least one node is needed")
    return found


def node_errors(nodes: Tensor, num_nodes: int) -> dict[int, GraphError]:
    """What is wrong with single nodes [n], by position."""
    return {
        place: GraphError(f"there is no node {int(nodes[place])}: the graph has the nodes 0 to {num_nodes - 1}")
        for place in ((nodes < 0) | (nodes >= num_nodes)).nonzero().flatten().tolist()
    }


def pairs_of(index: Index | None, graph: Data) -> Tensor:
    """Pairs of nodes [n, 2], not yet checked against the graph.

    Args:
        index: One pair, a list of pairs or a LongTensor [n, 2]; the graph's `edge_label_index` if None.
        graph: The graph the pairs belong to.

    Raises:
        GraphError: No pairs are given, or they are not pairs of whole numbers.
    """
    if index is None and isinstance(labelled := graph.get("edge_label_index"), Tensor):
        index = labelled.t()
    if index is None:
        raise GraphError(
            "index must name the pairs of nodes to explain, e.g. index=[(0, 1)], or the graph carry edge_label_index"
        )
    found = _numbers(index)
    if not found.numel():
        raise GraphError("the index is empty: at least one pair of nodes is needed")
    found = found[None] if found.dim() == 1 else found
    if found.dim() != 2 or found.size(1) != 2 or found.is_floating_point() or found.dtype == torch.bool:
        raise GraphError(
            f"an index of links holds one pair of nodes per row, shape [n, 2], got {found.dtype} of shape "
            f"{tuple(found.shape)}; for an edge_label_index pass its transpose"
        )
    return found.long()


def pair_errors(pairs: Tensor, graph: Data) -> dict[int, GraphError]:
    """What is wrong with single pairs [n, 2], by position."""
    loops = (pairs[:, 0] == pairs[:, 1]).nonzero().flatten().tolist()
    errors = {
        place: GraphError(f"a link joins two different nodes, got the pair {tuple(pairs[place].tolist())}")
        for place in loops
    }
    ends = node_errors(pairs.flatten(), int(graph.num_nodes or 0))
    return dict(sorted((errors | {place // 2: error for place, error in ends.items()}).items()))
