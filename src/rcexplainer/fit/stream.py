"""Graphs that need not fit in memory: they are opened, and go by in checked chunks, once."""

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader

from rcexplainer.errors import GraphError
from rcexplainer.gnn.graph_checks import (
    GraphKind,
    Graphs,
    check_devices,
    check_member,
    check_single_label,
    list_graphs,
    stream,
)
from rcexplainer.gnn.split import SplitModel
from rcexplainer.gnn.store_checks import check_all

FitGraphs: TypeAlias = Graphs | str | Path

CHUNK_GRAPHS, CHUNK_EDGES = 1024, 1 << 18  # graphs of a chunk, and edges at which it ends


@dataclass(frozen=True, eq=False)
class OpenedGraphs:
    """Graphs of which the first are in memory.

    Attributes:
        first: The first graphs, or all of them.
        rest: Gives the others, once; None: there are no others.
        count: Number of all graphs, if it is known.
        name: What to call a graph in errors.
    """

    first: list[Data]
    rest: Iterator[Data] | None = None
    count: int | None = None
    name: str = "graph"

    def chunks(self, split: SplitModel) -> Iterator[list[Data]]:
        """Read all graphs, check them, and give them in pieces that are bounded in number and size.

        Args:
            split: The model that they are for.

        Raises:
            GraphError: A graph is malformed or unlike the first; it is named by its position.
        """
        kind, start = GraphKind.of(self.first[0]), 0
        for chunk in _pieces(chain(self.first, self.rest or ())):
            if not _sound(split, chunk, kind):
                for place, graph in enumerate(chunk, start):
                    where = f"{self.name} {place}"
                    check_devices(split.model, [graph], where)
                    check_member(graph, where, kind)
                    check_single_label([graph], where)
            yield chunk
            start += len(chunk)


def open_graphs(graphs: FitGraphs, size: int | None, device: torch.device | None, name: str = "graph") -> OpenedGraphs:
    """Read the first graphs of a stream, or all where they are few or in memory already.

    Args:
        graphs: Graphs in memory, or an iterable or the path of a table that need not fit there.
        size: Number of graphs of a stream to read; None: all.
        device: Where to copy graphs to; None: they stay where they are.
        name: What to call a graph in errors.

    Raises:
        GraphError: There are none, or something else than a graph is among them.
    """
    source = _table(graphs) if isinstance(graphs, str | Path) else graphs
    if size is None or _in_memory(source):
        found = list_graphs(source)
        return OpenedGraphs(found if device is None else list(_graphs(found, device, name)), name=name)
    given = _graphs(source, device, name)
    first = list(islice(given, size + 1))
    if not first:
        raise GraphError(
            "the dataset is empty: at least one graph is needed. A generator can be read once: if this one was read "
            "before, make a new one, or give an object whose __iter__ starts anew"
        )
    if len(first) <= size:
        return OpenedGraphs(first, name=name)
    known = isinstance(source, Sized) and not isinstance(source, DataLoader)  # which counts batches
    return OpenedGraphs(first, given, len(source) if known else None, name)  # type: ignore[arg-type]


def _table(path: str | Path) -> Iterable[Data]:
    from rcexplainer.datasets.graph_table import GraphTable

    return GraphTable(path)


def _in_memory(graphs: object) -> bool:
    """Whether all graphs are in memory already; what is no collection at all is refused when it is listed."""
    return isinstance(graphs, Data | HeteroData | list | tuple | InMemoryDataset) or not isinstance(graphs, Iterable)


def _graphs(graphs: Graphs, device: torch.device | None, name: str) -> Iterator[Data]:
    for place, graph in enumerate(stream(graphs, device)):
        if isinstance(graph, Exception):
            raise GraphError(f"{name} {place} cannot be used: {graph}")
        yield graph


def _pieces(graphs: Iterable[Data]) -> Iterator[list[Data]]:
    piece: list[Data] = []
    edges = 0
    for graph in graphs:
        piece.append(graph)
        edges += graph.edge_index.size(-1) if isinstance(graph.edge_index, Tensor) else 0
        if len(piece) == CHUNK_GRAPHS or edges >= CHUNK_EDGES:
            yield piece
            piece, edges = [], 0
    if piece:
        yield piece


def _sound(split: SplitModel, chunk: list[Data], kind: GraphKind) -> bool:
    """Whether the model can be run on all of them; they are checked together, which is much faster than one by one."""
    try:
        check_devices(split.model, chunk)
        check_all(chunk)
        check_single_label(chunk)
    except GraphError:
        return False
    return GraphKind.of(chunk[0]) == kind
