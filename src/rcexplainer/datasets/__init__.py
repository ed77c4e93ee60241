"""Datasets of the paper and beyond: `load(name)`, `names()`."""

from rcexplainer.datasets.dataset import BadRow, GraphDataset, Split, stratified_split
from rcexplainer.datasets.registry import ENTRIES, FAMILIES, load, names, task_of

__all__ = ["ENTRIES", "FAMILIES", "BadRow", "GraphDataset", "Split", "load", "names", "stratified_split", "task_of"]
