"""Many graphs kept as a few long tensors, from which mini-batches are cut by index arithmetic.

PyG's `Batch.from_data_list` walks over its graphs in Python; in a training loop that costs more than the GNN.
`GraphStore` pays that walk once and keeps everything on one device:

    ids [k]  →  Batch of k graphs, a fixed number of tensor operations whatever k is
"""

from collections.abc import Mapping, Sequence
from copy import copy

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.data.collate import collate

from rcexplainer.core.segments import gather_ranges
from rcexplainer.errors import SplitError

# A string attribute that names the unnamed edge attributes of a graph cut out of another, or put together from several.
EDGE_LEVEL = "rcexplainer_edge_level"


class GraphStore:
    """`store[ids]` is the `Batch` of these graphs, with every tensor attribute that all of them carry."""

    def __init__(self, graphs: Sequence[Data], device: torch.device | str | None = None) -> None:
        device = device or graphs[0].edge_index.device
        shared = set.intersection(*(set(graph.keys()) for graph in graphs)) - {"num_nodes", "batch", "ptr"}
        plain = [Data(**{key: graph[key] for key in shared}, num_nodes=graph.num_nodes) for graph in graphs]
        joined, slices, _ = collate(Data, plain, increment=False, add_batch=False)
        self._num_nodes = torch.tensor([graph.num_nodes for graph in graphs], device=device)
        self._values: dict[str, Tensor] = {}
        self._dims: dict[str, int] = {}
        self._steps: dict[str, Tensor | None] = {}  # what is added to a graph's values for each graph before it
        self._pointers: dict[str, Tensor] = {}
        self._edge_level = ",".join(_edge_level(plain, slices, self._num_nodes))
        for key in shared:
            value = joined[key]
            if not isinstance(value, Tensor):
                continue  # names and the like: no model reads them
            pointer = slices[key].to(device)
            steps = torch.tensor([int(graph.__inc__(key, graph[key])) for graph in graphs], device=device)
            self._values[key] = value.to(device)
            self._dims[key] = joined.__cat_dim__(key, value) or 0
            self._steps[key] = steps if bool(steps.any()) else None
            # Node-, edge- and graph-level attributes have one pointer each, so its ranges are built once a batch.
            same = (other for other in self._pointers.values() if torch.equal(other, pointer))
            self._pointers[key] = next(same, pointer)

    def __len__(self) -> int:
        return int(self._num_nodes.numel())

    def __getitem__(self, ids: Tensor) -> Batch:
        ids = ids.to(self._num_nodes.device)
        counts = self._num_nodes[ids]
        batch = Batch(num_nodes=int(counts.sum()))
        ranges: dict[int, tuple[Tensor, Tensor]] = {}
        for key, value in self._values.items():
            pointer = self._pointers[key]
            if id(pointer) not in ranges:
                ranges[id(pointer)] = gather_ranges(pointer[ids], pointer[ids + 1])
            index, owner = ranges[id(pointer)]
            part = value.index_select(self._dims[key], index)
            steps = self._steps[key]
            if steps is not None:
                taken = steps[ids]
                shift = (taken.cumsum(0) - taken)[owner]
                part = part + (shift if self._dims[key] in (-1, part.dim() - 1) else shift.unsqueeze(-1))
            batch[key] = part
        graphs = torch.arange(len(ids), device=counts.device)
        batch.batch = graphs.repeat_interleave(counts, output_size=batch.num_nodes)
        batch.ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        batch._num_graphs = len(ids)
        batch[EDGE_LEVEL] = self._edge_level
        return batch


def _edge_level(graphs: Sequence[Data], slices: Mapping[str, Tensor], num_nodes: Tensor) -> list[str]:
    """Attributes that are as long as the edges of every graph, and not as long as its nodes or its labels are; and
    those that the graphs were told of."""
    edges, nodes = slices["edge_index"], torch.cat([num_nodes.new_zeros(1), num_nodes.cumsum(0)]).cpu()
    others = (nodes, torch.arange(len(graphs) + 1))
    told = str(graphs[0].get(EDGE_LEVEL, "")).split(",")
    if any(torch.equal(edges, other) for other in others):
        return [key for key in slices if key in told]
    plain = (key for key, own in slices.items() if isinstance(graphs[0][key], Tensor) and torch.equal(own, edges))
    return [key for key in plain if "index" not in key]


def delete_edges(graph: Data, removed: Tensor) -> Data:
    """The graph without the edges where `removed` (boolean, one per column of `edge_index`) is true."""
    num_edges = graph.num_edges
    if removed.dtype != torch.bool or removed.shape != (num_edges,):
        raise SplitError(
            f"`removed` must be a boolean mask of {num_edges} edges, got {removed.dtype} {tuple(removed.shape)}"
        )
    kept = copy(graph)
    for key in edge_level_keys(graph):
        value = graph[key]
        kept[key] = value[..., ~removed] if key == "edge_index" else value[~removed]
        if hasattr(kept, "_slice_dict") and key in kept._slice_dict:  # so that a batch can still be taken apart
            position = torch.cat([removed.new_zeros(1).long(), (~removed).cumsum(0)]).cpu()
            kept._slice_dict = {**kept._slice_dict, key: position[kept._slice_dict[key]]}
    return kept


def edge_level_keys(graph: Data) -> list[str]:
    """Attributes with one entry per edge: by their name, else by their length.

    Where a graph has as many edges as something else, lengths say nothing. So what was cut out of a larger graph, or
    put together from many, is told (`EDGE_LEVEL`, their names). PyG's own test (`is_edge_attr`) takes the label of a
    graph with a single edge for an edge attribute, hence ours.
    """
    told = graph.get(EDGE_LEVEL)
    known = None if told is None else (told if isinstance(told, str) else told[0]).split(",")
    num_edges = graph.num_edges
    ambiguous = num_edges in (1, graph.num_nodes, graph.num_graphs if isinstance(graph, Batch) else 1)
    keys = ["edge_index"]
    for key, value in graph.to_dict().items():
        if "index" in key or key == "edge_label" or not isinstance(value, Tensor) or value.dim() == 0:
            continue  # what is labelled are pairs to predict, not the edges that are there
        plain = key in known if known is not None else not ambiguous and key not in ("y", "batch", "ptr")
        if value.size(0) == num_edges and ("edge" in key or plain):
            keys.append(key)
    return keys
