"""Preparation of a fit: split the model, measure its receptive field, make the training instances."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import InstanceSet, Predictions, hold_out
from rcexplainer.fit.stream import GraphSource, open_graphs
from rcexplainer.fit.stream_sample import sample_stream
from rcexplainer.gnn.forward import Forward, TaskName
from rcexplainer.gnn.graph_checks import GraphKind, check_graph
from rcexplainer.gnn.outputs import OutputKind
from rcexplainer.gnn.split import SplitModel, split_model
from rcexplainer.method.base import on_device
from rcexplainer.saving.checkpoint import digest
from rcexplainer.saving.fingerprint import fingerprint
from rcexplainer.tasks import TASKS
from rcexplainer.tasks.index import Index

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FitInput:
    """The split model, and the graphs of training, validation and background instances."""

    split: SplitModel
    hops: int
    device: torch.device | None
    training: list[Data]
    validation: list[Data] | None  # None: a tenth of the training instances
    background: list[Data] | Predictions  # the same list as `training` where the regions come from those

    def description(self, settings: dict[str, Any], seed: int, forward: Forward | None) -> dict[str, Any]:
        """What tells this fit from another: a checkpoint of a different one is refused."""
        split = self.split
        return {
            "layout": "networks side by side",  # of the training's state, which was another one up to 0.2
            "settings": settings,
            "seed": seed,
            "model": fingerprint(split.model),
            "split": [split.task, split.head_name, split.output, self.hops, getattr(forward, "__qualname__", None)],
            "graphs": [digest(some) for some in (self.training, self.validation or [])] + [self._background_digest()],
        }

    def _background_digest(self) -> Any:
        """Graphs by their content; of a stream the predictions, which may differ by rounding, by their classes."""
        seen = self.background
        return seen.label.bincount().tolist() if isinstance(seen, Predictions) else digest(seen)

    def observed(self, limit: int, generator: torch.Generator) -> tuple[Predictions, InstanceSet, InstanceSet]:
        """One forward pass over all instances: background, training and validation.

        Args:
            limit: Training instances, and validation instances, at most; regions still come from all of them.
            generator: Draws what is held out and what is left out.
        """
        training = InstanceSet.of(self.split, self.training)
        background: Predictions = training
        if isinstance(self.background, Predictions):
            background = self.background
        elif self.background is not self.training:
            background = Predictions.of(self.split, self.background)
        if self.validation is None:
            training, validation = (training.some(ids) for ids in hold_out(training.label, generator))
        else:
            validation = InstanceSet.of(self.split, self.validation)
        if len(training) > limit:
            log.warning("a random %d of %d instances are used for training (teacher_limit)", limit, len(training))
        training = training.sample(limit, generator)
        if len(validation) > limit:
            log.warning("a random %d of %d instances are used for validation (teacher_limit)", limit, len(validation))
            validation = validation.sample(limit, generator)
        return background, training, validation


def prepare(
    model: nn.Module,
    graphs: GraphSource,
    *,
    task: TaskName,
    index: Index | None,
    val: GraphSource | Index | None,
    background: GraphSource | None,
    head: str | nn.Module | None,
    forward: Forward | None,
    output: OutputKind | None,
    class_names: Sequence[str] | None,
    hops: int | None,
    limit: int,
    seed: int,
    progress: bool,
    device: torch.device | str | None,
) -> FitInput:
    """Check everything that `RCExplainer.fit` was given, split the model, and make the instances.

    Of graphs that are not in memory at most a sample is, see `stream_sample`.

    Raises:
        SplitError: The model cannot be explained.
        GraphError: The graphs, or the index, cannot be used.
        RCExplainerError: The class names do not fit the model.
    """
    model, head, place = on_device(model, head, device)
    kind = TASKS[task]
    most = limit if val is not None else limit + limit // 9  # a tenth will be held out for validation
    given = open_graphs(graphs, most if task == "graph" else None, place)
    everything = given.first
    trials = kind.trial_graphs(everything, index)
    split = split_model(model, trials, head, forward, task, output)
    if class_names and len(class_names) != split.num_classes:
        raise RCExplainerError(
            f"{len(class_names)} class_names were given for a model with {split.num_classes} classes"
        )
    far = kind.hops(split, trials, hops)
    chosen = kind.sample(everything, index, limit + limit // 9, seed)
    training = kind.training_graphs(everything, chosen, far)
    around: list[Data] | Predictions = everything
    if given.rest is not None:
        read = sample_stream(split, given, most, seed, progress)
        training, around = read.graphs, read.predictions
        log.warning("a random %d of %d graphs are used for training (teacher_limit)", len(training), read.count)
    if background is not None:
        around = background_instances(split, everything, background, limit, place, seed)
    if isinstance(around, list):
        around = kind.background(around, index if background is None else None, seed)
    validation: list[Data] | None = None
    if val is not None and task == "graph":
        validation = validation_graphs(split, everything, val, limit, place, seed)
    elif val is not None:
        chosen = kind.sample(everything, val, limit, seed)  # type: ignore[arg-type]
        validation = kind.training_graphs(everything, chosen, far)
    return FitInput(split, far, place, training, validation, around)


def background_instances(
    split: SplitModel, graphs: list[Data], background: GraphSource, limit: int, place: torch.device | None, seed: int
) -> list[Data] | Predictions:
    """Background graphs, or, of a stream of more than `limit`, the predictions of a sample."""
    given = open_graphs(background, limit if split.task == "graph" else None, place, "background graph")
    check_like(graphs, given.first, given.name)
    return given.first if given.rest is None else sample_stream(split, given, limit, seed).predictions


def validation_graphs(
    split: SplitModel, graphs: list[Data], val: GraphSource, limit: int, place: torch.device | None, seed: int
) -> list[Data]:
    """Validation graphs, or, of a stream of more than `limit`, a sample of them."""
    given = open_graphs(val, limit, place, "val graph")
    check_like(graphs, given.first, given.name)
    return given.first if given.rest is None else sample_stream(split, given, limit, seed).graphs


def check_like(graphs: list[Data], others: list[Data], name: str) -> None:
    """Refuse other graphs that are malformed, or of another kind than the first ones."""
    kind = GraphKind.of(graphs[0])
    for position, graph in enumerate(others):
        check_graph(graph, f"{name} {position}")
        kind.check(graph, f"{name} {position}", "the others")
