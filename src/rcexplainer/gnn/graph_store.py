"""Many graphs as a few long tensors, from which mini-batches are cut by index arithmetic; and the deletion of edges.

PyG's `Batch.from_data_list` loops over its graphs in Python; in a training loop that costs more than the GNN.
`GraphStore` loops once and keeps everything on one device:

    ids [k]  →  Batch of k graphs, by a number of tensor operations that does not depend on k

`delete_edges` takes edges out of a graph, with all their attributes; a soft mask never stands in for it.
"""

from collections.abc import Sequence
from copy import copy

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.core.segments import gather_ranges
from rcexplainer.errors import GraphError, SplitError
from rcexplainer.gnn.columns import Column, Pointers, columns_of, columns_of_batch, node_counts
from rcexplainer.sources.attribute_levels import EDGE_LEVEL, edge_level_keys


class GraphStore:
    """`store[ids]` is the `Batch` of these graphs, with every tensor attribute that all graphs have.

    Args:
        graphs: The graphs; a `Batch` is not taken apart.
        device: Where to keep them; None: where they are.
    """

    def __init__(self, graphs: Sequence[Data] | Batch, device: torch.device | str | None = None) -> None:
        pointers = Pointers()
        if isinstance(graphs, Batch):
            known = columns_of_batch(graphs, pointers)
            if known is None:
                raise SplitError("this Batch cannot be read as it is: pass the list of its graphs")
            columns, nodes = known
            listed = graphs.get(EDGE_LEVEL, [""])[0]
        else:
            counts = node_counts(graphs)
            columns, nodes = columns_of(graphs, counts, pointers), pointers.of(counts)
            listed = graphs[0].get(EDGE_LEVEL, "")
        edges = columns["edge_index"].ptr
        # If all graphs have as many edges as nodes or labels, lengths prove nothing: names that the graphs list do.
        ambiguous = edges is nodes or torch.equal(edges, torch.arange(len(nodes)))
        level = [key for key, column in columns.items() if column.ptr is edges and "index" not in key]
        edge_level = [key for key in columns if key in str(listed).split(",")] if ambiguous else level
        self._edge_level = ",".join(edge_level)
        self._edge_keys = {"edge_index", *(key for key in level if key in edge_level or _named_edge(key))}
        self.source_devices = {column.values.device for column in columns.values()}
        place = torch.device(device) if device is not None else columns["edge_index"].values.device
        moved = {id(ptr): ptr.to(place) for ptr in (nodes, *(column.ptr for column in columns.values()))}
        self._lists = {
            id(moved[id(ptr)]): ptr.tolist() for ptr in (nodes, *(column.ptr for column in columns.values()))
        }
        self.columns = {key: column.to(place, moved[id(column.ptr)]) for key, column in columns.items()}
        self.node_ptr = moved[id(nodes)]
        self.num_nodes = self.node_ptr.diff()
        self.edge_ptr = self.columns["edge_index"].ptr

    def __len__(self) -> int:
        return int(self.num_nodes.numel())

    def __getitem__(self, ids: Tensor) -> Batch:
        return self.cut(ids.to(self.num_nodes.device), None)

    def whole(self) -> Batch:
        """The batch of all graphs, in order."""
        return self.range(0, len(self))

    def range(self, first: int, end: int) -> Batch:
        """The batch of consecutive graphs, which costs little: nothing has to be gathered.

        Its tensors are copies: some models work in place.
        """
        counts = self.num_nodes[first:end]
        ptr = self.node_ptr[first : end + 1] - self.node_ptr[first]
        batch = _empty_batch(self.bounds(self.node_ptr)[end] - self.bounds(self.node_ptr)[first])
        for key, column in self.columns.items():
            bounds = self.bounds(column.ptr)
            size = bounds[end] - bounds[first]
            part = column.values.narrow(column.dim, bounds[first], size)
            if column.steps is None:
                batch[key] = part.clone()
            else:
                steps = column.steps[first:end]
                shift = (steps.cumsum(0) - steps).repeat_interleave(
                    column.ptr[first : end + 1].diff(), output_size=size
                )
                batch[key] = part + _along(shift, column)
        return self._finished(batch, counts, ptr)

    def bounds(self, ptr: Tensor) -> list[int]:
        """One of the store's pointers as a list, without waiting for the device."""
        return self._lists[id(ptr)]

    def cut(self, ids: Tensor, edges: tuple[Tensor, Tensor] | None) -> Batch:
        """The batch of these graphs, with all of their edges or only some.

        Args:
            ids: [k] the graphs, on the device of the store.
            edges: The edges to take: their columns [e] in the store, and for each the position [e] in `ids` of the
                graph it belongs to, ascending. None: all.
        """
        counts = self.num_nodes[ids]
        ptr = pointer(counts)
        batch = _empty_batch(int(ptr[-1]))
        ranges: dict[int, tuple[Tensor, Tensor]] = {}
        for key, column in self.columns.items():
            if edges is not None and key in self._edge_keys:
                index, owner = edges
            else:
                if id(column.ptr) not in ranges:
                    ranges[id(column.ptr)] = gather_ranges(column.ptr[ids], column.ptr[ids + 1])
                index, owner = ranges[id(column.ptr)]
            part = column.values.index_select(column.dim, index)
            if column.steps is not None:
                taken = column.steps[ids]
                part = part + _along((taken.cumsum(0) - taken)[owner], column)
            batch[key] = part
        return self._finished(batch, counts, ptr)

    def _finished(self, batch: Batch, counts: Tensor, ptr: Tensor) -> Batch:
        graphs = torch.arange(len(counts), device=counts.device)
        batch.batch = graphs.repeat_interleave(counts, output_size=batch.num_nodes)
        batch.ptr = ptr
        batch._num_graphs = len(counts)
        batch[EDGE_LEVEL] = self._edge_level
        return batch


_EMPTY = Batch()


def _empty_batch(num_nodes: int) -> Batch:
    """A copy of one that exists: PyG's constructor inspects a signature every time."""
    batch = copy(_EMPTY)
    batch.num_nodes = num_nodes
    return batch


def _along(shift: Tensor, column: Column) -> Tensor:
    return shift if column.dim in (-1, column.values.dim() - 1) else shift.unsqueeze(-1)


def _named_edge(key: str) -> bool:
    return "edge" in key and "index" not in key and key != "edge_label"


def pointer(sizes: Tensor) -> Tensor:
    """[n] sizes → [n + 1] where each begins."""
    return torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])


def delete_edges(graph: Data, removed: Tensor) -> Data:
    """A copy of the graph without some of its edges and their attributes.

    Args:
        graph: A graph or a batch; it is left as it is.
        removed: Boolean [E], true for the columns of `edge_index` to delete.

    Raises:
        GraphError: `graph` is no graph, or has no edge_index [2, E].
        SplitError: `removed` is not a boolean mask of the edges.
    """
    edges = graph.get("edge_index") if isinstance(graph, Data) else None
    if not isinstance(edges, Tensor) or edges.dim() != 2 or edges.size(0) != 2:
        found = "another edge_index" if isinstance(graph, Data) else type(graph).__name__
        raise GraphError(f"delete_edges(graph, removed) needs a PyG Data with edge_index of shape [2, E], got {found}")
    num_edges = edges.size(1)
    if not isinstance(removed, Tensor):
        raise SplitError(f"`removed` must be a boolean mask of {num_edges} edges, got {type(removed).__name__}")
    if removed.dtype != torch.bool or removed.shape != (num_edges,):
        raise SplitError(
            f"`removed` must be a boolean mask of {num_edges} edges, got {removed.dtype} {tuple(removed.shape)}"
        )
    kept, left = copy(graph), (~removed).nonzero().squeeze(1)
    for key in edge_level_keys(graph):
        kept[key] = graph[key].index_select(-1 if key == "edge_index" else 0, left)
        if hasattr(kept, "_slice_dict") and key in kept._slice_dict:  # for `Batch.to_data_list`
            position = torch.cat([removed.new_zeros(1).long(), (~removed).cumsum(0)]).cpu()
            kept._slice_dict = {**kept._slice_dict, key: position[kept._slice_dict[key]]}
    return kept
