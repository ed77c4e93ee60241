"""Graphs and instances one after the other, and in chunks that can be run together; memory is bounded by a chunk."""

from collections.abc import Iterable, Iterator

from torch import Tensor
from torch_geometric.data import Data, HeteroData

from rcexplainer.errors import GraphError
from rcexplainer.gnn.graph_checks import Graphs, attributes, iter_graphs
from rcexplainer.tasks.computation_graph import Asked

# Prefixes and single deletions are asked all at once, so a chunk of graphs is bounded by the sum of their squares.
CHUNK_GRAPHS, CHUNK_PAIRS = 512, 1 << 24


def each(graphs: Graphs) -> Iterator[Data | Exception]:
    """The graphs one after the other; what is none is an error in its place."""
    if isinstance(graphs, Data) or not isinstance(graphs, Iterable) or isinstance(graphs, str | Tensor | HeteroData):
        yield from iter_graphs(graphs)
        return
    for item in graphs:
        try:
            yield from list(iter_graphs(item))
        except GraphError as error:
            yield error


def chunks(asked: Iterator[Asked | Exception]) -> Iterator[list[Asked | Exception]]:
    """Instances that can be batched: with the same attributes, and not too many of them."""
    chunk: list[Asked | Exception] = []
    pairs, kind = 0, None
    for one in asked:
        cost = 0 if isinstance(one, Exception) else one.instance.num_edges**2
        own = kind if isinstance(one, Exception) else attributes(one.instance)
        pairs += cost
        full = len(chunk) == CHUNK_GRAPHS or pairs > CHUNK_PAIRS
        if chunk and (full or (kind is not None and own != kind)):
            yield chunk
            chunk, pairs = [], cost
        chunk.append(one)
        kind = own
    if chunk:
        yield chunk
