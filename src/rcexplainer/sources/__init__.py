"""Where the nodes and edges of one large graph come from: memory, files that are mapped, or a store of PyG's.

`GraphSource` is all that nodes and links need to know of a graph: which edges lead to some nodes, and the values of
some nodes and edges. Computation graphs are cut from it batch by batch, and only they are moved to a device.
"""

from rcexplainer.sources.graph_source import AnyGraph, GraphSource, MemoryGraph, as_source
from rcexplainer.sources.mapped_graph import MappedGraph, map_graph
from rcexplainer.sources.store_graph import StoreGraph, is_store_pair

__all__ = [
    "AnyGraph",
    "GraphSource",
    "MappedGraph",
    "MemoryGraph",
    "StoreGraph",
    "as_source",
    "is_store_pair",
    "map_graph",
]
