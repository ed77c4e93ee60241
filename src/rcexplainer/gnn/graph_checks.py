"""What a well-formed graph is: the checks that every graph passes before anything is computed from it.

Each check is cheap next to one forward pass, and its error names the graph.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data, Dataset, FeatureStore, GraphStore
from torch_geometric.loader import DataLoader

from rcexplainer.errors import GraphError
from rcexplainer.gnn.columns import attributes_of
from rcexplainer.gnn.foreign_graphs import not_graphs
from rcexplainer.sources import GraphSource, StoreGraph, is_store_pair

# What computation graphs of nodes and links carry: roots, distances to them, and edges that cannot be deleted.
COMPUTATION_NAMES = frozenset({"root_index", "hop_code", "edge_fixed"})

StorePair: TypeAlias = tuple[FeatureStore, GraphStore]
Graphs: TypeAlias = Data | Batch | Dataset | DataLoader | Iterable[Data] | GraphSource | StorePair


def source_of(graphs: object) -> GraphSource | None:
    """The graph that is on disk or in a store, if this is one; a (FeatureStore, GraphStore) pair is."""
    if isinstance(graphs, GraphSource):
        return graphs
    return StoreGraph(*graphs) if is_store_pair(graphs) else None  # type: ignore[misc]


def as_graphs(graphs: Graphs) -> list[Data]:
    """The graphs as a list, checked.

    Args:
        graphs: A `Data`, or a list, `Dataset`, `Batch` or `DataLoader` of them.

    Raises:
        GraphError: There are none, or one is malformed or unlike the first.
    """
    found = list_graphs(graphs)
    check_graphs(found)
    return found


def list_graphs(graphs: Graphs) -> list[Data]:
    """The graphs as a list, unchecked, for checks that must come first (the device they are on).

    Raises:
        GraphError: There are none, or something else than a graph is among them.
    """
    found = list(iter_graphs(graphs))
    if not found:
        raise GraphError("the dataset is empty: at least one graph is needed")
    return found


def iter_graphs(graphs: object) -> Iterator[Data]:
    """The graphs one after the other, unchecked; each is read when it is needed.

    Raises:
        GraphError: Something else than a homogeneous graph.
    """
    if isinstance(graphs, Batch) and isinstance(graphs, Data):  # not of heterogeneous graphs
        try:
            found = graphs.to_data_list()
        except (IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
            raise GraphError(f"the Batch cannot be taken apart: {error}; pass the list of its graphs") from error
        yield from map(plain_graph, found)
    elif isinstance(graphs, Data):
        yield plain_graph(graphs)
    elif (said := not_graphs(graphs)) is not None:
        raise GraphError(said)
    elif isinstance(graphs, Iterable):
        for graph in _items(graphs):
            yield from iter_graphs(graph)
    else:
        raise GraphError(f"expected PyG Data objects, got {type(graphs).__name__}")


def stream(graphs: object, device: torch.device | None) -> Iterator[Data | Exception]:
    """The graphs one after the other, as copies on the device if one is given.

    Yields:
        A graph, or an error in the place of something that is not a graph.

    Raises:
        GraphError: `graphs` itself is neither a graph nor a collection of graphs.
    """
    if isinstance(graphs, Data) or not isinstance(graphs, Iterable) or not_graphs(graphs) is not None:
        yield from (_moved(graph, device) for graph in iter_graphs(graphs))
        return
    for item in _items(graphs):
        if type(item) is Data:  # by far the most
            yield _moved(plain_graph(item), device)
            continue
        try:
            yield from [_moved(graph, device) for graph in iter_graphs(item)]
        except GraphError as error:
            yield error


def plain_graph(graph: Data) -> Data:
    """The graph itself, or a copy whose tensors want no gradients, since a fit would add to those of the user's, and
    without attributes that have a meaning in computation graphs."""
    own = attributes_of(graph)
    wanting = {key: value.detach() for key, value in own.items() if isinstance(value, Tensor) and value.requires_grad}
    if not wanting and not own.keys() & COMPUTATION_NAMES:
        return graph
    found = copy(graph).update(wanting)
    for name in own.keys() & COMPUTATION_NAMES:
        del found[name]
    return found


def _items(graphs: Iterable[object]) -> Iterator[object]:
    """What is in a container; a `DataLoader` fails where its graphs cannot be batched."""
    try:
        yield from graphs
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
        if not isinstance(graphs, DataLoader) or isinstance(error, GraphError):
            raise
        raise GraphError(f"the DataLoader cannot batch its graphs: {error}") from error


def _moved(graph: Data, device: torch.device | None) -> Data:
    return graph if device is None else copy(graph).to(device)


@dataclass(frozen=True)
class GraphKind:
    """The width and type of node features, and the attributes that models read: all graphs of one model share them."""

    width: int | None  # None: no features
    dtype: torch.dtype | None
    shared: frozenset[str] = frozenset()  # of `SHARED_ATTRIBUTES`

    @classmethod
    def of(cls, graph: Data) -> "GraphKind":
        """The kind of this graph."""
        shared = attributes(graph).intersection(SHARED_ATTRIBUTES)
        if not isinstance(graph.x, Tensor):
            return cls(None, None, shared)
        return cls(int(graph.x.size(-1)) if graph.x.dim() > 1 else 1, graph.x.dtype, shared)

    def check(self, graph: Data, where: str, reference: str) -> None:
        """Refuse a graph of another kind.

        Args:
            graph: The graph.
            where: What to call it.
            reference: What to call the graphs that this kind was taken from.

        Raises:
            GraphError: Its features have another width or type, or an attribute is missing. (One more is no error: the
                model is run with it.)
        """
        other = GraphKind.of(graph)
        if other.width is None and self.width is not None:
            raise GraphError(f"{where} has no node features (x), {reference} graphs with {self.width} of them")
        if other.width != self.width:
            raise GraphError(f"{where} has node features of width {other.width}, {reference} {self.width}")
        if other.dtype != self.dtype:
            raise GraphError(f"{where} has node features of type {other.dtype}, {reference} {self.dtype}")
        for name in sorted(self.shared - other.shared):
            raise GraphError(f"{where} has no {name}, {reference} graphs with it: all need the same attributes")


# Attributes that models read if a graph has them: all graphs have them, or none.
SHARED_ATTRIBUTES = ("edge_attr", "edge_weight", "edge_type", "pos")


def attributes(graph: Data) -> frozenset[str]:
    """Names of the tensors of a graph that a model may read."""
    tensors = (name for name, value in graph.to_dict().items() if isinstance(value, Tensor))
    return frozenset(tensors) - {"y", "batch", "ptr", "edge_label", "edge_label_index"}


def check_graphs(graphs: Sequence[Data]) -> None:
    """Check every graph, and that all are alike.

    Raises:
        GraphError: Naming the first graph that is malformed or unlike the first one.
    """
    kind = GraphKind.of(graphs[0])
    for position, graph in enumerate(graphs):
        check_member(graph, f"graph {position}" if len(graphs) > 1 else "the graph", kind)


def check_member(graph: Data, where: str, kind: GraphKind) -> None:
    """Check one graph of several, and that it is like the first.

    Args:
        graph: The graph.
        where: What to call it.
        kind: The kind of the first graph.

    Raises:
        GraphError: It is malformed, or unlike the first one.
    """
    check_graph(graph, where)
    check_labels(graph.y, where)
    for name in sorted(attributes(graph).intersection(SHARED_ATTRIBUTES) ^ kind.shared):
        has, lacks = ("the first graph", where) if name in kind.shared else (where, "the first graph")
        raise GraphError(f"{has} has {name}, {lacks} does not: all graphs need the same attributes")
    kind.check(graph, where, "the first graph")


def check_graph(graph: Data, where: str = "the graph") -> None:
    """Check the edges, shapes and values of one graph; labels are not read.

    Args:
        graph: The graph.
        where: What to call it.

    Raises:
        GraphError: It has no nodes, its edges do not fit its nodes, attributes do not fit the edges, or values are not
            finite.
    """
    _check_types(graph, where)
    edge_index = graph.edge_index
    if edge_index is None or edge_index.dim() != 2 or edge_index.size(0) != 2:
        found = "none" if edge_index is None else f"shape {tuple(edge_index.shape)}"
        raise GraphError(f"{where} needs edge_index of shape [2, num_edges], found {found}")
    if edge_index.dtype != torch.long:
        raise GraphError(f"{where} has edge_index of type {edge_index.dtype}; convert it with .long()")
    num_nodes = graph.num_nodes or 0
    if num_nodes < 1:
        raise GraphError(f"{where} has no nodes")
    if isinstance(graph.x, Tensor) and graph.x.size(0) != num_nodes:
        raise GraphError(f"{where} has x of shape {tuple(graph.x.shape)} for {num_nodes} nodes")
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
        if name in ("edge_attr", "edge_weight", "edge_fixed") and value.shape[:1] != (edge_index.size(1),):
            raise GraphError(
                f"{where} has {name} of shape {tuple(value.shape)} for {edge_index.size(1)} edges: one row each"
            )


def _check_types(graph: Data, where: str) -> None:
    """What a model reads must be dense tensors."""
    for name in ("edge_index", "x", *SHARED_ATTRIBUTES):
        value = graph.get(name)
        if value is not None and not isinstance(value, Tensor) and name not in SHARED_ATTRIBUTES:
            raise GraphError(f"{where} has {name} of type {type(value).__name__}: it must be a tensor")
        if isinstance(value, Tensor) and value.layout != torch.strided:
            raise GraphError(f"{where} has a sparse {name}: make it dense with .to_dense()")
        if isinstance(value, Tensor) and value.is_meta:
            raise GraphError(f"{where} has {name} on the device meta, which holds no numbers")
    own = graph.to_dict().get("num_nodes")
    if own is not None and (not isinstance(own, Integral) or isinstance(own, bool)):
        raise GraphError(f"{where} has num_nodes={own!r}: it must be a whole number")
    if isinstance(graph.x, Tensor) and not graph.x.dim():
        raise GraphError(f"{where} has a single number for x: it needs a row for each node")


def check_labels(labels: object, where: str = "the graph") -> None:
    """Labels may be missing; otherwise they must be whole numbers, one per instance.

    Args:
        labels: The labels, if any.
        where: What to call the graph.

    Raises:
        GraphError: Regression or multi-label targets.
    """
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


def check_devices(model: nn.Module, graphs: Sequence[Data], where: str | None = None) -> None:
    """Model and graphs must be on one device.

    Args:
        model: The model.
        graphs: The graphs.
        where: What to call the graph, if it is only one.

    Raises:
        GraphError: Naming the first graph that is elsewhere.
    """
    parameter = next(model.parameters(), None)
    for position, graph in enumerate(graphs):
        tensors = [value for value in graph.to_dict().values() if isinstance(value, Tensor)]
        device = next(
            (value.device for value in tensors if parameter is not None and value.device != parameter.device), None
        )
        if parameter is not None and device is not None:
            raise GraphError(
                f"the model is on {parameter.device}, {where or f'graph {position}'} on {device}; "
                f"move one of them, e.g. graph.to({str(parameter.device)!r}), or fit with device=…, on copies of both"
            )


def check_single_label(graphs: Sequence[Data], where: str | None = None) -> None:
    """In a graph task every graph has one label, or none.

    Args:
        graphs: The graphs.
        where: What to call the graph, if it is only one.

    Raises:
        GraphError: A graph has several.
    """
    for position, graph in enumerate(graphs):
        if isinstance(graph.y, Tensor) and graph.y.numel() > 1:
            raise GraphError(
                f"{where or f'graph {position}'} has {graph.y.numel()} labels: multi-label models are not supported; "
                'for a node classifier pass task="node"'
            )
