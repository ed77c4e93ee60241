"""A dataset: graphs, the meaning of their numbers, and a split that is the same on every machine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets.entries import TaskName
from rcexplainer.errors import DatasetError
from rcexplainer.short_repr import ShortRepr, short_repr

OUTSIDE = -1  # the motif id of nodes and edges that belong to no motif


@dataclass(frozen=True, repr=False)
class Split(ShortRepr):
    """Positions of the training, validation and test instances.

    Instances are graphs, or the nodes or node pairs of a single graph.

    Attributes:
        train: Positions for training.
        val: Positions for validation.
        test: Positions for the final evaluation.
    """

    train: Tensor
    val: Tensor
    test: Tensor


@dataclass(frozen=True, repr=False)
class BadRow(ShortRepr):
    """A row of a user's file that could not be read and was left out.

    Attributes:
        row: Its line in the file.
        value: Its SMILES.
        reason: What is wrong with it.
    """

    row: int
    value: str
    reason: str


@dataclass(frozen=True, repr=False)
class GraphDataset:
    """Graphs, their split, and their ground truth where it is known.

    With ground truth (`has_ground_truth`), every `Data` carries `edge_motif` (bool, one per column of `edge_index`) and
    `edge_motif_id` (the motif an edge belongs to, −1 outside).

    Attributes:
        name: The name it was loaded by.
        task: What its instances are: "graph", "node" or "link".
        graphs: The graphs; one for node and link sets.
        split: Positions of training, validation and test instances.
        class_names: The name of every class.
        node_names: What each one-hot node feature means, such as an element; empty if unknown.
        edge_names: What each one-hot entry of `edge_attr` means, such as a bond type; empty if unknown.
        bad_rows: The rows of a user's file that were left out.
    """

    name: str
    task: TaskName
    graphs: tuple[Data, ...]
    split: Split
    class_names: tuple[str, ...]
    node_names: tuple[str, ...] = ()
    edge_names: tuple[str, ...] = ()
    bad_rows: tuple[BadRow, ...] = ()

    def __repr__(self) -> str:
        held = f"{len(self)} graphs" if self.task == "graph" else f"one graph for {self.task}s"
        parts = ", ".join(f"{len(getattr(self.split, part))} {part}" for part in ("train", "val", "test"))
        left_out = f", {len(self.bad_rows)} rows left out" if self.bad_rows else ""
        return f"GraphDataset({self.name!r}, {held}: {parts}; classes {short_repr(self.class_names)}{left_out})"

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, position: int) -> Data:
        return self.graphs[position]

    @property
    def graph(self) -> Data:
        """The single graph of a node or link set.

        Raises:
            DatasetError: For a graph set.
        """
        if self.task == "graph":
            raise DatasetError(f"{self.name} holds {len(self)} graphs; .graph is for node and link sets, use .graphs")
        return self.graphs[0]

    def at_most(self, nodes: int) -> "GraphDataset":
        """The graphs with at most this many nodes, each in the part of the split it was in.

        Args:
            nodes: Largest number of nodes.
        """
        small = torch.tensor([int(graph.num_nodes or 0) <= nodes for graph in self.graphs])
        place = small.long().cumsum(0) - 1
        parts = (part[small[part]] for part in (self.split.train, self.split.val, self.split.test))
        graphs = tuple(graph for graph, kept in zip(self.graphs, small.tolist(), strict=True) if kept)
        return replace(self, graphs=graphs, split=Split(*(place[part] for part in parts)))

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def labels(self) -> Tensor:
        """The class of every instance: graph, node or node pair."""
        key = "edge_label" if self.task == "link" else "y"
        return torch.cat([graph[key].reshape(-1) for graph in self.graphs])

    @property
    def num_features(self) -> int:
        """Number of node features."""
        return int(self.graphs[0].num_node_features)

    @property
    def has_ground_truth(self) -> bool:
        """Whether the graphs carry `edge_motif` and `edge_motif_id`."""
        return "edge_motif" in self.graphs[0]

    def subset(self, part: Literal["train", "val", "test"]) -> list[Data]:
        """Return the graphs of one part of the split.

        Args:
            part: "train", "val" or "test".

        Returns:
            The graphs.

        Raises:
            DatasetError: For a node or link set, which has one graph only.
        """
        if part not in ("train", "val", "test"):
            raise DatasetError(f"a part is train, val or test, got {part!r}")
        if self.task != "graph":
            raise DatasetError(f"{self.name} is one graph: its parts are positions of {self.task}s, use .split.{part}")
        return [self.graphs[position] for position in getattr(self.split, part).tolist()]


def check_seed(seed: object) -> None:
    """Refuse a seed that numpy's `RandomState` does not take.

    Args:
        seed: As it was given.

    Raises:
        DatasetError: It is no whole number, negative or too large.
    """
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= int(seed) < 2**32:
        raise DatasetError(f"seed must be a whole number from 0 to 2³²−1, got {seed}")


def stratified_split(labels: Tensor | Sequence[int], seed: int, shares: tuple[float, float] = (0.8, 0.1)) -> Split:
    """Split instances at random, with the same shares of every class.

    All classes are interleaved into one order before it is cut, so the parts have the right size even where a class is
    small.

    Args:
        labels: The class of every instance.
        seed: Random seed.
        shares: Shares of the training and validation instances; the rest are test instances.

    Returns:
        The split, each part in ascending order.

    Raises:
        DatasetError: The seed is none of numpy's.
    """
    check_seed(seed)
    classes = np.asarray(labels).reshape(-1)
    # numpy guarantees that RandomState's stream never changes, unlike Generator's: splits must not change either.
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
