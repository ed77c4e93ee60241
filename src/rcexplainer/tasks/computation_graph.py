"""Computation graphs of nodes and links as instances, cut out of one graph in pieces of bounded size.

A computation graph holds everything within `hops` of its root (a node) or roots (a pair). Each node carries its hop
distance to the roots, one-hot (`hop_code`); columns that cannot be part of an explanation are marked (`edge_fixed`):
edges into nodes at the rim, over which no message reaches a root, and edges between the two nodes of a pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.gnn.graph_store import EDGE_LEVEL, edge_level_keys
from rcexplainer.tasks.index import Pair
from rcexplainer.tasks.neighbourhoods import Adjacency, Neighbourhoods

PIECE = 1 << 18  # edges of the computation graphs that are made at a time


@dataclass(frozen=True, eq=False)
class Instance:
    """One instance: the whole graph, and the graph the model is run on (the same for a graph task)."""

    graph: Data
    computation: Data
    index: int | Pair | None = None  # the node, or the pair of nodes
    edge_ids: Tensor | None = None  # columns of the whole graph that the computation graph has


class ComputationGraphs:
    """Makes the computation graphs of any nodes or pairs of one graph.

    Args:
        graph: The whole graph.
        hops: How far a computation graph reaches.
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

    def __call__(self, roots: Tensor) -> Iterator[Instance]:
        """The instances of the nodes [n], or pairs [n, 2], one after the other."""
        device = self.graph.edge_index.device
        single = roots.dim() == 1
        columns = roots.reshape(len(roots), -1).to(device)
        for piece, found in self.adjacency.batches(columns, self.hops, PIECE):
            far = self.hops + (0 if single else 1)  # a node may be out of reach of one of two roots
            code = torch.nn.functional.one_hot(found.hops, far + 1).float().flatten(1)
            values = {key: self.graph[key][found.nodes] for key in self.node_keys} | {"hop_code": code}
            along_edges = {key: self.graph[key][found.edges] for key in self.edge_keys}
            along_edges["edge_fixed"] = self._fixed(found)
            node_ptr, edge_ptr = found.node_ptr.tolist(), found.edge_ptr.tolist()
            ids = found.edges.cpu()
            for place, root in enumerate(piece.tolist()):
                own = slice(node_ptr[place], node_ptr[place + 1])
                inside = slice(edge_ptr[place], edge_ptr[place + 1])
                read = found.roots[place]
                computation = Data(
                    edge_index=found.ends[:, inside],
                    num_nodes=own.stop - own.start,
                    **({"root_index": read} if single else {"edge_label_index": read[:, None]}),
                    **{key: value[own] for key, value in values.items()},
                    **{key: value[inside] for key, value in along_edges.items()},
                    **self.graph_values,
                    **{EDGE_LEVEL: ",".join(self.edge_keys)},
                )
                yield Instance(self.graph, computation, root[0] if single else tuple(root), ids[inside])

    def _fixed(self, found: Neighbourhoods) -> Tensor:
        """[edges] which columns cannot be part of an explanation."""
        counts = found.edge_ptr.diff()
        graph = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
        first = found.node_ptr[graph]
        fixed = found.hops.amin(1)[first + found.ends[1]] >= self.hops
        if found.roots.size(1) == 2:
            own = found.roots[graph].sort(1).values.t()
            fixed |= (found.ends.sort(0).values == own).all(0)
        return fixed
