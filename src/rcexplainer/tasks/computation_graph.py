"""What is asked about: an instance is a graph with a read-out.

graph   the whole graph, all nodes pooled
node    the computation graph of a node, read at that node
link    the computation graphs of two nodes together, read at that pair
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.graph_checks import EDGE_LEVEL
from rcexplainer.gnn.masking import edge_level_keys
from rcexplainer.tasks.neighbourhoods import Adjacency, Neighbourhoods

Pair: TypeAlias = tuple[int, int]
Index: TypeAlias = int | Pair | Sequence[int] | Sequence[Pair] | Tensor
PIECE = 1 << 18  # edges of the computation graphs that are made at a time


@dataclass(frozen=True, eq=False)
class Asked:
    """One instance: where it comes from, and the graph the model is run on."""

    graph: Data  # the whole graph
    instance: Data
    index: int | Pair | None = None
    edge_ids: Tensor | None = None  # the columns of the whole graph that the instance has


def _numbers(index: object) -> Tensor:
    try:
        return torch.as_tensor(index).cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise GraphError(f"an index holds numbers of nodes, got {index!r}: {error}") from error


def node_index(index: Index | None, num_nodes: int) -> Tensor:
    """Positions of nodes from an int, a list, a LongTensor or a boolean mask; all nodes if none is given."""
    found = named_nodes(index, num_nodes)
    for error in wrong_nodes(found, num_nodes).values():
        raise error
    return found


def named_nodes(index: Index | None, num_nodes: int) -> Tensor:
    """The same, whether the graph has these nodes or not."""
    if index is None:
        return torch.arange(num_nodes)
    found = _numbers(index)
    if found.dtype == torch.bool:
        if found.shape != (num_nodes,):
            raise GraphError(f"a boolean index has one value for each of {num_nodes} nodes, got {tuple(found.shape)}")
        found = found.nonzero().flatten()
    if found.is_floating_point() and found.numel():
        raise GraphError(f"an index holds whole numbers, got {found.dtype}")
    found = found.reshape(-1).long()
    if not len(found):
        raise GraphError("the index is empty: at least one node is needed")
    return found


def wrong_nodes(found: Tensor, num_nodes: int) -> dict[int, GraphError]:
    """What is wrong with single ones of these nodes [n], by their places."""
    return {
        place: GraphError(f"there is no node {int(found[place])}: the graph has the nodes 0 to {num_nodes - 1}")
        for place in ((found < 0) | (found >= num_nodes)).nonzero().flatten().tolist()
    }


def pair_index(index: Index | None, graph: Data) -> Tensor:
    """Pairs of nodes [n, 2] from one pair, a list of pairs or a LongTensor; `edge_label_index` if none is given."""
    found = named_pairs(index, graph)
    for error in wrong_pairs(found, graph).values():
        raise error
    return found


def named_pairs(index: Index | None, graph: Data) -> Tensor:
    """The same, whether the graph has these nodes or not."""
    if index is None and isinstance(labelled := graph.get("edge_label_index"), Tensor):
        index = labelled.t()
    if index is None:
        raise GraphError(
            "index must say which pairs of nodes are meant, e.g. index=[(0, 1)], or the graph carry edge_label_index"
        )
    found = _numbers(index)
    if not found.numel():
        raise GraphError("the index is empty: at least one pair of nodes is needed")
    found = found[None] if found.dim() == 1 else found
    if found.dim() != 2 or found.size(1) != 2 or found.is_floating_point() or found.dtype == torch.bool:
        raise GraphError(
            f"an index of links holds pairs of nodes, one in a row: shape [n, 2], got {found.dtype} of shape "
            f"{tuple(found.shape)}; of an edge_label_index give its transpose"
        )
    return found.long()


def wrong_pairs(found: Tensor, graph: Data) -> dict[int, GraphError]:
    """What is wrong with single ones of these pairs [n, 2], by their places."""
    twice = (found[:, 0] == found[:, 1]).nonzero().flatten().tolist()
    errors = {
        place: GraphError(f"a link joins two different nodes, got the pair {tuple(found[place].tolist())}")
        for place in twice
    }
    ends = wrong_nodes(found.flatten(), int(graph.num_nodes or 0))
    return dict(sorted((errors | {place // 2: error for place, error in ends.items()}).items()))


class Questions:
    """Nodes, or pairs of nodes, of one graph as instances: their computation graphs, `hops` around them.

    Every node of an instance is told its distance from the root, or from each of the two (`hop_code`). Columns that
    cannot be the answer are marked (`edge_fixed`): those into a node at the rim, over which no message reaches a root,
    and those between the two nodes of a pair.
    """

    def __init__(self, graph: Data, hops: int) -> None:
        self.graph, self.hops = graph, hops
        self.num_nodes = int(graph.num_nodes or 0)
        self.adjacency = Adjacency(graph.edge_index, self.num_nodes)
        self.edge_keys = [key for key in edge_level_keys(graph) if key != "edge_index"]
        taken = {"edge_index", "y", "batch", "ptr", "edge_label", "edge_label_index", *self.edge_keys}
        self.node_keys = [
            key
            for key, value in graph.to_dict().items()
            if isinstance(value, Tensor) and key not in taken and value.dim() and value.size(0) == self.num_nodes
        ]
        taken |= set(self.node_keys)
        self.graph_values = {
            key: value
            for key, value in graph.to_dict().items()
            if isinstance(value, Tensor) and key not in taken and value.dim() and value.size(0) == 1
        }

    def __call__(self, roots: Tensor) -> Iterator[Asked]:
        """The nodes [n], or pairs [n, 2], one after the other, made in pieces."""
        device = self.graph.edge_index.device
        single = roots.dim() == 1
        columns = roots.reshape(len(roots), -1).to(device)
        for piece, found in self.adjacency.batches(columns, self.hops, PIECE):
            far = self.hops + (0 if single else 1)  # of a pair, a node may be out of reach of one of the two
            fixed = self._fixed(found)
            code = torch.nn.functional.one_hot(found.hops, far + 1).float().flatten(1)
            values = {key: self.graph[key][found.nodes] for key in self.node_keys} | {"hop_code": code}
            along_edges = {key: self.graph[key][found.edges] for key in self.edge_keys} | {"edge_fixed": fixed}
            node_ptr, edge_ptr = found.node_ptr.tolist(), found.edge_ptr.tolist()
            ids = found.edges.cpu()
            for place, asked in enumerate(piece.tolist()):
                own = slice(node_ptr[place], node_ptr[place + 1])
                inside = slice(edge_ptr[place], edge_ptr[place + 1])
                read = found.roots[place]
                instance = Data(
                    edge_index=found.ends[:, inside],
                    num_nodes=own.stop - own.start,
                    **({"root_index": read} if single else {"edge_label_index": read[:, None]}),
                    **{key: value[own] for key, value in values.items()},
                    **{key: value[inside] for key, value in along_edges.items()},
                    **self.graph_values,
                    **{EDGE_LEVEL: ",".join(self.edge_keys)},
                )
                yield Asked(self.graph, instance, asked[0] if single else tuple(asked), ids[inside])

    def _fixed(self, found: Neighbourhoods) -> Tensor:
        """Which columns of the computation graphs cannot be the answer, [edges]."""
        counts = found.edge_ptr.diff()
        graph = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
        first = found.node_ptr[graph]
        fixed = found.hops.amin(1)[first + found.ends[1]] >= self.hops
        if found.roots.size(1) == 2:
            own = found.roots[graph].sort(1).values.t()
            fixed |= (found.ends.sort(0).values == own).all(0)
        return fixed
