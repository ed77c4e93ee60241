"""The datasets of the paper and more, with ground truth where it is known.

rc.datasets.load(name, root=None, seed=0)      a `GraphDataset`
rc.datasets.names()                            the names; `tu:NAME` and `csv:PATH` load any other set
rc.datasets.GraphTable(path)                   graphs in Parquet or CSV files, read as they are needed
rc.datasets.to_parquet(graphs, path)           writes such a file
rc.datasets.map_graph(data, path)              a graph as a folder of files; `MappedGraph(path)` opens it
rc.datasets.StoreGraph(features, edges)        a graph behind PyG's `FeatureStore` and `GraphStore`

The names below are loaded when they are first used: a list of the datasets needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rcexplainer.datasets.catalogue import load, names, task_of
    from rcexplainer.datasets.dataset import BadRow, GraphDataset, Split, stratified_split
    from rcexplainer.datasets.entries import DATASETS, FAMILIES
    from rcexplainer.datasets.graph_table import GraphTable
    from rcexplainer.datasets.parquet_rows import to_parquet
    from rcexplainer.sources.mapped_graph import MappedGraph, map_graph
    from rcexplainer.sources.store_graph import StoreGraph

_MODULES = {
    "DATASETS": "datasets.entries",
    "FAMILIES": "datasets.entries",
    "BadRow": "datasets.dataset",
    "GraphDataset": "datasets.dataset",
    "GraphTable": "datasets.graph_table",
    "MappedGraph": "sources.mapped_graph",
    "Split": "datasets.dataset",
    "StoreGraph": "sources.store_graph",
    "load": "datasets.catalogue",
    "map_graph": "sources.mapped_graph",
    "names": "datasets.catalogue",
    "stratified_split": "datasets.dataset",
    "task_of": "datasets.catalogue",
    "to_parquet": "datasets.parquet_rows",
}
__all__ = [
    "DATASETS",
    "FAMILIES",
    "BadRow",
    "GraphDataset",
    "GraphTable",
    "MappedGraph",
    "Split",
    "StoreGraph",
    "load",
    "map_graph",
    "names",
    "stratified_split",
    "task_of",
    "to_parquet",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'rcexplainer.datasets' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"rcexplainer.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
