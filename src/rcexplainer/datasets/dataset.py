"""What `load` returns: graphs, what their numbers mean, and a split that is the same on every machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import DatasetError

Task = Literal["graph", "node", "link"]


@dataclass(frozen=True)
class Split:
    """Positions of the training, validation and test instances: graphs, or nodes or pairs of the one graph."""

    train: Tensor
    val: Tensor
    test: Tensor


@dataclass(frozen=True)
class BadRow:
    """A row of a user's file that could not be read; the others were."""

    row: int
    value: str
    reason: str


@dataclass(frozen=True)
class GraphDataset:
    """Graphs with ground truth.

    Every `Data` carries `edge_motif` (boolean, one per column of `edge_index`) and `edge_motif_id`
    (which motif the edge belongs to, −1 outside) where ground truth is known; see `has_ground_truth`.
    """

    name: str
    task: Task
    graphs: tuple[Data, ...]
    split: Split
    class_names: tuple[str, ...]
    node_names: tuple[str, ...] = ()  # what a one-hot node feature stands for, e.g. the atom
    edge_names: tuple[str, ...] = ()  # the same for `edge_attr`, e.g. the bond
    bad_rows: tuple[BadRow, ...] = ()

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, position: int) -> Data:
        return self.graphs[position]

    @property
    def graph(self) -> Data:
        """The one graph of a node or link set."""
        if self.task == "graph":
            raise DatasetError(f"{self.name} holds {len(self)} graphs; .graph is for node and link sets, use .graphs")
        return self.graphs[0]

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    @property
    def labels(self) -> Tensor:
        """The class of every instance: graph, node or pair."""
        key = "edge_label" if self.task == "link" else "y"
        return torch.cat([graph[key].reshape(-1) for graph in self.graphs])

    @property
    def num_features(self) -> int:
        return int(self.graphs[0].num_node_features)

    @property
    def has_ground_truth(self) -> bool:
        return "edge_motif" in self.graphs[0]

    def subset(self, part: Literal["train", "val", "test"]) -> list[Data]:
        """The graphs of one part of the split (graph sets only)."""
        if self.task != "graph":
            raise DatasetError(f"{self.name} is one graph: its parts are positions of {self.task}s, use .split.{part}")
        return [self.graphs[position] for position in getattr(self.split, part).tolist()]


def stratified_split(labels: Tensor | Sequence[int], seed: int, shares: tuple[float, float] = (0.8, 0.1)) -> Split:
    """Draw train and validation shares within every class; the rest is the test set.

    The cuts of all classes are taken along one interleaved order, so that the parts have the right size
    also where a class is small.
    """
    classes = np.asarray(labels).reshape(-1)
    # RandomState's stream is frozen by numpy's own policy, Generator's is not: splits must never change.
    random = np.random.RandomState(seed)
    shuffled = random.permutation(len(classes))
    quantile = np.empty(len(classes))
    for value in np.unique(classes):
        members = shuffled[classes[shuffled] == value]
        quantile[members] = (np.arange(len(members)) + 0.5) / len(members)
    order = shuffled[np.argsort(quantile[shuffled], kind="stable")]
    first = round(shares[0] * len(order))
    second = first + round(shares[1] * len(order))
    parts = (np.sort(part) for part in (order[:first], order[first:second], order[second:]))
    return Split(*(torch.from_numpy(part.astype(np.int64)) for part in parts))
