"""The datasets of the paper and more, with ground truth where it is known.

rc.datasets.load(name, root=None, seed=0)      a `GraphDataset`
rc.datasets.names()                            the names; `tu:NAME` and `csv:PATH` load any other set

The names below are loaded when they are first used: a list of the datasets needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rcexplainer.datasets.catalogue import load, names, task_of
    from rcexplainer.datasets.dataset import BadRow, GraphDataset, Split, stratified_split
    from rcexplainer.datasets.entries import DATASETS, FAMILIES

_MODULES = {
    "DATASETS": "entries",
    "FAMILIES": "entries",
    "BadRow": "dataset",
    "GraphDataset": "dataset",
    "Split": "dataset",
    "load": "catalogue",
    "names": "catalogue",
    "stratified_split": "dataset",
    "task_of": "catalogue",
}
__all__ = ["DATASETS", "FAMILIES", "BadRow", "GraphDataset", "Split", "load", "names", "stratified_split", "task_of"]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'rcexplainer.datasets' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"rcexplainer.datasets.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
