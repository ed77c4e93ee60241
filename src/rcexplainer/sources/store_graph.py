"""A graph behind PyG's `FeatureStore` and `GraphStore`: values are fetched row by row, edges once.

PyG's `GraphStore` hands out its edges as a whole. They are asked for once, in the layout that costs least (CSC, which
is an adjacency already, then COO, then CSR), and kept sorted by target, in a folder if they have to be sorted.
"""

import logging
import shutil
import tempfile
from collections.abc import Hashable, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, finalize

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.feature_store import FeatureStore, TensorAttr
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout, GraphStore
from torch_geometric.index import ptr2index

from rcexplainer.errors import GraphError
from rcexplainer.saving.files import named_file
from rcexplainer.short_repr import short_repr
from rcexplainer.sources.adjacency import Adjacency
from rcexplainer.sources.adjacency_files import Numbers, adjacency_files, kept_index
from rcexplainer.sources.graph_source import MAX_EDGES, GraphSource

log = logging.getLogger(__name__)

LAYOUTS = (EdgeLayout.CSC, EdgeLayout.COO, EdgeLayout.CSR)  # the one that costs least first
EDGE_NAMES = ("edge_attr", "edge_weight", "edge_type")
# The sorted edges of stores that are in use: a pair that is given again, say to explain after a fit, is sorted once.
_SORTED: WeakKeyDictionary[GraphStore, Adjacency] = WeakKeyDictionary()


def is_store_pair(graphs: object) -> bool:
    """Whether this is a (FeatureStore, GraphStore) pair; two `Data`, which are both, are a list of graphs."""
    if not isinstance(graphs, tuple) or len(graphs) != 2 or any(isinstance(one, Data) for one in graphs):
        return False
    return isinstance(graphs[0], FeatureStore) and isinstance(graphs[1], GraphStore)


class StoreGraph(GraphSource):
    """A homogeneous graph in a feature store and a graph store.

    Args:
        feature_store: Values of nodes and, under an edge type or one of PyG's names for them, of edges.
        graph_store: The edges, of one type.
        num_nodes: The number of nodes; by default what the stores say.
        index: A folder in which the sorted edges are kept, and found again by another process; by default a temporary
            one. Edges in CSC layout need none.
        max_edges: The most edges that may be read for one computation graph; a node or link with more is an error in
            its place.

    Raises:
        GraphError: The stores hold no edges, several types of nodes or edges, or values that fit neither.
    """

    def __init__(
        self,
        feature_store: FeatureStore,
        graph_store: GraphStore,
        *,
        num_nodes: int | None = None,
        index: str | Path | None = None,
        max_edges: int = MAX_EDGES,
    ) -> None:
        self.feature_store, self.graph_store = feature_store, graph_store
        self.max_edges = max_edges
        self._index = None if index is None else named_file(index, "StoreGraph(…, index=…)", "index", "folder")
        self._edge_attr = _edge_attr(graph_store)
        attrs: Sequence[TensorAttr] = feature_store.get_all_tensor_attrs()
        on_edges = [attr for attr in attrs if _of_edges(attr)]
        on_nodes = [attr for attr in attrs if not _of_edges(attr)]
        groups = {getattr(attr, "group_name", None) for attr in on_nodes}
        if len(groups) > 1:
            raise GraphError(
                f"the feature store has several types of nodes ({', '.join(map(str, groups))}): heterogeneous graphs "
                "are not supported"
            )
        if not on_nodes:
            raise GraphError("the feature store has no value for nodes: at least one is needed, say x")
        self._num_nodes = num_nodes or self._counted(on_nodes)
        sizes = {attr.attr_name: self._rows(attr) for attr in on_nodes}
        single = {name for name, rows in sizes.items() if rows == 1 != self._num_nodes}
        for name, rows in sizes.items():
            if rows not in (None, self._num_nodes) and name not in single:
                raise GraphError(f"the feature store has {name} with {rows} rows for {self._num_nodes} nodes")
        self._nodes = {attr.attr_name: attr for attr in on_nodes if attr.attr_name not in (*single, "y")}
        self._edges = {attr.attr_name: attr for attr in on_edges}
        self._labels = next((attr for attr in on_nodes if attr.attr_name == "y"), None)
        self._graph = {
            attr.attr_name: self._fetched([attr], None)[attr.attr_name] for attr in on_nodes if attr.attr_name in single
        }

    def __repr__(self) -> str:
        stores = f"{short_repr(self.feature_store)}, {short_repr(self.graph_store)}"
        return f"StoreGraph({stores}, {self.num_nodes} nodes)"

    def _rows(self, attr: TensorAttr) -> int | None:
        size = self.feature_store.get_tensor_size(_at(attr, None))
        return None if size is None else int(size[0])

    def _counted(self, attrs: Sequence[TensorAttr]) -> int:
        if self._edge_attr.size is not None and self._edge_attr.size[1]:
            return int(self._edge_attr.size[1])
        found = max((self._rows(attr) or 0 for attr in attrs), default=0)
        if not found:
            raise GraphError("the stores do not say how many nodes the graph has: give num_nodes=…")
        return found

    @cached_property
    def adjacency(self) -> Adjacency:
        shared = self._index is None and isinstance(self.graph_store, Hashable)
        if shared and (known := _SORTED.get(self.graph_store)) is not None:
            return known
        found = self._sorted()
        if shared:
            _SORTED[self.graph_store] = found
        return found

    def _sorted(self) -> Adjacency:
        kept = None if self._index is None else kept_index(self._index)
        if self._index is not None and kept is not None and kept["nodes"] == self.num_nodes:
            return adjacency_files(self._index, kept["nodes"], kept["edges"], kept["origin"], _never)
        try:
            row, column = self.graph_store.get_edge_index(self._edge_attr)
        except KeyError as error:
            raise GraphError(f"the graph store has no edge_index of {self._edge_attr}: {error}") from error
        if self._edge_attr.layout == EdgeLayout.CSC:
            return self._checked(column.cpu(), row.cpu())
        sources = ptr2index(row).cpu() if self._edge_attr.layout == EdgeLayout.CSR else row.cpu()
        targets = column.cpu()
        if not len(targets) or len(sources) != len(targets):
            raise GraphError(f"the graph store has {len(sources)} sources and {len(targets)} targets of edges")

        def chunk(first: int, end: int) -> tuple[Numbers, Numbers]:
            return sources[first:end].numpy(), targets[first:end].numpy()

        origin = {"store": type(self.graph_store).__name__}
        if self._index is not None:
            return adjacency_files(self._index, self.num_nodes, len(targets), origin, chunk)
        temporary = Path(tempfile.mkdtemp(prefix="rcexplainer-"))
        try:
            found = adjacency_files(temporary / "in_edges", self.num_nodes, len(targets), origin, chunk)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        finalize(found, shutil.rmtree, temporary, ignore_errors=True)
        return found

    def _checked(self, ptr: Tensor, sources: Tensor) -> Adjacency:
        """Edges that are sorted already; nodes behind the last target have none."""
        if len(ptr) > self.num_nodes + 1 or not len(sources) or int(ptr[-1]) != len(sources):
            raise GraphError(
                f"the graph store has pointers to {int(ptr[-1])} edges of {len(ptr) - 1} nodes, but {len(sources)} "
                f"edges and {self.num_nodes} nodes"
            )
        if int(sources.min()) < 0 or int(sources.max()) >= self.num_nodes:
            wrong = int(sources.max()) if int(sources.max()) >= self.num_nodes else int(sources.min())
            raise GraphError(f"the graph has an edge to node {wrong}, but its nodes are 0 to {self.num_nodes - 1}")
        rest = ptr.new_full((self.num_nodes + 1 - len(ptr),), int(ptr[-1]))
        return Adjacency(torch.cat([ptr, rest]), sources)

    @property
    def num_nodes(self) -> int:
        return self._num_nodes

    @property
    def num_edges(self) -> int:
        return self.adjacency.num_edges

    @property
    def edge_keys(self) -> tuple[str, ...]:
        return tuple(self._edges)

    @property
    def graph_values(self) -> dict[str, Tensor]:
        return self._graph

    def node_values(self, nodes: Tensor) -> dict[str, Tensor]:
        return self._fetched(list(self._nodes.values()), nodes)

    def edge_values(self, columns: Tensor) -> dict[str, Tensor]:
        return self._fetched(list(self._edges.values()), columns)

    def labels(self, nodes: Tensor) -> Tensor | None:
        return None if self._labels is None else self._fetched([self._labels], nodes)["y"]

    def _fetched(self, attrs: list[TensorAttr], rows: Tensor | None) -> dict[str, Tensor]:
        """Some rows of the values, in one request; the store decides how it answers it."""
        if not attrs:
            return {}
        try:
            found = self.feature_store.multi_get_tensor([_at(attr, rows) for attr in attrs])
        except KeyError as error:
            names = ", ".join(attr.attr_name for attr in attrs)
            raise GraphError(f"the feature store has no rows of {names}, which it lists: {error}") from error
        if missing := [attr.attr_name for attr, value in zip(attrs, found, strict=True) if value is None]:
            raise GraphError(f"the feature store has no rows of {', '.join(missing)}, which it lists")
        values = {attr.attr_name: torch.as_tensor(value).cpu() for attr, value in zip(attrs, found, strict=True)}
        for name, value in values.items():
            if rows is not None and len(value) != len(rows):
                raise GraphError(f"the feature store returned {len(value)} rows of {name}, {len(rows)} were asked for")
        return values


def _edge_attr(store: GraphStore) -> EdgeAttr:
    """The edges of the one type that there must be, in the layout that costs least."""
    attrs = store.get_all_edge_attrs()
    if not attrs:
        raise GraphError("the graph store holds no edge_index: put_edge_index(…) adds one")
    types = {attr.edge_type for attr in attrs}
    if len(types) > 1:
        raise GraphError(
            f"the graph store has several types of edges ({', '.join(map(str, types))}): heterogeneous graphs are not "
            "supported"
        )
    return min(attrs, key=lambda attr: LAYOUTS.index(attr.layout))


def _of_edges(attr: TensorAttr) -> bool:
    return isinstance(getattr(attr, "group_name", None), tuple) or attr.attr_name in EDGE_NAMES


def _at(attr: TensorAttr, rows: Tensor | None) -> TensorAttr:
    found = copy(attr)
    if not found.is_set("group_name"):  # a graph with one type of nodes need not name it
        found.group_name = None
    found.index = rows
    return found


def _never(first: int, end: int) -> Any:
    raise GraphError("the index of the edges is damaged: delete its folder to have it built again")
