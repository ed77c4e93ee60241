"""Many graphs as a few long tensors, from which mini-batches are cut by index arithmetic; and the deletion of edges.

PyG's `Batch.from_data_list` loops over its graphs in Python; in a training loop that costs more than the GNN.
`GraphStore` loops once and keeps everything on one device:

    ids [k]  →  Batch of k graphs, by a number of tensor operations that does not depend on k

`delete_edges` takes edges out of a graph, with all their attributes; a soft mask never stands in for it.
"""

from collections.abc import Mapping, Sequence
from copy import copy

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.data.collate import collate

from rcexplainer.core.segments import gather_ranges
from rcexplainer.errors import SplitError

# The string attribute of a batch or computation graph that lists its edge-level attributes, separated by commas.
EDGE_LEVEL = "rcexplainer_edge_level"


class GraphStore:
    """`store[ids]` is the `Batch` of these graphs, with every tensor attribute that all graphs have.

    Args:
        graphs: The graphs.
        device: Where to keep them; None: where the first one is.
    """

    def __init__(self, graphs: Sequence[Data], device: torch.device | str | None = None) -> None:
        device = device or graphs[0].edge_index.device
        shared = set.intersection(*(set(graph.keys()) for graph in graphs)) - {"num_nodes", "batch", "ptr"}
        plain = [Data(**{key: graph[key] for key in shared}, num_nodes=graph.num_nodes) for graph in graphs]
        joined, slices, _ = collate(Data, plain, increment=False, add_batch=False)
        self._num_nodes = torch.tensor([graph.num_nodes for graph in graphs], device=device)
        self._values: dict[str, Tensor] = {}
        self._dims: dict[str, int] = {}
        self._steps: dict[str, Tensor | None] = {}  # what each earlier graph of a batch adds to the values
        self._pointers: dict[str, Tensor] = {}
        self._edge_level = ",".join(_edge_level(plain, slices, self._num_nodes))
        for key in shared:
            value = joined[key]
            if not isinstance(value, Tensor):
                continue  # strings and the like: no model reads them
            pointer = slices[key].to(device)
            steps = torch.tensor([int(graph.__inc__(key, graph[key])) for graph in graphs], device=device)
            self._values[key] = value.to(device)
            self._dims[key] = joined.__cat_dim__(key, value) or 0
            self._steps[key] = steps if bool(steps.any()) else None
            # Attributes of one level (node, edge, graph) share one pointer: its ranges are built once per batch.
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
    """Names of the attributes with one entry per edge in every graph.

    If all graphs have as many edges as nodes or labels, lengths prove nothing: then it is the names the graphs list.
    """
    edges, nodes = slices["edge_index"], torch.cat([num_nodes.new_zeros(1), num_nodes.cumsum(0)]).cpu()
    others = (nodes, torch.arange(len(graphs) + 1))
    listed = str(graphs[0].get(EDGE_LEVEL, "")).split(",")
    if any(torch.equal(edges, other) for other in others):
        return [key for key in slices if key in listed]
    plain = (key for key, own in slices.items() if isinstance(graphs[0][key], Tensor) and torch.equal(own, edges))
    return [key for key in plain if "index" not in key]


def delete_edges(graph: Data, removed: Tensor) -> Data:
    """A copy of the graph without some of its edges and their attributes.

    Args:
        graph: A graph or a batch; it is left as it is.
        removed: Boolean [E], true for the columns of `edge_index` to delete.

    Raises:
        SplitError: `removed` is not a boolean mask of the edges.
    """
    num_edges = graph.num_edges
    if removed.dtype != torch.bool or removed.shape != (num_edges,):
        raise SplitError(
            f"`removed` must be a boolean mask of {num_edges} edges, got {removed.dtype} {tuple(removed.shape)}"
        )
    kept = copy(graph)
    for key in edge_level_keys(graph):
        value = graph[key]
        kept[key] = value[..., ~removed] if key == "edge_index" else value[~removed]
        if hasattr(kept, "_slice_dict") and key in kept._slice_dict:  # for `Batch.to_data_list`
            position = torch.cat([removed.new_zeros(1).long(), (~removed).cumsum(0)]).cpu()
            kept._slice_dict = {**kept._slice_dict, key: position[kept._slice_dict[key]]}
    return kept


def edge_level_keys(graph: Data) -> list[str]:
    """Names of the attributes with one entry per edge: those with "edge" in their name, and others by their length.

    The length proves nothing in a graph with as many edges as nodes or labels. Batches and computation graphs therefore
    list the names (`EDGE_LEVEL`). PyG's own test (`is_edge_attr`) is not used: it takes the label of a graph with a
    single edge for an edge attribute.
    """
    listed = graph.get(EDGE_LEVEL)
    known = None if listed is None else (listed if isinstance(listed, str) else listed[0]).split(",")
    num_edges = graph.num_edges
    ambiguous = num_edges in (1, graph.num_nodes, graph.num_graphs if isinstance(graph, Batch) else 1)
    keys = ["edge_index"]
    for key, value in graph.to_dict().items():
        if "index" in key or key == "edge_label" or not isinstance(value, Tensor) or value.dim() == 0:
            continue  # labels belong to pairs to predict, not to the edges of the graph
        plain = key in known if known is not None else not ambiguous and key not in ("y", "batch", "ptr")
        if value.size(0) == num_edges and ("edge" in key or plain):
            keys.append(key)
    return keys
