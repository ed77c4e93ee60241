"""RCExplainer: the whole story on one screen.

fit      graphs → embeddings → boundaries → regions → search → mask network → calibrated scores
explain  one forward pass for the scores, then a verified counterfactual
"""

import copy
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rcexplainer.config import RCConfig, make_config
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.errors import RCExplainerError
from rcexplainer.fitted import FittedRCExplainer, MaskScores, fingerprint
from rcexplainer.fitting import Taught, safer, train_network
from rcexplainer.gnn.calling import Forward
from rcexplainer.gnn.outputs import OutputKind
from rcexplainer.gnn.split import SplitModel, split_model
from rcexplainer.gnn.training import usable_device
from rcexplainer.graphs import Graphs, Kind, as_graphs
from rcexplainer.known import Known, Lesson, hold_out
from rcexplainer.resuming import FitFile, digest

log = logging.getLogger(__name__)

PROBES = 4


class RCExplainer:
    """`RCExplainer(**settings).fit(model, graphs)`; settings are the fields of `RCConfig`."""

    def __init__(self, task: str = "graph", preset: str = "default", **settings: Any) -> None:
        if task != "graph":
            raise RCExplainerError(f"task {task!r} is not supported yet; graph classification is")
        self.config = make_config(preset, settings)

    def fit(
        self,
        model: nn.Module,
        graphs: Graphs,
        *,
        val: Graphs | None = None,
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
        """Fit on graphs whose labels are not needed.

        Without `val`, a seeded tenth is held out for early stopping. Boundaries and regions come from `background`, by
        default from all `graphs`. With `checkpoint`, a file, a run that was killed goes on from it. With `device`, a
        copy of the model and the graphs are moved there, now and when explaining.
        """
        if device is not None:
            place = usable_device(device)
            model, head = _copied(model, head, place)
            graphs, val, background = (
                None if some is None else [copy.copy(graph).to(place) for graph in as_graphs(some)]
                for some in (graphs, val, background)
            )
        everything = as_graphs(graphs)
        split = split_model(model, everything, head, forward, "graph", output)
        generator = torch.Generator().manual_seed(seed)
        others = [[] if some is None else as_graphs(some) for some in (val, background)]
        graphs_of_run = [digest(some) for some in (everything, *others)]
        run = {"settings": asdict(self.config), "seed": seed, "model": fingerprint(model), "graphs": graphs_of_run}
        file = FitFile(checkpoint, run)
        with split.scope:
            known = Known.of(split, everything)
            around = known if background is None else Known.of(split, as_graphs(background))
            if val is None:
                training, held = (known.some(ids) for ids in hold_out(known.label, generator))
            else:
                training, held = known, Known.of(split, as_graphs(val))
            limit = torch.randperm(len(training), generator=generator)[: self.config.teacher_limit]
            training = training.some(limit.sort().values.to(training.label.device))
            fitting = _Fitting(split, training, held, around, generator, seed, file, progress)
            return fitting(self.config, tuple(class_names or ()), None if device is None else place)


@dataclass(frozen=True, eq=False)
class _Fitting:
    """One run of `fit`: what it works on."""

    split: SplitModel
    training: Known
    held: Known
    background: Known
    generator: torch.Generator
    seed: int
    file: FitFile
    progress: bool

    def __call__(
        self, config: RCConfig, class_names: tuple[str, ...], device: torch.device | None
    ) -> FittedRCExplainer:
        attempts = safer(config)
        for number, attempt in enumerate(attempts):
            regions = self.regions(attempt)
            training, held = (
                Taught(known, self.lesson(name, known, regions, attempt), regions, attempt)
                for name, known in (("search", self.training), ("validation search", self.held))
            )
            trained = f"training {number}"
            net, history = train_network(training, held, self.generator, self.seed, self.file, trained, self.progress)
            collapse = held.collapsed(net)
            if collapse is None:
                break
            rest = "; training goes on with safer settings" if attempt is not attempts[-1] else ""
            log.warning("the mask network has collapsed: %s%s", collapse, rest)
        graphs = self.training.instances.graphs
        return FittedRCExplainer(
            split=self.split,
            scores=MaskScores(net, held.calibrate(net), attempt),
            kind=Kind.of(graphs[0]),
            class_names=class_names,
            classes=frozenset(self.background.label.tolist()),
            device=device,
            config=attempt,
            regions=regions,
            probes=tuple(sorted(graphs, key=lambda graph: (not graph.num_edges, graph.num_nodes))[:PROBES]),
            history=history,
        )

    def regions(self, config: RCConfig) -> Regions:
        """Boundaries of the head and the regions they bound (Eq. 1–5)."""
        known = self.background
        if len(known.label.unique()) < 2:
            raise RCExplainerError(
                f"the model predicts class {int(known.label[0])} for all {len(known)} graphs: there is no "
                "boundary to cross; fit on graphs of at least two predicted classes"
            )
        boundaries = sample_boundaries(
            lambda x: self.split.log_probs(self.split.head(x)),
            known.embedding,
            known.label,
            per_class=config.candidates_per_class,
            sampler=config.sampler,
            generator=torch.Generator().manual_seed(self.seed),
        )
        confidence = known.log_probs.amax(1).exp() if config.coverage == "confidence" else None
        regions = Regions.fit(
            boundaries,
            known.embedding,
            known.label,
            epsilon=config.epsilon,
            weights=confidence,
            scaled=config.scaled,
        )
        log.info("%s", regions)
        return regions

    def lesson(self, name: str, known: Known, regions: Regions, config: RCConfig) -> Lesson:
        """What a search teaches about these instances, where it is asked for; made once."""
        if not (config.weight_order or config.weight_effect):
            return known.nothing()
        if (before := self.file.get(name)) is not None:
            return Lesson(**{key: value.to(known.label.device) for key, value in before[0].items()})
        lesson = known.teach(regions, config.teacher_depth, config.teacher_tolerance, self.progress)
        self.file.put(name, {"order": lesson.order, "effect": lesson.effect})
        return lesson


def _copied(
    model: nn.Module, head: str | nn.Module | None, device: torch.device
) -> tuple[nn.Module, str | nn.Module | None]:
    """A copy of the model on another device; a head given as a module is found again by its name."""
    if isinstance(head, nn.Module):
        head = next((name for name, module in model.named_modules() if module is head), head)
    return copy.deepcopy(model).to(device), head
