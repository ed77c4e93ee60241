"""What is asked about: an instance is a graph with a read-out.

graph   the whole graph, all nodes pooled
node    the computation graph of a node, read at that node
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.masking import edge_level_keys
from rcexplainer.tasks.neighbourhoods import Adjacency

Index: TypeAlias = int | Sequence[int] | Tensor
PIECE = 1 << 18  # edges of the computation graphs that are made at a time


@dataclass(frozen=True, eq=False)
class Asked:
    """One instance: where it comes from, and the graph the model is run on."""

    graph: Data  # the whole graph
    instance: Data
    index: int | tuple[int, int] | None = None
    edge_ids: Tensor | None = None  # the columns of the whole graph that the instance has


def node_index(index: Index | None, num_nodes: int) -> Tensor:
    """Positions of nodes from an int, a list, a LongTensor or a boolean mask; all nodes if none is given."""
    if index is None:
        return torch.arange(num_nodes)
    found = torch.as_tensor(index).cpu()
    if found.dtype == torch.bool:
        if found.shape != (num_nodes,):
            raise GraphError(f"a boolean index has one value for each of {num_nodes} nodes, got {tuple(found.shape)}")
        found = found.nonzero().flatten()
    if found.is_floating_point() and found.numel():
        raise GraphError(f"an index holds whole numbers, got {found.dtype}")
    found = found.reshape(-1).long()
    if not len(found):
        raise GraphError("the index is empty: at least one node is needed")
    wrong = found[(found < 0) | (found >= num_nodes)]
    if len(wrong):
        raise GraphError(f"there is no node {int(wrong[0])}: the graph has the nodes 0 to {num_nodes - 1}")
    return found


class NodeQuestions:
    """Nodes of one graph as instances: their computation graphs, `hops` around them."""

    def __init__(self, graph: Data, hops: int) -> None:
        self.graph, self.hops = graph, hops
        self.num_nodes = int(graph.num_nodes or 0)
        self.adjacency = Adjacency(graph.edge_index, self.num_nodes)
        self.edge_keys = [key for key in edge_level_keys(graph) if key != "edge_index"]
        taken = {"edge_index", "y", "batch", "ptr", *self.edge_keys}
        self.node_keys = [
            key
            for key, value in graph.to_dict().items()
            if isinstance(value, Tensor) and key not in taken and value.dim() and value.size(0) == self.num_nodes
        ]

    def __call__(self, nodes: Tensor) -> Iterator[Asked]:
        """The nodes one after the other, made in pieces."""
        device = self.graph.edge_index.device
        for piece, found in self.adjacency.batches(nodes.to(device), self.hops, PIECE):
            code = torch.nn.functional.one_hot(found.hops, self.hops + 1).float()
            values = {key: self.graph[key][found.nodes] for key in self.node_keys} | {"hop_code": code}
            along_edges = {key: self.graph[key][found.edges] for key in self.edge_keys}
            node_ptr, edge_ptr = found.node_ptr.tolist(), found.edge_ptr.tolist()
            ids = found.edges.cpu()
            for place, node in enumerate(piece.tolist()):
                own = slice(node_ptr[place], node_ptr[place + 1])
                columns = slice(edge_ptr[place], edge_ptr[place + 1])
                instance = Data(
                    edge_index=found.ends[:, columns],
                    root_index=found.root[place : place + 1],
                    num_nodes=own.stop - own.start,
                    **{key: value[own] for key, value in values.items()},
                    **{key: value[columns] for key, value in along_edges.items()},
                )
                yield Asked(self.graph, instance, node, ids[columns])
