"""The datasets of the paper and more, with ground truth where it is known.

rc.datasets.load(name, root=None, seed=0)      a `GraphDataset`
rc.datasets.names()                            the names; `tu:NAME` and `csv:PATH` load any other set
"""

from rcexplainer.datasets.catalogue import DATASETS, FAMILIES, load, names, task_of
from rcexplainer.datasets.dataset import BadRow, GraphDataset, Split, stratified_split

__all__ = ["DATASETS", "FAMILIES", "BadRow", "GraphDataset", "Split", "load", "names", "stratified_split", "task_of"]
