"""Training a GNN: Adam on the cross-entropy, keeping the weights that do best on the validation instances."""

import copy
import logging
import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from tqdm.auto import tqdm

from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.gnn.graph_checks import as_graphs
from rcexplainer.gnn.graph_store import GraphStore, delete_edges
from rcexplainer.gnn.models import GNN, GNNConfig

log = logging.getLogger(__name__)


class Parts(Protocol):
    """Positions of the instances of each part: graphs, or nodes of the one graph."""

    @property
    def train(self) -> Tensor: ...
    @property
    def val(self) -> Tensor: ...
    @property
    def test(self) -> Tensor: ...


@dataclass(frozen=True)
class TrainConfig:
    """How long and how fast. `patience` counts epochs without a better validation accuracy or loss."""

    epochs: int = 300
    lr: float = 0.005
    weight_decay: float = 0.0
    batch_size: int = 128
    patience: int = 60
    # Node sets: what nodes of each class count as in a copy of the graph without its edges, on which the network is
    # trained too. Left to itself it takes a node without edges for whatever has the fewest of them.
    without_edges: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        sane = 0 < self.lr < math.inf and 0 <= self.weight_decay < math.inf
        if min(self.epochs, self.batch_size, self.patience) < 1 or not sane:
            raise RCExplainerError(f"epochs, batch_size, patience ≥ 1, lr > 0, weight_decay ≥ 0 are needed, got {self}")


BARE = 0.3  # what the copy without edges weighs, the graph itself 1
# Node and link sets are one graph: an epoch is a single step, so there are more of them.
DEFAULTS = {
    "graph": TrainConfig(),
    "node": TrainConfig(epochs=3000, lr=0.01, patience=600),
    "link": TrainConfig(epochs=200, lr=0.01, weight_decay=0.001, patience=200),
}


@dataclass(frozen=True)
class TrainedGNN:
    """A trained network and how it does, on each part of the split."""

    model: GNN
    accuracy: dict[str, float]
    best_epoch: int
    seconds: float
    seed: int


def train_gnn(
    config: GNNConfig,
    graphs: Sequence[Data],
    parts: Parts,
    *,
    settings: TrainConfig | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> TrainedGNN:
    """Train on `parts.train`, choose the epoch on `parts.val`, report the accuracy on all three parts."""
    settings = settings or DEFAULTS[config.task]
    instances = _Instances(as_graphs(graphs), config, device)
    for name, part in (("training", parts.train), ("validation", parts.val)):
        if not len(part):
            count = instances.count
            raise GraphError(f"the {name} part is empty: {count} instances are too few to split, or were split wrongly")
        if int(part.min()) < 0 or int(part.max()) >= instances.count:
            raise GraphError(f"the {name} part names instance {int(part.max())}, there are {instances.count}")
    bare = _bare_classes(settings, config)
    started = time.perf_counter()
    with seeded(seed):
        model = GNN(config).to(instances.device)
        optimizer = torch.optim.Adam(model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.epochs, settings.lr / 20)
        best, best_score, best_epoch = copy.deepcopy(model.state_dict()), (-1.0, 0.0), -1
        bar = tqdm(range(settings.epochs), desc=f"training {config.conv}", unit="epoch", disable=not progress)
        for epoch in bar:
            model.train()
            for batch, rows in instances.batches(parts.train, settings.batch_size, shuffle=True):
                optimizer.zero_grad()
                loss = F.cross_entropy(instances.logits(model, batch, rows), instances.labels(batch, rows))
                if bare is not None:
                    loss = loss + BARE * instances.bare_loss(model, batch, rows, bare)
                loss.backward()
                optimizer.step()
            schedule.step()
            right, loss_val = instances.score(model, parts.val)
            # Accuracy first; the loss decides between epochs that get the same instances right.
            if (right, -loss_val) > best_score:
                best, best_score, best_epoch = copy.deepcopy(model.state_dict()), (right, -loss_val), epoch
            bar.set_postfix(val=f"{right:.3f}", best=f"{best_score[0]:.3f}")
            if epoch - best_epoch >= settings.patience:
                break
        bar.close()
        model.load_state_dict(best)
        model.eval()
    seconds = time.perf_counter() - started
    accuracies = {part: instances.score(model, getattr(parts, part))[0] for part in ("train", "val", "test")}
    log.info("trained %s in %.1f s, best epoch %d: %s", config.conv, seconds, best_epoch, accuracies)
    return TrainedGNN(model, accuracies, best_epoch, seconds, seed)


def _bare_classes(settings: TrainConfig, config: GNNConfig) -> Tensor | None:
    """[C] the class of nodes of each class once they have no edges; None where nothing is said about it."""
    classes = settings.without_edges
    if not classes:
        return None
    if config.task != "node":
        raise RCExplainerError(f"without_edges is for node tasks, this is a {config.task} task")
    if len(classes) != config.num_classes or not all(0 <= label < config.num_classes for label in classes):
        raise RCExplainerError(f"without_edges must name a class for each of the {config.num_classes}, got {classes}")
    return torch.tensor(classes)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside: torch's random numbers follow from `seed`, and sums on a GPU are taken in a fixed order.

    The caller's own stream and settings are left as they were.
    """
    # cuBLAS is repeatable only with a workspace of its own, and reads this when it is first used.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    fixed, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(fixed, warn_only=warned)


def usable_device(name: torch.device | str | None) -> torch.device:
    """The device of this name, the CPU if none is named; an error where this machine has no such device."""
    try:
        device = torch.device(name or "cpu")
        torch.zeros(1, device=device).item()  # the device `meta` exists, but holds no numbers
    except (RuntimeError, AssertionError) as error:
        raise RCExplainerError(f"device {str(name)!r} cannot be used here: {str(error).splitlines()[0]}") from error
    return device


def accuracy(model: nn.Module, graphs: Sequence[Data], index: Tensor | None = None) -> float:
    """Share of instances a `GNN` gets right: of the graphs, or of the nodes `index` of the one graph."""
    if not isinstance(model, GNN):
        raise RCExplainerError(f"accuracy() is for rcexplainer's own GNN, got {type(model).__name__}")
    instances = _Instances(as_graphs(graphs), model.config, next(model.parameters()).device)
    everything = torch.arange(instances.count) if index is None else index
    return instances.score(model, everything)[0]


class _Instances:
    """All tasks behind one face: batches of instances, their logits and labels, on the device."""

    def __init__(self, graphs: list[Data], config: GNNConfig, device: torch.device | str | None) -> None:
        self.device = usable_device(device)
        self.task = config.task
        self.key = "edge_label" if config.task == "link" else "y"
        if any(graph.get(self.key) is None for graph in graphs):
            raise GraphError(f"training needs labels: at least one graph has no `{self.key}`")
        if graphs[0].num_node_features != config.num_features:
            width = graphs[0].num_node_features
            raise GraphError(f"the graphs have {width} features a node, the model expects {config.num_features}")
        labels = torch.cat([graph[self.key].reshape(-1) for graph in graphs])
        if int(labels.min()) < 0 or int(labels.max()) >= config.num_classes:
            wrong = int(labels.min()) if int(labels.min()) < 0 else int(labels.max())
            last = config.num_classes - 1
            raise GraphError(f"a label is {wrong}, but the model has {last + 1} classes, 0 to {last}")
        if self.task != "graph":
            self.whole: Data = graphs[0].to(self.device)
            self.count = len(labels)
        else:
            self.store = GraphStore(graphs, self.device)
            self.count = len(self.store)

    def batches(self, index: Tensor, size: int, shuffle: bool = False) -> Iterator[tuple[Data, Tensor | None]]:
        """(batch, the rows of its output that count); nodes or links of one graph are one batch."""
        if self.task != "graph":
            yield self.whole, index.to(self.device)
            return
        order = index[torch.randperm(len(index))] if shuffle else index
        for ids in order.split(size):
            yield self.store[ids], None

    def logits(self, model: GNN, batch: Data, rows: Tensor | None) -> Tensor:
        vector = batch.batch if isinstance(batch, Batch) else None
        out = model(batch.x, batch.edge_index, vector, batch.get("edge_weight"), batch.get("edge_label_index"))
        return out if rows is None else out[rows]

    def labels(self, batch: Data, rows: Tensor | None) -> Tensor:
        labels = batch[self.key].reshape(-1).long()
        return labels if rows is None else labels[rows]

    def bare_loss(self, model: GNN, batch: Data, rows: Tensor | None, bare: Tensor) -> Tensor:
        """The cross-entropy on a copy of the graph without its edges."""
        empty = delete_edges(batch, torch.ones(batch.num_edges, dtype=torch.bool, device=self.device))
        return F.cross_entropy(self.logits(model, empty, rows), bare.to(self.device)[self.labels(batch, rows)])

    @torch.no_grad()
    def score(self, model: GNN, index: Tensor) -> tuple[float, float]:
        """(accuracy, mean loss) of the instances `index`."""
        if not len(index):
            return float("nan"), float("nan")
        training = model.training
        model.eval()
        right = loss = torch.zeros((), device=self.device)
        for batch, rows in self.batches(index, 1024):
            logits, labels = self.logits(model, batch, rows), self.labels(batch, rows)
            right = right + (logits.argmax(1) == labels).sum()
            loss = loss + F.cross_entropy(logits, labels, reduction="sum")
        model.train(training)
        return float(right) / len(index), float(loss) / len(index)
