"""PGExplainer: a network that, trained once on many instances, gives the mask of any other in one pass.

fit      the network of `pg_gates` on mini-batches of the training instances
explain  f_u of every unit, brought to [0, 1] by a map that keeps its order and its sign (above ½: kept)
save     the network, its settings, and what the GNN is recognised by: `PGExplainer.load(path, model)`

`PGExplainer(**PYG)` (of `pg_gates`) has PyG's settings. On validation graphs of BA-2motifs they put the motif last:
gates at these temperatures are half open, and a model that counts neighbours sees graphs unlike any it knows. The
defaults, chosen there, have gates that are nearly closed or open and press harder on their number.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from tqdm.auto import tqdm

from rcexplainer.baselines.pg_gates import PGSettings, gate_net, mean_loss, unit_inputs, unit_logits
from rcexplainer.baselines.soft_masks import SoftBatch, in_batches, squash
from rcexplainer.core.namespace import named, part
from rcexplainer.core.objectives import Terms
from rcexplainer.core.training import Schedule, Training, constant
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn.forward import Forward, TaskName
from rcexplainer.gnn.graph_checks import GraphKind
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.seed import seeded
from rcexplainer.method.base import Method
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.saving.files import read_tensors, write_tensors
from rcexplainer.saving.fingerprint import describe, probe_graphs, recognise

FORMAT = "rcexplainer-pgexplainer"


@dataclass(frozen=True, eq=False)
class PGScores:
    """A trained network, and a few of the instances it was trained on: by these its GNN is recognised."""

    net: nn.Sequential
    probes: tuple[Data, ...]

    def __call__(self, instances: Instances, labels: Tensor, target: int | None = None) -> Tensor:
        return squash(in_batches(instances, labels, lambda soft: unit_logits(self.net, soft)))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedPGExplainer(FittedExplainer):
    """A PGExplainer that has been trained."""

    scores: PGScores
    settings: PGSettings

    def save(self, path: str | Path) -> Path:
        """Write the explainer to one file, without its GNN; `PGExplainer.load(path, model)` reads it."""
        tensors, known_by = describe(self.split, self.scores.probes)
        about = {**known_by, "settings": asdict(self.settings), "class_names": self.class_names, "hops": self.hops}
        tensors |= named("net", self.scores.net.state_dict())
        return write_tensors(Path(path), tensors, {"format": FORMAT, "about": json.dumps(about)})


class PGExplainer(Method):
    """`PGExplainer(**settings)`, the fields of `PGSettings`."""

    def __init__(
        self, *, task: TaskName = "graph", target_class: int | None = None, hops: int | None = None, **settings: Any
    ) -> None:
        super().__init__(task=task, target_class=target_class, hops=hops)
        known = [field.name for field in fields(PGSettings)]
        if unknown := sorted(settings.keys() - set(known)):
            raise RCExplainerError(f"unknown setting {', '.join(unknown)}; known: {', '.join(known)}")
        self.settings = PGSettings(**settings)

    def learn(self, training: Callable[[], Instances], seed: int, progress: bool) -> PGScores:
        instances, settings = training(), self.settings
        split = instances.split
        labels = instances.passes(lambda done: split.log_probs(done.output)).argmax(1)
        generator = torch.Generator().manual_seed(seed)

        def some(ids: Tensor) -> SoftBatch:
            return SoftBatch(split, *instances[ids], labels[ids])

        def loss(ids: Tensor, share: float) -> Terms:
            soft = some(ids)
            return mean_loss(soft, unit_logits(net, soft), share, settings, generator)

        inputs, _ = unit_inputs(some(instances.everything[:1]))
        with seeded(seed):
            net = gate_net(inputs.size(1), settings.hidden).to(inputs)
        schedule = Schedule(
            settings.epochs, settings.lr, settings.batch_size, settings.epochs, constant, keep_last=True
        )
        run = Training(net, loss, lambda: 0.0, instances.everything, generator, schedule)
        bar = tqdm(run, "PGExplainer", settings.epochs, unit="epoch", disable=not progress)
        for epoch in bar:
            bar.set_postfix(**{name: f"{value:.3f}" for name, value in epoch.terms.items()})
        return PGScores(net, probe_graphs(instances.graphs))

    def fitted(self, **parts: Any) -> FittedPGExplainer:
        return FittedPGExplainer(**(parts | {"scores": parts["scores"].unit_scores}), settings=self.settings)

    @staticmethod
    def load(path: str | Path, model: nn.Module, *, forward: Forward | None = None) -> FittedPGExplainer:
        """Read what `save` wrote; `model` must be the GNN it was fitted for, and `forward` as it was given to `fit`."""
        path = Path(path)
        tensors, header = read_tensors(path, FORMAT)
        try:
            about = json.loads(header["about"])
            settings = PGSettings(**{**about["settings"], "temperature": tuple(about["settings"]["temperature"])})
            split, probes = recognise(path, model, forward, tensors, about)
            weights = part("net", tensors)
            net = gate_net(weights["0.weight"].size(1), settings.hidden).to(split.device, weights["0.weight"].dtype)
            net.load_state_dict(weights)
            names, hops = tuple(about["class_names"]), about["hops"]
        except (KeyError, TypeError, RuntimeError, json.JSONDecodeError) as error:
            raise CheckpointError(f"{path} is damaged or was written by another version: {error}") from error
        scores, kind = PGScores(net.eval(), probes), GraphKind.of(probes[0])
        return FittedPGExplainer(split=split, scores=scores, kind=kind, class_names=names, hops=hops, settings=settings)
