"""A graph that is read in parts: the one interface through which nodes and links know the graph around them."""

from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.sources.adjacency import Adjacency
from rcexplainer.sources.attribute_levels import EDGE_LEVEL, attribute_levels

MAX_EDGES = 1 << 20  # edges that are read for one computation graph of a graph that is not in memory


class GraphSource(ABC):
    """The edges into some nodes, and the values of some nodes and edges.

    Attributes:
        max_edges: The most edges that may be read for one computation graph, so that a hub cannot fill the memory;
            None: no bound.
        device: Where computation graphs are needed; the graph itself stays where it is.
    """

    max_edges: int | None = None
    device: torch.device = torch.device("cpu")

    @property
    @abstractmethod
    def adjacency(self) -> Adjacency:
        """The edges by their targets; built when it is first needed, and kept."""

    @property
    @abstractmethod
    def num_nodes(self) -> int:
        """The number of nodes."""

    @property
    @abstractmethod
    def num_edges(self) -> int:
        """The number of edges, columns of `edge_index`."""

    @property
    @abstractmethod
    def edge_keys(self) -> tuple[str, ...]:
        """Names of the values that edges have."""

    @property
    @abstractmethod
    def graph_values(self) -> dict[str, Tensor]:
        """Values [1, …] of the whole graph."""

    @abstractmethod
    def node_values(self, nodes: Tensor) -> dict[str, Tensor]:
        """The values [n, …] of some nodes [n], without labels."""

    @abstractmethod
    def edge_values(self, columns: Tensor) -> dict[str, Tensor]:
        """The values [n, …] of the edges in some columns [n] of `edge_index`."""

    @abstractmethod
    def labels(self, nodes: Tensor) -> Tensor | None:
        """The labels [n] of some nodes [n]; None if they have none."""

    @property
    def graph(self) -> "AnyGraph":
        """The graph that explanations refer to."""
        return self

    def on(self, device: torch.device | None) -> "GraphSource":
        """The same graph, with computation graphs on a device; None: on the CPU."""
        _ = self.adjacency  # so that the copy shares it
        other = copy(self)
        other.device = device or torch.device("cpu")
        return other

    def get(self, key: str, default: Any = None) -> Any:
        """An attribute of the whole graph, as `Data.get`; only values with a single row are ever held."""
        return self.graph_values.get(key, default)

    def __contains__(self, key: str) -> bool:
        return key in self.graph_values

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a {type(self).__name__} has no attribute {name!r}: it is not in memory; the part that an explanation is "
            "about is explanation.computation, with node_ids and edge_ids"
        )

    def part(self, nodes: Tensor, columns: Tensor, ends: Tensor) -> Data:
        """A part of the graph, with labels, where computation graphs are needed.

        Args:
            nodes: [n] ids of its nodes.
            columns: [e] columns of its edges.
            ends: [2, e] the edges between positions among the nodes.
        """
        values = {**self.node_values(nodes), **self.edge_values(columns), **self.graph_values}
        if (labels := self.labels(nodes)) is not None:
            values["y"] = labels
        listed = {EDGE_LEVEL: ",".join(self.edge_keys)}
        return Data(edge_index=ends, num_nodes=len(nodes), **values, **listed).to(self.device)

    def blank(self) -> Data:
        """One node with a self-loop whose values have the types and widths of the graph's, all of them zero."""
        first = torch.zeros(1, dtype=torch.long)
        loop = self.part(first, first[: self.num_edges], torch.zeros(2, min(1, self.num_edges), dtype=torch.long))
        return loop.apply(torch.zeros_like)


class MemoryGraph(GraphSource):
    """A graph in memory; lookups take place on its device.

    Args:
        data: The graph.
    """

    def __init__(self, data: Data) -> None:
        self.data, self.levels = data, attribute_levels(data)
        self.device = data.edge_index.device

    @cached_property
    def adjacency(self) -> Adjacency:
        return Adjacency.of(self.data.edge_index, self.num_nodes)

    @property
    def num_nodes(self) -> int:
        return int(self.data.num_nodes or 0)

    @property
    def num_edges(self) -> int:
        return int(self.data.num_edges)

    @property
    def edge_keys(self) -> tuple[str, ...]:
        return self.levels.edge

    @property
    def graph_values(self) -> dict[str, Tensor]:
        return {key: self.data[key] for key in self.levels.graph}

    def node_values(self, nodes: Tensor) -> dict[str, Tensor]:
        return {key: self.data[key][nodes] for key in self.levels.node}

    def edge_values(self, columns: Tensor) -> dict[str, Tensor]:
        return {key: self.data[key][columns] for key in self.levels.edge}

    def labels(self, nodes: Tensor) -> Tensor | None:
        y = self.data.get("y")
        return y[nodes] if isinstance(y, Tensor) and y.dim() and len(y) == self.num_nodes else None

    @property
    def graph(self) -> Data:
        return self.data


AnyGraph: TypeAlias = Data | GraphSource


def as_source(graph: AnyGraph) -> GraphSource:
    """A graph in memory as a source; a source as it is."""
    return graph if isinstance(graph, GraphSource) else MemoryGraph(graph)
