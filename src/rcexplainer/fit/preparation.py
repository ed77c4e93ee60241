"""Preparation of a fit: split the model, measure its receptive field, make the training instances."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Number
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.fit.data import InstanceSet, Predictions, hold_out
from rcexplainer.fit.sound_instances import sound_instances
from rcexplainer.fit.stream import FitGraphs, OpenedGraphs, open_graphs
from rcexplainer.fit.stream_sample import sample_stream
from rcexplainer.gnn.device import device_of
from rcexplainer.gnn.forward import Forward, TaskName
from rcexplainer.gnn.graph_checks import GraphKind, check_graph, source_of
from rcexplainer.gnn.outputs import OutputKind
from rcexplainer.gnn.seed import check_seed
from rcexplainer.gnn.split import SplitModel, split_model
from rcexplainer.method.base import graphs_on, on_device
from rcexplainer.method.settings import different_names
from rcexplainer.saving.checkpoint import digest
from rcexplainer.saving.fingerprint import fingerprint
from rcexplainer.sources import AnyGraph, GraphSource
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
    background: Iterable[Data] | Predictions  # the same list as `training` where the regions come from those

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
        training = sound_instances(InstanceSet.of, self.split, self.training, "training")
        background: Predictions = training
        if isinstance(self.background, Predictions):
            background = self.background
        elif self.background is not self.training:
            given = self.background
            background = (
                sound_instances(Predictions.of, self.split, given, "background")
                if isinstance(given, list)
                else Predictions.of(self.split, given)
            )
        if self.validation is None:
            training, validation = (training.some(ids) for ids in hold_out(training.label, generator))
        else:
            validation = sound_instances(InstanceSet.of, self.split, self.validation, "validation")
        if len(training) > limit:
            log.warning("a random %d of %d instances are used for training (teacher_limit)", limit, len(training))
        training = training.sample(limit, generator)
        if len(validation) > limit:
            log.warning("a random %d of %d instances are used for validation (teacher_limit)", limit, len(validation))
            validation = validation.sample(limit, generator)
        return background, training, validation


def prepare(
    model: nn.Module,
    graphs: FitGraphs,
    *,
    task: TaskName,
    index: Index | None,
    val: FitGraphs | Index | None,
    background: FitGraphs | None,
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

    Of graphs that are not in memory at most a sample is, see `stream_sample`; of a graph on disk, computation graphs.

    Raises:
        SplitError: The model cannot be explained.
        GraphError: The graphs, or the index, cannot be used.
        RCExplainerError: The class names do not fit the model.
    """
    check_seed(seed)
    model, head, place = on_device(model, head, device)
    home, kind = device_of(model), TASKS[task]
    most = limit if val is not None else limit + limit // 9  # a tenth will be held out for validation
    streamed = task == "graph" and source_of(graphs) is None
    given = open_graphs(graphs, most, place) if streamed else None
    everything = graphs_on(graphs, place, home) if given is None else given.first
    trials = kind.trial_graphs(everything, index)
    split = split_model(model, trials, head, forward, task, output)
    different_names(class_names, split.num_classes)
    far = kind.hops(split, trials, hops)
    chosen = kind.sample(everything, index, limit + limit // 9, seed)
    training = kind.training_graphs(everything, chosen, far)
    around: Sequence[AnyGraph] | Predictions = everything
    if given is not None and given.rest is not None:
        read = sample_stream(split, given, most, seed, progress)
        training, around = read.graphs, read.predictions
        log.warning("a random %d of %d graphs are used for training (teacher_limit)", len(training), read.count)
    like = GraphKind.of(trials[0])
    if background is not None and task == "graph":
        seen = opened_like(like, background, limit, place, "background")
        around = seen.first if seen.rest is None else sample_stream(split, seen, limit, seed).predictions
    elif background is not None:
        with told_of("background", background):
            around = graphs_on(background, place, home)
        check_like(like, around, "background graph")
    validation: list[Data] | None = None
    if val is not None and task == "graph":
        held_out = opened_like(like, val, limit, place, "val")
        validation = held_out.first if held_out.rest is None else sample_stream(split, held_out, limit, seed).graphs
    elif val is not None:
        with told_of("val"):
            chosen = kind.sample(everything, val, limit, seed)  # type: ignore[arg-type]
            validation = kind.training_graphs(everything, chosen, far)
    if not isinstance(around, Predictions):
        return FitInput(
            split,
            far,
            place,
            training,
            validation,
            kind.background(around, index if background is None else None, far, seed),
        )
    return FitInput(split, far, place, training, validation, around)


def opened_like(
    kind: GraphKind, graphs: FitGraphs, limit: int, place: torch.device | None, argument: str
) -> OpenedGraphs:
    """Other graphs, of which the first are in memory and checked."""
    name = f"{argument} graph"
    with told_of(argument, graphs):
        given = open_graphs(graphs, limit, place, name)
    check_like(kind, given.first, name)
    return given


@contextmanager
def told_of(argument: str, graphs: object = None) -> Iterator[None]:
    """Errors of this block name the argument of `fit` that they are about.

    Args:
        argument: Its name.
        graphs: Its value, where it must be graphs.

    Raises:
        GraphError: It is a number, which elsewhere names a node; or what the block raises.
    """
    if isinstance(graphs, Number):
        raise GraphError(f"{argument} takes graphs like those of the fit, such as a list of Data, got {graphs!r}")
    try:
        yield
    except GraphError as error:
        if str(error).startswith(argument):
            raise
        raise GraphError(f"{argument}: {error}") from error


def check_like(kind: GraphKind, others: Sequence[AnyGraph], name: str) -> None:
    """Refuse other graphs that are malformed, or of another kind than the first ones."""
    for position, graph in enumerate(others):
        shown = graph.blank() if isinstance(graph, GraphSource) else graph
        check_graph(shown, f"{name} {position}")
        kind.check(shown, f"{name} {position}", "the others")
