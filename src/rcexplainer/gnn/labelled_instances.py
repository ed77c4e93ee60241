"""Labelled graphs, nodes or links to train a network on: batches, logits, labels and accuracy, alike for every task."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.device import usable_device
from rcexplainer.gnn.graph_checks import check_labels
from rcexplainer.gnn.graph_store import GraphStore, delete_edges
from rcexplainer.gnn.models import GNN, GNNConfig

SCORE_BATCH = 1024  # graphs in one run without gradients


def _type(value: object) -> str:
    return f"{value.dtype} {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__


class LabelledInstances:
    """All labelled instances of a dataset, on one device: its graphs, or the nodes or links of its one graph.

    Args:
        graphs: The graphs; node and link tasks have one.
        config: The network they are for.
        device: Where to keep them; None for the CPU.

    Raises:
        GraphError: A graph has no labels, or labels or features do not fit the network.
    """

    def __init__(self, graphs: list[Data], config: GNNConfig, device: torch.device | str | None) -> None:
        self.device = usable_device(device)
        self.task = config.task
        self.key = "edge_label" if config.task == "link" else "y"
        if any(graph.get(self.key) is None for graph in graphs):
            raise GraphError(f"training needs labels: at least one graph has no `{self.key}`")
        if graphs[0].num_node_features != config.num_features:
            width = graphs[0].num_node_features
            raise GraphError(f"the graphs have {width} features per node, the model expects {config.num_features}")
        if self.task != "graph" and len(graphs) > 1:
            raise GraphError(f"a {self.task} task has one graph, got {len(graphs)}")
        for position, graph in enumerate(graphs):
            self._check_labels(graph, "the graph" if len(graphs) == 1 else f"graph {position}")
            if (shape := graph[self.key].dim()) != (first := graphs[0][self.key].dim()):
                raise GraphError(f"graph {position} has `{self.key}` of {shape} dimensions, the first graph of {first}")
        labels = torch.cat([graph[self.key].reshape(-1) for graph in graphs])
        if int(labels.min()) < 0 or int(labels.max()) >= config.num_classes:
            wrong = int(labels.min()) if int(labels.min()) < 0 else int(labels.max())
            last = config.num_classes - 1
            raise GraphError(f"there is a label {wrong}, but the model has {last + 1} classes, 0 to {last}")
        if self.task != "graph":
            self.whole: Data = graphs[0].to(self.device)
            self.count = len(labels)
        else:
            self.store = GraphStore(graphs, self.device)
            self.count = len(self.store)

    def _check_labels(self, graph: Data, where: str) -> None:
        """One whole number for each instance; the pairs of a link task are nodes of the graph."""
        labels, count = graph[self.key], 1
        if not isinstance(labels, Tensor) or labels.is_complex() or labels.is_meta:
            raise GraphError(f"{where} has `{self.key}` of type {_type(labels)}: it must be a tensor of whole numbers")
        check_labels(labels, where)
        if self.task == "node":
            count = int(graph.num_nodes or 0)
        if self.task == "link":
            pairs = graph.get("edge_label_index")
            if not isinstance(pairs, Tensor) or pairs.dim() != 2 or pairs.size(0) != 2 or pairs.dtype != torch.long:
                raise GraphError(f"{where} needs edge_label_index [2, n] of type torch.int64, got {_type(pairs)}")
            count = pairs.size(1)
            if count and not 0 <= int(pairs.min()) <= int(pairs.max()) < int(graph.num_nodes or 0):
                raise GraphError(f"{where} has edge_label_index with nodes that it does not have")
        if labels.numel() != count or not count:
            whole = self.task == "graph" and labels.numel() == int(graph.num_nodes or 0)
            raise GraphError(
                f"{where} has {labels.numel()} labels in `{self.key}`, it needs one for each of {count}"
                + ('; it has one for each node: with task="node" its nodes are the instances' if whole else "")
            )

    def batches(self, index: Tensor, size: int, shuffle: bool = False) -> Iterator[tuple[Data, Tensor | None]]:
        """Batches of the instances `index`.

        Args:
            index: Positions of instances.
            size: Graphs in a batch; nodes and links of one graph are always one batch.
            shuffle: Whether to take the graphs in random order.

        Yields:
            A batch, and the rows of its output to use; None for all of them.
        """
        if self.task != "graph":
            yield self.whole, index.to(self.device)
            return
        order = index[torch.randperm(len(index))] if shuffle else index
        for ids in order.split(size):
            yield self.store[ids], None

    def logits(self, model: GNN, batch: Data, rows: Tensor | None) -> Tensor:
        """The model's output for a batch, [instances, C]."""
        vector = batch.batch if isinstance(batch, Batch) else None
        out = model(batch.x, batch.edge_index, vector, batch.get("edge_weight"), batch.get("edge_label_index"))
        return out if rows is None else out[rows]

    def labels(self, batch: Data, rows: Tensor | None) -> Tensor:
        """The labels of a batch, [instances]."""
        labels = batch[self.key].reshape(-1).long()
        return labels if rows is None else labels[rows]

    def bare_loss(self, model: GNN, batch: Data, rows: Tensor | None, bare: Tensor) -> Tensor:
        """The cross-entropy on a copy of the graph without its edges.

        Args:
            model: The network.
            batch: The graph.
            rows: The nodes to use.
            bare: [C] the class that nodes of each class have without edges.
        """
        empty = delete_edges(batch, torch.ones(batch.num_edges, dtype=torch.bool, device=self.device))
        return F.cross_entropy(self.logits(model, empty, rows), bare.to(self.device)[self.labels(batch, rows)])

    @torch.no_grad()
    def score(self, model: GNN, index: Tensor) -> tuple[float, float]:
        """(accuracy, mean loss) on the instances `index`; NaN if there are none."""
        if not len(index):
            return float("nan"), float("nan")
        training = model.training
        model.eval()
        right = loss = torch.zeros((), device=self.device)
        for batch, rows in self.batches(index, SCORE_BATCH):
            logits, labels = self.logits(model, batch, rows), self.labels(batch, rows)
            right = right + (logits.argmax(1) == labels).sum()
            loss = loss + F.cross_entropy(logits, labels, reduction="sum")
        model.train(training)
        return float(right) / len(index), float(loss) / len(index)
