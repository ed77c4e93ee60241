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

from rcexplainer.errors import HubError
from rcexplainer.sources import AnyGraph, as_source
from rcexplainer.sources.attribute_levels import EDGE_LEVEL
from rcexplainer.tasks.index import Pair
from rcexplainer.tasks.neighbourhoods import Neighbourhoods, Sweep

PIECE = 1 << 18  # edges of the computation graphs that are made at a time


@dataclass(frozen=True, eq=False)
class Instance:
    """One instance: the whole graph, and the graph the model is run on (the same for a graph task)."""

    graph: AnyGraph
    computation: Data
    index: int | Pair | None = None  # the node, or the pair of nodes
    edge_ids: Tensor | None = None  # columns of the whole graph that the computation graph has
    node_ids: Tensor | None = None  # nodes of the whole graph that the computation graph has


class ComputationGraphs:
    """Makes the computation graphs of any nodes or pairs of one graph.

    Args:
        graph: The whole graph, in memory or not.
        hops: How far a computation graph reaches.
        max_edges: The most edges that may be read for one; None: the bound of the graph.
    """

    def __init__(self, graph: AnyGraph, hops: int, max_edges: int | None = None) -> None:
        self.source, self.hops = as_source(graph), hops
        self.max_edges = self.source.max_edges if max_edges is None else max_edges

    def __call__(self, roots: Tensor) -> Iterator[Instance | HubError]:
        """The instances of the nodes [n], or pairs [n, 2], one after the other; an error for one beyond the bound."""
        adjacency, single = self.source.adjacency, roots.dim() == 1
        columns = roots.reshape(len(roots), -1).to(adjacency.device)
        for piece, found, left_out in Sweep(adjacency, self.max_edges).batches(columns, self.hops, PIECE):
            cut = self._cut(found, single)
            for root, out in zip(piece.tolist(), left_out.tolist(), strict=True):
                index = root[0] if single else tuple(root)
                if out:
                    yield self._too_large(index)
                    continue
                computation, edge_ids, node_ids = next(cut)
                yield Instance(self.source.graph, computation, index, edge_ids, node_ids)

    def _cut(self, found: Neighbourhoods, single: bool) -> Iterator[tuple[Data, Tensor, Tensor]]:
        """The computation graphs of a piece, each with the ids of its edges and nodes."""
        source, device = self.source, self.source.device
        values = {key: value.to(device) for key, value in source.node_values(found.nodes).items()}
        along_edges = {key: value.to(device) for key, value in source.edge_values(found.edges).items()}
        shared = {key: value.to(device) for key, value in source.graph_values.items()}
        edge_ids, node_ids = found.edges.cpu(), found.nodes.cpu()
        found = found.to(device)
        far = self.hops + (0 if single else 1)  # a node may be out of reach of one of two roots
        values["hop_code"] = torch.nn.functional.one_hot(found.hops, far + 1).float().flatten(1)
        along_edges["edge_fixed"] = self._fixed(found)
        node_ptr, edge_ptr = found.node_ptr.tolist(), found.edge_ptr.tolist()
        for place, read in enumerate(found.roots):
            own = slice(node_ptr[place], node_ptr[place + 1])
            inside = slice(edge_ptr[place], edge_ptr[place + 1])
            computation = Data.from_dict(
                {
                    **shared,  # first: where the user has a name that is ours, ours counts
                    **{key: value[own] for key, value in values.items()},
                    **{key: value[inside] for key, value in along_edges.items()},
                    **({"root_index": read} if single else {"edge_label_index": read[:, None]}),
                    "edge_index": found.ends[:, inside],
                    "num_nodes": own.stop - own.start,
                    EDGE_LEVEL: ",".join(source.edge_keys),
                }
            )
            yield computation, edge_ids[inside], node_ids[own]

    def _too_large(self, index: int | Pair) -> HubError:
        noun = "node" if isinstance(index, int) else "link"
        return HubError(
            f"{noun} {index}: more than {self.max_edges} edges would have to be read for its {self.hops}-hop "
            "computation graph; open the graph with a larger max_edges if the memory allows"
        )

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
