"""The datasets of the paper and more, with ground truth where it is known.

rc.datasets.load(name, root=None, seed=0)      a `GraphDataset`
rc.datasets.names()                            the names; `tu:NAME` and `csv:PATH` load any other set
rc.datasets.GraphTable(path)                   graphs in Parquet or CSV files, read as they are needed
rc.datasets.to_parquet(graphs, path)           writes such a file

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

_MODULES = {
    "DATASETS": "entries",
    "FAMILIES": "entries",
    "BadRow": "dataset",
    "GraphDataset": "dataset",
    "GraphTable": "graph_table",
    "Split": "dataset",
    "load": "catalogue",
    "names": "catalogue",
    "stratified_split": "dataset",
    "task_of": "catalogue",
    "to_parquet": "parquet_rows",
}
__all__ = [
    "DATASETS",
    "FAMILIES",
    "BadRow",
    "GraphDataset",
    "GraphTable",
    "Split",
    "load",
    "names",
    "stratified_split",
    "task_of",
    "to_parquet",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'rcexplainer.datasets' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"rcexplainer.datasets.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
