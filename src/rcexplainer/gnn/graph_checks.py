"""What a well-formed graph is: the checks that every graph passes before anything is computed from it.

Each function is cheap next to one forward pass and names the graph that is wrong.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, Dataset, HeteroData
from torch_geometric.loader import DataLoader

from rcexplainer.errors import GraphError

Graphs: TypeAlias = Data | Batch | Dataset | DataLoader | Iterable[Data]


def as_graphs(graphs: Graphs) -> list[Data]:
    """A `Data`, list, `Dataset`, `Batch` or `DataLoader` as a non-empty list of checked `Data`."""
    found = list_graphs(graphs)
    check_graphs(found)
    return found


def list_graphs(graphs: Graphs) -> list[Data]:
    """The same without looking into the graphs, for what must be checked before (the device they are on)."""
    found = list(iter_graphs(graphs))
    if not found:
        raise GraphError("the dataset is empty: at least one graph is needed")
    return found


def iter_graphs(graphs: object) -> Iterator[Data]:
    """The graphs one after the other, unchecked and unread until they are asked for."""
    if isinstance(graphs, HeteroData):
        raise GraphError("heterogeneous graphs are not supported: got HeteroData; pass homogeneous Data objects")
    if isinstance(graphs, Batch):
        yield from graphs.to_data_list()
    elif isinstance(graphs, Data):
        yield graphs
    elif isinstance(graphs, Iterable) and not isinstance(graphs, str | Tensor):
        for graph in graphs:
            yield from iter_graphs(graph)
    else:
        raise GraphError(f"expected PyG Data objects, got {type(graphs).__name__}")


def stream(graphs: Graphs, device: torch.device | None) -> Iterator[Data | Exception]:
    """The graphs one after the other, copied to the device if one is given; what is no graph is an error in place."""
    if isinstance(graphs, Data) or not isinstance(graphs, Iterable) or isinstance(graphs, str | Tensor | HeteroData):
        yield from (_moved(graph, device) for graph in iter_graphs(graphs))
        return
    for item in graphs:
        try:
            yield from [_moved(graph, device) for graph in iter_graphs(item)]
        except GraphError as error:
            yield error


def _moved(graph: Data, device: torch.device | None) -> Data:
    return graph if device is None else copy(graph).to(device)


@dataclass(frozen=True)
class GraphKind:
    """What all graphs of a set have in common, and what every graph a model is asked about must have too."""

    width: int | None
    dtype: torch.dtype | None

    @classmethod
    def of(cls, graph: Data) -> "GraphKind":
        if graph.x is None:
            return cls(None, None)
        return cls(int(graph.x.size(-1)) if graph.x.dim() > 1 else 1, graph.x.dtype)

    def check(self, graph: Data, where: str, reference: str) -> None:
        """Raise `GraphError` if the graph is of another kind than `reference`."""
        other = GraphKind.of(graph)
        if other.width != self.width:
            raise GraphError(f"{where} has node features of width {other.width}, {reference} {self.width}")
        if other.dtype != self.dtype:
            raise GraphError(f"{where} has node features of type {other.dtype}, {reference} {self.dtype}")


READ = ("edge_attr", "edge_weight", "edge_type", "pos")  # what models are known to read, where it is there


def attributes(graph: Data) -> frozenset[str]:
    """Which attributes a graph has that may change what a model computes from it."""
    tensors = (name for name, value in graph.to_dict().items() if isinstance(value, Tensor))
    return frozenset(tensors) - {"y", "batch", "ptr", "edge_label", "edge_label_index"}


def check_graphs(graphs: Sequence[Data]) -> None:
    """Raise `GraphError` naming the first graph that is malformed, or of another kind than the first."""
    kind, present = GraphKind.of(graphs[0]), attributes(graphs[0]).intersection(READ)
    for position, graph in enumerate(graphs):
        where = f"graph {position}" if len(graphs) > 1 else "the graph"
        check_graph(graph, where)
        check_labels(graph.y, where)
        kind.check(graph, where, "the first graph")
        for name in sorted(attributes(graph).intersection(READ) ^ present):
            has, lacks = ("the first graph", where) if name in present else (where, "the first graph")
            raise GraphError(f"{has} has {name}, {lacks} does not: all graphs need the same attributes")


def check_graph(graph: Data, where: str = "the graph") -> None:
    """Raise `GraphError` if edges point past the last node, or values are not finite; labels are not looked at."""
    edge_index = graph.edge_index
    if edge_index is None or edge_index.dim() != 2 or edge_index.size(0) != 2:
        found = "none" if edge_index is None else f"shape {tuple(edge_index.shape)}"
        raise GraphError(f"{where} needs edge_index of shape [2, num_edges], found {found}")
    if edge_index.dtype != torch.long:
        raise GraphError(f"{where} has edge_index of type {edge_index.dtype}; convert it with .long()")
    num_nodes = graph.num_nodes or 0
    if not num_nodes:
        raise GraphError(f"{where} has no nodes")
    if edge_index.numel():
        low, high = (int(value) for value in edge_index.aminmax())
        if low < 0 or high >= num_nodes:
            wrong = high if high >= num_nodes else low
            raise GraphError(f"{where} has an edge to node {wrong}, but its nodes are 0 to {num_nodes - 1}")
    for name, value in graph.to_dict().items():
        if not isinstance(value, Tensor) or name == "y":
            continue
        if value.is_floating_point() and not bool(value.isfinite().all()):
            bad = int((~value.isfinite()).sum())
            raise GraphError(f"{where} has {bad} NaN or infinite values in {name}; remove or impute them first")
        if name in ("edge_attr", "edge_weight") and value.shape[:1] != (edge_index.size(1),):
            raise GraphError(f"{where} has {name} of shape {tuple(value.shape)} for {edge_index.size(1)} edges")


def check_labels(labels: object, where: str = "the graph") -> None:
    """Labels may be missing; where they are there they must be whole numbers, one per instance."""
    if not isinstance(labels, Tensor) or labels.numel() == 0:
        return
    if labels.dim() > 1 and labels.size(-1) > 1:
        raise GraphError(
            f"{where} has {labels.size(-1)} labels per instance: multi-label and multi-task sets are not supported"
        )
    if labels.is_floating_point() and not bool((labels == labels.round()).all()):
        found = float(labels[labels != labels.round()][0])
        raise GraphError(
            f"{where} has the non-integer label {found:g}: regression is not supported, classes are 0, 1, …"
        )
