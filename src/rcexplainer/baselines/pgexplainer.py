"""PGExplainer: a network that is trained once on many instances and gives the mask of any other in one pass.

fit      the network of `pg_gates`, on mini-batches of the training instances
explain  f_u of every unit, mapped to [0, 1] so that order and sign are kept (above ½: an edge to keep); with `restarts`
         above 1 the mean mask of that many networks
save     the networks, their settings, and the fingerprint of the GNN; read with `PGExplainer.load` or `rc.load`

`PGExplainer(**PYG_PGEXPLAINER)` (see `pg_gates`) has PyG's settings. On validation graphs of BA-2motifs they rank the
motif last: at these temperatures gates are half open, and a model that counts neighbours sees graphs unlike those it
was trained on. The defaults, chosen there, have gates that are nearly closed or open, and penalise size more.

With `weight_stable` above 0 (it is 0, as published) the top edges should also be those of noisy copies of the
instances: RCExplainer's stability loss, on copies made as for RCExplainer.
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

from rcexplainer.baselines.pg_gates import (
    PGSettings,
    ensemble_logits,
    gate_net,
    mean_loss,
    noisy_logits,
    unit_inputs,
    unit_logits,
)
from rcexplainer.baselines.soft_masks import SoftBatch, in_batches, squash
from rcexplainer.core.namespace import named, part
from rcexplainer.core.objectives import Terms
from rcexplainer.core.stability import stability_loss
from rcexplainer.core.training import Schedule, Training, constant
from rcexplainer.fit.objective import STABLE_TOP
from rcexplainer.fit.readings import POOL, NoisyReadings
from rcexplainer.gnn.forward import Forward, TaskName
from rcexplainer.gnn.graph_checks import GraphKind
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.noise import distinct_features, noisy
from rcexplainer.gnn.seed import seeded
from rcexplainer.method.base import Method
from rcexplainer.method.connection import connected_readings
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.settings import check_names, setting_names
from rcexplainer.method.unit_readings import UnitReadings
from rcexplainer.saving.files import damage_told, named_file, read_tensors, write_tensors
from rcexplainer.saving.fingerprint import describe, probe_graphs, recognise
from rcexplainer.saving.header_claims import MOST_HOPS, check_count

PG_FORMAT = "rcexplainer-pgexplainer"
RESTART_SEEDS = 1000  # between the seeds of two restarts: those of neighbouring fits stay apart


@dataclass(frozen=True, eq=False)
class PGScores:
    """The scores of trained networks."""

    nets: tuple[nn.Sequential, ...]
    probes: tuple[Data, ...]  # a few small training graphs: on these the model is split again after loading
    connected: bool = False  # as for every method

    def __call__(self, instances: Instances, labels: Tensor, target: int | None = None) -> Tensor | UnitReadings:
        """[units] scores, the same for every target class."""
        found = squash(in_batches(instances, labels, lambda soft: ensemble_logits(self.nets, soft)))
        return connected_readings(found, instances) if self.connected else found


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedPGExplainer(FittedExplainer):
    """A PGExplainer that has been fitted."""

    scores: PGScores
    settings: PGSettings

    def save(self, path: str | Path) -> Path:
        """Write the explainer to one file, without its GNN.

        Returns:
            The path.
        """
        tensors, known_by = describe(self.split, self.scores.probes)
        about = {
            **known_by,
            "settings": asdict(self.settings),
            "class_names": self.class_names,
            "hops": self.hops,
            "targets": self.targets,
            "connected": self.scores.connected,
        }
        for name, net in zip(net_names(self.settings), self.scores.nets, strict=True):
            tensors |= named(name, net.state_dict())
        file = named_file(path, "save(path)")
        return write_tensors(file, tensors, {"format": PG_FORMAT, "about": json.dumps(about)})

    @classmethod
    def load(cls, path: str | Path, model: nn.Module, *, forward: Forward | None = None) -> "FittedPGExplainer":
        """Read an explainer; files of version 0.1, which had no target class, are read too.

        Args:
            path: The file.
            model: The GNN it was fitted for.
            forward: As it was given to `fit`: functions are not saved.

        Raises:
            CheckpointError: The file is damaged, of another format, or of another GNN.
        """
        path = named_file(path, "load(path, model)")
        tensors, header = read_tensors(path, PG_FORMAT)
        with damage_told(path):
            about = json.loads(header["about"])
            settings = PGSettings(**{**about["settings"], "temperature": tuple(about["settings"]["temperature"])})
            check_count(path, "hops", about["hops"], MOST_HOPS)
            check_count(path, "networks", settings.restarts, len(tensors), least=1)
            check_count(path, "hidden units", settings.hidden, len(tensors["net.0.weight"]), least=1)
            split, probes = recognise(path, model, forward, tensors, about)
            nets = tuple(restored_gate(part(name, tensors), settings, split.device) for name in net_names(settings))
            connected = about.get("connected", False)
            names, hops, targets = about["class_names"], about["hops"], about.get("targets", [None])
            return cls(
                split=split,
                scores=PGScores(nets, probes, connected),
                kind=GraphKind.of(probes[0]),
                class_names=tuple(names),
                hops=hops,
                targets=tuple(targets),
                settings=settings,
            )


def net_names(settings: PGSettings) -> list[str]:
    """Under which names the networks are saved; a single one as in version 0.1."""
    return ["net", *(f"net{place}" for place in range(1, settings.restarts))]


def restored_gate(weights: dict[str, Tensor], settings: PGSettings, device: torch.device | None) -> nn.Sequential:
    """A network with saved weights."""
    net = gate_net(weights["0.weight"].size(1), settings.hidden).to(device, weights["0.weight"].dtype)
    net.load_state_dict(weights)
    return net.eval()


def noisy_copies(instances: Instances, noise: float, generator: torch.Generator) -> NoisyReadings:
    """Embeddings of noisy copies of the instances, which a network is trained on.

    Args:
        instances: The instances.
        noise: The highest noise level of a copy.
        generator: Draws the copies.
    """
    batch, _ = instances[instances.everything]
    return NoisyReadings(instances, "last", noisy(noise, distinct_features(batch)), POOL, generator)


class PGExplainer(Method):
    """PGExplainer (Luo et al., NeurIPS 2020).

    Args:
        task: "graph", "node" or "link".
        target_class: The class that counterfactuals lead to; None for any class other than the predicted one.
        hops: How far computation graphs of nodes and links reach; measured if None.
        connected: Nodes and links: an edge ranks below the best path that connects it to the explained node.
        **settings: Fields of `PGSettings`.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    soft_masks = True

    load = FittedPGExplainer.load

    def __init__(
        self,
        *,
        task: TaskName = "graph",
        target_class: int | None = None,
        hops: int | None = None,
        connected: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(task=task, target_class=target_class, hops=hops, connected=connected)
        check_names(settings, [*(field.name for field in fields(PGSettings)), *setting_names(PGExplainer)])
        self.settings = PGSettings(**settings)

    def learn(self, training: Callable[[], Instances], seed: int, progress: bool) -> PGScores:
        instances, settings = training(), self.settings
        labels = instances.passes(lambda done: instances.split.log_probs(done.output)).argmax(1)
        seeds = [seed + RESTART_SEEDS * place for place in range(settings.restarts)]
        nets = tuple(trained_gate(instances, labels, settings, one, progress) for one in seeds)
        return PGScores(nets, probe_graphs(instances.split, instances.graphs), self.connected)

    def fitted(self, **parts: Any) -> FittedPGExplainer:
        """The fitted explainer made of these parts."""
        return FittedPGExplainer(**(parts | {"scores": parts["scores"].unit_scores}), settings=self.settings)


def trained_gate(
    instances: Instances, labels: Tensor, settings: PGSettings, seed: int, progress: bool
) -> nn.Sequential:
    """Train one network.

    Args:
        instances: The training instances.
        labels: Their predicted classes, [n].
        settings: The settings.
        seed: Draws first weights, mini-batches and gates.
        progress: Whether to show a progress bar.
    """
    split, generator = instances.split, torch.Generator().manual_seed(seed)

    def some(ids: Tensor) -> SoftBatch:
        return SoftBatch(split, *instances[ids], labels[ids])

    def loss(ids: Tensor, share: float) -> Terms:
        soft = some(ids)
        logits = unit_logits(net, soft)
        terms = mean_loss(soft, logits, share, settings, generator)
        if copies is None:
            return terms
        copied = noisy_logits(net, copies(ids, soft.batch, soft.units, generator), split.task)
        unstable = stability_loss(logits, soft.units.ptr, soft.units.owner, copied, STABLE_TOP)
        return terms | {"stable": settings.weight_stable * unstable.mean()}

    copies = noisy_copies(instances, settings.noise, generator) if settings.weight_stable else None
    inputs, _ = unit_inputs(some(instances.everything[:1]))
    with seeded(seed):
        net = gate_net(inputs.size(1), settings.hidden).to(inputs)
    schedule = Schedule(settings.epochs, settings.lr, settings.batch_size, settings.epochs, constant, keep_last=True)
    run = Training(net, loss, lambda: 0.0, instances.everything, generator, schedule)
    bar = tqdm(run, "PGExplainer", settings.epochs, unit="epoch", disable=not progress)
    for epoch in bar:
        bar.set_postfix(**{name: f"{value:.3f}" for name, value in epoch.terms.items()})
    return net
