"""Training a GNN: Adam on the cross-entropy; by default the weights of the best epoch on validation are kept."""

import copy
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing
from tqdm.auto import tqdm

from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.gnn.forward import TaskName
from rcexplainer.gnn.graph_checks import as_graphs
from rcexplainer.gnn.labelled_instances import LabelledInstances
from rcexplainer.gnn.models import GNN, GNNConfig, is_real, is_whole
from rcexplainer.gnn.seed import seeded
from rcexplainer.gnn.training_state import BestEpoch, restore_training, training_state
from rcexplainer.saving.checkpoint import FitFile
from rcexplainer.short_repr import ShortRepr

log = logging.getLogger(__name__)

BARE_WEIGHT = 0.3  # of the loss on the copy without edges; the loss on the graph itself has weight 1


class Parts(Protocol):
    """The positions of the instances in each split: graphs, or nodes or links of the one graph."""

    @property
    def train(self) -> Tensor:
        """Instances to train on."""

    @property
    def val(self) -> Tensor:
        """Instances that choose the epoch."""

    @property
    def test(self) -> Tensor:
        """Held-out instances."""


def _whole_or_none(value: object) -> bool:
    return value is None or is_whole(value)


def _real_or_none(value: object) -> bool:
    return value is None or is_real(value)


def _classes(value: object) -> bool:
    return isinstance(value, tuple | list) and all(map(is_whole, value))


_KINDS: dict[str, Callable[[object], bool]] = {
    "epochs": is_whole,
    "batch_size": is_whole,
    "patience": _whole_or_none,
    "lr": is_real,
    "weight_decay": is_real,
    "clip": _real_or_none,
    "without_edges": _classes,
}
_COUNT: tuple[Callable[[float], bool], str] = (lambda value: value >= 1, "a whole number ≥ 1")
_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "epochs": _COUNT,
    "batch_size": _COUNT,
    "patience": _COUNT,
    "lr": (lambda value: 0 < value < math.inf, "a finite number > 0"),
    "weight_decay": (lambda value: 0 <= value < math.inf, "a finite number ≥ 0"),
    "clip": (lambda value: value > 0, "a number > 0"),
}
_WORDS: dict[Callable[[object], bool], str] = {
    is_whole: "a whole number",
    _whole_or_none: "a whole number or None",
    is_real: "a number",
    _real_or_none: "a number or None",
    _classes: "classes, such as (0, 1)",
}


@dataclass(frozen=True)
class TrainConfig:
    """Settings of a training run.

    Args:
        epochs: The most epochs to train for.
        lr: Learning rate at the start.
        decay: Whether it falls to a twentieth along a cosine, or stays.
        weight_decay: Of Adam.
        batch_size: Graphs in a batch; a node or link dataset is always one batch.
        patience: Epochs without a better validation accuracy or loss after which training stops; None: never, and the
            weights of the last epoch are kept.
        clip: Largest norm of the gradient; None: it is not clipped.
        xavier: Whether message-passing layers begin with Xavier's weights for ReLU and no bias, rather than PyG's.
        without_edges: For node tasks: the class that nodes of each class have in a copy of the graph without edges,
            on which the network is then trained as well. Otherwise it assigns a node without edges to the class whose
            nodes have the fewest.

    Raises:
        RCExplainerError: An impossible value.
    """

    epochs: int = 300
    lr: float = 0.005
    weight_decay: float = 0.0
    batch_size: int = 128
    patience: int | None = 60
    without_edges: tuple[int, ...] = ()
    decay: Literal["cosine", "constant"] = "cosine"
    clip: float | None = None
    xavier: bool = False

    def __post_init__(self) -> None:
        for name, known in _KINDS.items():
            if not known(getattr(self, name)):
                raise RCExplainerError(f"{name} must be {_WORDS[known]}, got {getattr(self, name)!r}")
        for name, (possible, words) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not possible(value):
                raise RCExplainerError(f"{name} must be {words}, got {value!r}")
        if not isinstance(self.decay, str) or self.decay not in ("cosine", "constant"):
            raise RCExplainerError(f"decay must be cosine or constant, got {self.decay!r}")


# Node and link datasets are one graph: an epoch is a single step, so there are more of them.
DEFAULT_TRAINING: dict[TaskName, TrainConfig] = {
    "graph": TrainConfig(),
    "node": TrainConfig(epochs=3000, lr=0.01, patience=600),
    "link": TrainConfig(epochs=200, lr=0.01, weight_decay=0.001, patience=200),
}


@dataclass(frozen=True, repr=False)
class TrainedGNN(ShortRepr):
    """A trained network and its accuracy."""

    model: GNN
    accuracy: dict[str, float]  # on "train", "val" and "test"
    best_epoch: int
    seconds: float  # of the training
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
    file: FitFile | None = None,
) -> TrainedGNN:
    """Train on `parts.train`, choose the epoch on `parts.val`, report the accuracy on all three splits.

    Args:
        config: The network.
        graphs: Labelled graphs; one for node and link tasks.
        parts: The split.
        settings: Of the training; the defaults of the task if None.
        seed: Random seed.
        device: Where to train; None for the CPU.
        progress: Whether to show a progress bar.
        file: A checkpoint: a training that was stopped goes on from what it holds, and comes out the same.

    Returns:
        The network in evaluation mode, with its accuracy.

    Raises:
        GraphError: Graphs, labels or split do not fit the network.
        RCExplainerError: The settings do not fit the task, or there is no such device.
    """
    for name, fits, wanted, value in (
        ("config", isinstance(config, GNNConfig), "GNNConfig, such as gnn_config(…) makes", config),
        ("settings", isinstance(settings, TrainConfig | None), "TrainConfig", settings),
        ("file", isinstance(file, FitFile | None), "FitFile", file),
    ):
        if not fits:
            raise RCExplainerError(f"{name} must be a {wanted}, got {type(value).__name__}")
    if not is_whole(seed) or not -(2**63) <= seed < 2**64:
        raise RCExplainerError(f"seed must be a whole number from -2⁶³ to 2⁶⁴-1, got {seed!r}")
    settings = settings or DEFAULT_TRAINING[config.task]
    instances = LabelledInstances(as_graphs(graphs), config, device)
    _check_parts(parts, instances.count)
    bare = _bare_classes(settings, config)
    started = time.perf_counter()
    with seeded(seed):
        model = GNN(config).to(instances.device)
        if settings.xavier:
            _xavier(model)
        optimizer = torch.optim.Adam(model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
        least = settings.lr / 20 if settings.decay == "cosine" else settings.lr
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.epochs, least)
        best, first = BestEpoch(copy.deepcopy(model.state_dict())), 0
        kept, name = file or FitFile(None, {}), f"training {seed}"
        if (before := kept.get(name)) is not None:
            first, best = restore_training(before, model, optimizer, schedule, instances.device)
        bar = tqdm(
            range(first, settings.epochs),
            desc=f"training {config.conv}",
            unit="epoch",
            initial=first,
            total=settings.epochs,
            disable=not progress,
        )
        for epoch in bar:
            if epoch and settings.patience is not None and epoch - 1 - best.epoch >= settings.patience:
                break
            model.train()
            for batch, rows in instances.batches(parts.train, settings.batch_size, shuffle=True):
                optimizer.zero_grad()
                loss = F.cross_entropy(instances.logits(model, batch, rows), instances.labels(batch, rows))
                if bare is not None:
                    loss = loss + BARE_WEIGHT * instances.bare_loss(model, batch, rows, bare)
                loss.backward()
                if settings.clip is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
                optimizer.step()
            schedule.step()
            right, loss_val = instances.score(model, parts.val)
            # Accuracy first; the loss decides between epochs of equal accuracy.
            if settings.patience is None or (right, -loss_val) > best.score:
                best = BestEpoch(copy.deepcopy(model.state_dict()), (right, -loss_val), epoch)
            bar.set_postfix(val=f"{right:.3f}", best=f"{best.score[0]:.3f}")
            if kept.path is not None:
                state = training_state(epoch, model, optimizer, schedule, best, instances.device)
                kept.put(name, *state, at_once=False)
        bar.close()
        model.load_state_dict(best.weights)
        model.eval()
    seconds = time.perf_counter() - started
    accuracies = {part: instances.score(model, getattr(parts, part))[0] for part in ("train", "val", "test")}
    log.info("trained %s in %.1f s, best epoch %d: %s", config.conv, seconds, best.epoch, accuracies)
    return TrainedGNN(model, accuracies, best.epoch, seconds, seed)


def _xavier(model: nn.Module) -> None:
    """Weights of message-passing layers drawn as Xavier's for ReLU, their biases 0."""
    for layer in model.modules():
        if isinstance(layer, MessagePassing):
            for name, value in layer.named_parameters():
                if value.dim() > 1:
                    nn.init.xavier_uniform_(value, gain=nn.init.calculate_gain("relu"))
                elif "bias" in name:
                    nn.init.zeros_(value)


def _check_parts(parts: Parts, count: int) -> None:
    """Training and validation need instances, and the dataset must have them."""
    named = {"training": "train", "validation": "val", "test": "test"}
    if lacking := [name for name in named.values() if not hasattr(parts, name)]:
        raise GraphError(
            f"parts has train, val and test, such as dataset.split; {type(parts).__name__} has no {lacking[0]}"
        )
    for name, key in named.items():
        part = getattr(parts, key)
        _check_positions(part, f"the {name} split", count)
        if not len(part) and key != "test":
            raise GraphError(
                f"the {name} split is empty: {count} instances are too few to split, or were split wrongly"
            )


def _check_positions(index: object, what: str, count: int) -> None:
    """Positions of instances are a row of whole numbers, each of an instance that there is."""
    if not isinstance(index, Tensor) or index.dim() != 1 or index.dtype != torch.long or index.is_meta:
        found = f"{index.dtype} {tuple(index.shape)}" if isinstance(index, Tensor) else type(index).__name__
        raise GraphError(
            f"{what} must be a tensor [n] of positions of type torch.int64, such as torch.arange({count}), got {found}"
            "; those of a mask are mask.nonzero().flatten()"
        )
    low, high = (int(value) for value in index.aminmax()) if len(index) else (0, -1)
    if low < 0 or high >= count:
        wrong = low if low < 0 else high
        raise GraphError(f"{what} names instance {wrong}, but the instances are 0 to {count - 1}")


def _bare_classes(settings: TrainConfig, config: GNNConfig) -> Tensor | None:
    """[C] the class that nodes of each class have without edges; None if the settings do not say."""
    classes = settings.without_edges
    if not classes:
        return None
    if config.task != "node":
        raise RCExplainerError(f"without_edges is for node tasks, this is a {config.task} task")
    if len(classes) != config.num_classes or not all(0 <= label < config.num_classes for label in classes):
        raise RCExplainerError(f"without_edges must name a class for each of the {config.num_classes}, got {classes}")
    return torch.tensor(classes)


def accuracy(model: nn.Module, graphs: Sequence[Data], index: Tensor | None = None) -> float:
    """The share of instances that a `GNN` classifies correctly.

    Args:
        model: A network of this package.
        graphs: Labelled graphs; one for node and link tasks.
        index: Positions of the instances to use; all of them if None.

    Raises:
        RCExplainerError: The model is not a `GNN`.
        GraphError: The graphs have no labels, or do not fit the network.
    """
    if not isinstance(model, GNN):
        raise RCExplainerError(f"accuracy() is for rcexplainer's own GNN, got {type(model).__name__}")
    instances = LabelledInstances(as_graphs(graphs), model.config, next(model.parameters()).device)
    everything = torch.arange(instances.count) if index is None else index
    _check_positions(everything, "index", instances.count)
    return instances.score(model, everything)[0]
