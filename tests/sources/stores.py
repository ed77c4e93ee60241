"""A feature store and a graph store in memory that count what is fetched from them."""

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.feature_store import FeatureStore, TensorAttr
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout, GraphStore
from torch_geometric.index import index2ptr

EDGES = ("item", "to", "item")


class Features(FeatureStore):
    """Tensors by name; `rows` counts the rows that were fetched of each."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, Tensor] = {}
        self.groups: dict[str, object] = {}
        self.rows: dict[str, int] = {}

    def _put_tensor(self, tensor: Tensor, attr: TensorAttr) -> bool:
        self.values[attr.attr_name], self.groups[attr.attr_name] = tensor, attr.group_name
        return True

    def _get_tensor(self, attr: TensorAttr) -> Tensor | None:
        if attr.attr_name not in self.values:
            return None
        found = self.values[attr.attr_name]
        found = found if attr.index is None else found[attr.index]
        self.rows[attr.attr_name] = self.rows.get(attr.attr_name, 0) + len(found)
        return found

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        return self.values.pop(attr.attr_name, None) is not None

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...]:
        return tuple(self.values[attr.attr_name].shape)

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        return [TensorAttr(group, name) for name, group in self.groups.items()]


class Edges(GraphStore):
    """Edges in one or more layouts; `fetched` counts how often they were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[EdgeLayout, tuple[EdgeAttr, tuple[Tensor, Tensor]]] = {}
        self.fetched = 0

    def _put_edge_index(self, edge_index: tuple[Tensor, Tensor], edge_attr: EdgeAttr) -> bool:
        self.held[edge_attr.layout] = edge_attr, edge_index
        return True

    def _get_edge_index(self, edge_attr: EdgeAttr) -> tuple[Tensor, Tensor] | None:
        self.fetched += 1
        held = self.held.get(edge_attr.layout)
        return None if held is None else held[1]

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        return self.held.pop(edge_attr.layout, None) is not None

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        return [attr for attr, _ in self.held.values()]


def stores(graph: Data, layout: str = "coo") -> tuple[Features, Edges]:
    """A graph in stores; in the layouts other than COO its edges must be sorted as they are stored."""
    features, edges = Features(), Edges()
    for name in ("x", "edge_weight", "y"):
        if name in graph:
            group = EDGES if name == "edge_weight" else "item"
            features.put_tensor(graph[name], group_name=group, attr_name=name, index=None)
    row, column = graph.edge_index
    if layout == "csc":
        column = index2ptr(column, graph.num_nodes)
    elif layout == "csr":
        row = index2ptr(row, graph.num_nodes)
    edges.put_edge_index((row, column), edge_type=EDGES, layout=layout, size=(graph.num_nodes, graph.num_nodes))
    return features, edges


def random_graph(num_nodes: int = 200, num_edges: int = 700, seed: int = 0) -> Data:
    """A directed graph with loops, duplicates and edge weights, and nodes without edges."""
    random = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(num_nodes - 5, (2, num_edges), generator=random)
    return Data(
        x=torch.randn(num_nodes, 8, generator=random),
        edge_index=edge_index,
        edge_weight=torch.rand(num_edges, generator=random) + 0.5,
        y=torch.randint(3, (num_nodes,), generator=random),
    )


def sorted_by(graph: Data, end: int) -> Data:
    """The graph with its edges sorted by source (0) or target (1)."""
    order = graph.edge_index[end].argsort(stable=True)
    return Data(x=graph.x, edge_index=graph.edge_index[:, order], edge_weight=graph.edge_weight[order], y=graph.y)
