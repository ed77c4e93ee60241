"""RCExplainer: the whole story on one screen.

fit      graphs → embeddings → boundaries → regions → search → mask network → calibrated scores
explain  one forward pass for the scores, then a verified counterfactual
"""

import copy
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import nn
from torch_geometric.data import Data

from rcexplainer.config import RCConfig, make_config
from rcexplainer.core.mask_net import mean_of
from rcexplainer.core.objectives import Objective
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import say_if_smooth
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import Known, Lesson, Seen, hold_out
from rcexplainer.fit.fitted_ import MEANS, FittedRCExplainer, MaskScores
from rcexplainer.fit.restarts import kept, starts
from rcexplainer.fit.step import Taught
from rcexplainer.fit.train import Trained, find_regions, make_objective, margins_of, safer, train_network
from rcexplainer.gnn.forward import Forward, Task
from rcexplainer.gnn.graph_checks import Graphs, Kind, check_graph, list_graphs
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.outputs import OutputKind
from rcexplainer.gnn.split import SplitModel, split_model
from rcexplainer.gnn.trainer import usable_device
from rcexplainer.saving.checkpoint import FitFile, digest
from rcexplainer.saving.fingerprint import fingerprint, probe_graphs
from rcexplainer.tasks.computation_graph import Index
from rcexplainer.tasks.registry import SUBJECTS

log = logging.getLogger(__name__)


class RCExplainer:
    """`RCExplainer(**settings).fit(model, graphs)`; settings are the fields of `RCConfig`."""

    def __init__(
        self,
        task: Task = "graph",
        target_class: int | Literal["each"] | None = None,
        preset: str = "default",
        **settings: Any,
    ) -> None:
        """`target_class`: explanations say what makes an instance its predicted class and not that one; with "each" one
        network learns the answers for every other class, and `explain(target_class=...)` asks for one."""
        if task not in get_args(Task):
            raise RCExplainerError(f"unknown task {task!r}; it is one of {', '.join(get_args(Task))}")
        if isinstance(target_class, Integral) and not isinstance(target_class, bool):
            target_class = int(target_class)
        elif target_class not in (None, "each"):
            raise RCExplainerError(f'target_class must be a class, "each" or None, got {target_class!r}')
        self.task: Task = task
        self.target_class = target_class
        self.config = make_config(preset, settings, task)

    def fit(
        self,
        model: nn.Module,
        graphs: Graphs,
        *,
        index: Index | None = None,
        val: Graphs | Index | None = None,
        background: Graphs | None = None,
        head: str | nn.Module | None = None,
        forward: Forward | None = None,
        output: OutputKind | None = None,
        class_names: Sequence[str] | None = None,
        checkpoint: str | Path | None = None,
        seed: int = 0,
        progress: bool = True,
        device: torch.device | str | None = None,
    ) -> FittedRCExplainer:
        """Fit on graphs, or on the nodes or links `index` of one graph; labels are not needed.

        Without `val` (graphs, or an index), a seeded tenth is held out for early stopping. Boundaries and regions come
        from `background`, by default from all graphs or nodes given (of links: the pairs given, edges, random pairs).
        With `checkpoint`, a file, a run that was killed goes on from it. With `device`, a copy of the model and the
        graphs are moved there, now and when explaining.
        """
        place = None if device is None else usable_device(device)
        if place is not None:
            model, head = _copied(model, head, place)
        everything = _there(graphs, place)
        around = everything if background is None else _there(background, place)
        subject = SUBJECTS[self.task]
        shown = subject.shown(everything, index)
        split = split_model(model, shown, head, forward, self.task, output)
        if class_names and len(class_names) != split.num_classes:
            raise RCExplainerError(
                f"{len(class_names)} class_names were given for a model with {split.num_classes} classes"
            )
        _check_like(everything, around, "background")
        hops = subject.hops(split, shown, self.config.hops)
        most = self.config.teacher_limit
        asked = subject.instances(everything, subject.few(everything, index, most + most // 9, seed), hops)
        held_out: list[Data] = []
        if val is not None and self.task == "graph":
            held_out = _there(val, place)
            _check_like(everything, held_out, "val")
        elif val is not None:
            held_out = subject.instances(everything, subject.few(everything, val, most, seed), hops)  # type: ignore[arg-type]
        around = subject.surrounding(around, index if background is None else None, seed)
        run = {
            "settings": self.settings,
            "seed": seed,
            "model": fingerprint(model),
            "taken apart": [split.task, split.head_name, split.output, hops, getattr(forward, "__qualname__", None)],
            "graphs": [digest(some) for some in (asked, held_out, around)],
        }
        generator = torch.Generator().manual_seed(seed)
        with split.scope:
            training = Known.about(split, asked)
            seen = training if around is asked else Seen.of(split, Instances(split, around).passes)
            if val is None:
                training, held = (training.some(ids) for ids in hold_out(training.label, generator))
            else:
                held = Known.about(split, held_out)
            training = _drawn(training, most, generator)
            held = held if len(held) <= most else _drawn(held, most, generator)
            file = FitFile(checkpoint, run)
            fitting = _Fitting(split, training, held, seen, self.objective, generator, seed, file, progress)
            return fitting(self.config, self._targets(split.num_classes), tuple(class_names or ()), place, hops)

    @property
    def settings(self) -> dict[str, Any]:
        """All that tells one explainer from another before it is fitted."""
        return {**asdict(self.config), "target_class": self.target_class}

    def objective(self, config: RCConfig) -> Objective:
        """What the mask network is trained on."""
        return make_objective(config)

    def _targets(self, num_classes: int) -> tuple[int | None, ...]:
        """The classes to lead to; None stands for any other."""
        if self.target_class is None:
            return (None,)
        if self.target_class == "each":
            return (None, *range(num_classes))
        if not 0 <= self.target_class < num_classes:
            known = f"0 to {num_classes - 1}"
            raise RCExplainerError(f"there is no target_class {self.target_class}: the model has the classes {known}")
        return (self.target_class,)


def _there(graphs: Any, device: torch.device | None) -> list[Data]:
    """Checked graphs, as copies on the device if one is named."""
    found = list_graphs(graphs)
    return found if device is None else [copy.copy(graph).to(device) for graph in found]


def _check_like(graphs: list[Data], others: list[Data], name: str) -> None:
    """The other graphs are well-formed, and of the kind of the first ones."""
    kind = Kind.of(graphs[0])
    for position, graph in enumerate(others if others is not graphs else []):
        check_graph(graph, f"{name} graph {position}")
        kind.check(graph, f"{name} graph {position}", "the others")


@dataclass(frozen=True, eq=False)
class _Fitting:
    """One run of `fit`: what it works on."""

    split: SplitModel
    training: Known
    held: Known
    background: Seen
    objective: Callable[[RCConfig], Objective]
    generator: torch.Generator
    seed: int
    file: FitFile
    progress: bool

    def __call__(
        self,
        config: RCConfig,
        targets: tuple[int | None, ...],
        class_names: tuple[str, ...],
        device: torch.device | None,
        hops: int,
    ) -> FittedRCExplainer:
        attempts = safer(config)
        say_if_smooth(margins_of(self.split), self.background.embedding)
        for number, attempt in enumerate(attempts):
            regions = {
                target: find_regions(self.split, self.background, attempt, self.seed, target) for target in targets
            }
            training, held = (
                self.taught(name, known, regions, attempt)
                for name, known in (("search", self.training), ("validation search", self.held))
            )
            trained = self.best(
                training, held, attempt, "mask network" if not number else f"mask network, attempt {number + 1}"
            )
            if trained.collapse is None:
                break
            rest = "; training goes on with safer settings" if attempt is not attempts[-1] else ""
            log.warning("the mask network has collapsed: %s%s", trained.collapse, rest)
        graphs = self.training.instances.graphs
        return FittedRCExplainer(
            split=self.split,
            scores=MaskScores(trained.net, held.calibrate(trained.net), attempt, held.conditioned),
            kind=Kind.of(graphs[0]),
            class_names=class_names,
            classes=frozenset(self.background.label.tolist()),
            device=device,
            hops=hops,
            config=attempt,
            regions=training.regions,
            targets=targets,
            probes=probe_graphs(graphs),
            history=trained.history,
        )

    def best(self, training: Taught, held: Taught, config: RCConfig, name: str) -> Trained:
        """Several trainings, and the mean of the best."""
        runs = [
            (
                own,
                train_network(
                    training,
                    held,
                    self.objective(own),
                    self.generator,
                    self.seed + start,
                    self.file,
                    name if not start else f"{name}, start {start + 1}",
                    self.progress,
                ),
            )
            for start, own in enumerate(starts(config, float(training.known.instances.units.counts.double().mean())))
        ]
        best = kept(runs, config.averaged)
        return replace(best[0], net=mean_of([run.net for run in best], MEANS[config.score]))

    def taught(self, name: str, known: Known, regions: dict[int | None, Regions], config: RCConfig) -> Taught:
        """The instances with what a search teaches about them, for every target that some of them can be led to."""
        parts: list[Taught] = []
        for target, own in regions.items():
            if target is not None and bool((known.label == target).all()):
                continue  # predicted so already, all of them
            asked = known if target is None else known.towards(target)
            lesson = self.lesson(name if target is None else f"{name} {target}", asked, own, config)
            parts.append(Taught.of(asked, lesson, own, config))
        if not parts:
            use = "train" if known is self.training else "validate"
            raise RCExplainerError(
                f"all {len(known)} instances to {use} on are predicted as target_class {next(iter(regions))} already: "
                "give others too"
            )
        return parts[0] if list(regions) == [None] else Taught.joined(parts)

    def lesson(self, name: str, known: Known, regions: Regions, config: RCConfig) -> Lesson:
        """What a search teaches about these instances, where it is asked for; made once."""
        if not (config.weight_order or config.weight_effect):
            return known.nothing()
        if (before := self.file.get(name)) is not None:
            return Lesson(**{key: value.to(known.label.device) for key, value in before[0].items()})
        lesson = known.teach(regions, config, self.progress)
        self.file.put(name, {"order": lesson.order, "effect": lesson.effect})
        return lesson


def _drawn(known: Known, most: int, generator: torch.Generator) -> Known:
    """At most so many of the instances, drawn at random; regions come from all of them."""
    if len(known) > most:
        log.warning("%d of %d instances are drawn to learn from: teacher_limit says how many", most, len(known))
    places = torch.randperm(len(known), generator=generator)[:most]
    return known.some(places.sort().values.to(known.label.device))


def _copied(
    model: nn.Module, head: str | nn.Module | None, device: torch.device
) -> tuple[nn.Module, str | nn.Module | None]:
    """A copy of the model on another device; a head given as a module is found again by its name."""
    if isinstance(head, nn.Module):
        head = next((name for name, module in model.named_modules() if module is head), head)
    return copy.deepcopy(model).to(device), head
