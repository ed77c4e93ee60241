"""A fitted explainer: what it holds, and how it is kept on disk.

The file is safetensors, with settings, versions, class names and a fingerprint of the GNN as JSON. The GNN itself is
not saved, only what it is recognised by.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from torch_geometric.data import Data

from rcexplainer import __version__
from rcexplainer.config import RCConfig
from rcexplainer.core.calibration import Calibration
from rcexplainer.core.connectivity import connected
from rcexplainer.core.mask_net import ConcatGate, EdgeMaskNet, FactorisedGate, Mean, NeighbourGate, mean_of
from rcexplainer.core.namespace import named, part
from rcexplainer.core.plackett_luce import log_softmax
from rcexplainer.core.regions import Regions
from rcexplainer.core.training import Epoch
from rcexplainer.core.units import Units
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.fit.data import question, questions
from rcexplainer.gnn.forward import Forward
from rcexplainer.gnn.graph_checks import Kind
from rcexplainer.gnn.instances import Instances, node_inputs
from rcexplainer.gnn.split import Pass
from rcexplainer.method.explaining_ import FittedExplainer
from rcexplainer.saving.files import read_tensors, write_tensors
from rcexplainer.saving.fingerprint import describe, device_of, recognise

FORMAT = "rcexplainer-explainer"


NETWORKS: dict[str, Callable[..., nn.Module]] = {
    "neighbours": NeighbourGate,
    "factorised": FactorisedGate,
    "concat": ConcatGate,
}


def as_they_are(logits: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """Masks are probabilities: σ(f)."""
    return logits


# A ranking says nothing about the level of a whole instance; the softmax over its units makes instances comparable.
LEVELS: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {"share": log_softmax, "mask": as_they_are}


def mean_share(logits: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """The logarithm of the mean share, but for a constant."""
    return torch.stack([log_softmax(own, owner, num_instances) for own in logits]).logsumexp(0)


def mean_mask(logits: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """The logit of the mean of σ(f). Not by way of the mean itself: near 0 and 1 edges would all be the same."""
    return logsigmoid(logits).logsumexp(0) - logsigmoid(-logits).logsumexp(0)


MEANS: dict[str, Mean] = {"share": mean_share, "mask": mean_mask}


def make_gate(node_width: int, instance_width: int, questions: int, config: RCConfig) -> nn.Module:
    """A new gate for inputs of these widths."""
    return NETWORKS[config.network](node_width, instance_width, questions, config.hidden)


def make_net(nodes: Tensor, embedding: Tensor, questions: int, config: RCConfig) -> EdgeMaskNet:
    """A new mask network for these inputs and so many different questions, standardised on the inputs."""
    widths = nodes.size(1), embedding.size(1)
    net = EdgeMaskNet(make_gate(*widths, questions, config), *widths).to(embedding.device, embedding.dtype)
    if config.standardised:
        net.standardise(nodes, embedding)
    return net


def unit_logits(net: EdgeMaskNet, done: Pass, batch: Data, units: Units, asked: Tensor, config: RCConfig) -> Tensor:
    """f_θ of every unit from one run of the GNN over a batch, at the level the settings ask for."""
    logits = net(node_inputs(done, batch, config.inputs), done.embedding, asked, units.pair, units.owner)
    return LEVELS[config.score](logits, units.owner, len(asked))


def shown_logits(net: EdgeMaskNet, done: Pass, batch: Data, units: Units, asked: Tensor, config: RCConfig) -> Tensor:
    """The same as people see them: with `connected`, what does not hang together with the node comes after what does.

    Masks are trained without: whether an edge at the end of a path helps is learnt before the path is there.
    """
    logits = unit_logits(net, done, batch, units, asked, config)
    roots = batch.get("root_index", batch.get("edge_label_index"))
    if not config.connected or roots is None:
        return logits
    rounds = batch.hop_code.size(1) - 1  # at least as many as messages are passed
    return connected(logits, units.pair, roots.flatten(), int(batch.num_nodes or 0), rounds)


@dataclass(frozen=True, eq=False)
class MaskScores:
    """The scores of the mask network: one forward pass of the GNN, then f_θ, then the calibration."""

    net: EdgeMaskNet
    calibration: Calibration
    config: RCConfig
    conditioned: bool = False  # whether the network is told which other class is asked about

    @torch.no_grad()
    def __call__(self, instances: Instances, labels: Tensor, target: int | None = None) -> Tensor:
        towards = labels if target is None else torch.full_like(labels, target)
        asked = question(labels, towards, instances.split.num_classes, self.conditioned)
        parts: list[Tensor] = []
        for ids in instances.chunks(instances.everything):
            batch, units = instances[ids]
            parts.append(shown_logits(self.net, instances.split.run(batch), batch, units, asked[ids], self.config))
        return self.calibration(torch.cat(parts), asked[instances.units.owner])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedRCExplainer(FittedExplainer):
    """An RCExplainer that has been fitted. Its parts are open to be looked at."""

    scores: MaskScores
    config: RCConfig
    regions: Regions
    probes: tuple[Data, ...]  # a few small training graphs: on these the model is split again after loading
    targets: tuple[int | None, ...] = (None,)  # the other classes it was trained to lead to; None: any
    history: tuple[Epoch, ...] = ()

    def chosen(self, target_class: int | None) -> int | None:
        """An explainer fitted for one class only is always asked about that one."""
        target = super().chosen(target_class)
        if target is None and None not in self.targets:
            target = self.targets[0]
        if target not in self.targets and None not in self.targets:
            known = ", ".join(map(str, self.targets))
            raise RCExplainerError(f"the explainer was fitted for target_class {known}, not {target}")
        return target

    def scored(self, instances: Instances, labels: Tensor, target: int | None) -> Tensor:
        """Towards a class it was not trained for, the scores are those of leading to any other."""
        return self.scores(instances, labels, target if target in self.targets else None)

    def save(self, path: str | Path) -> Path:
        """Write the explainer to one file; `rcexplainer.load(path, model)` reads it."""
        model, known_by = describe(self.split, self.probes)
        tensors = {
            **model,
            **named("net", self.scores.net.state_dict()),
            **named("regions", self.regions.state()),
            "calibration.threshold": self.scores.calibration.threshold,
            "calibration.scale": self.scores.calibration.scale,
        }
        about = {
            **known_by,
            "config": asdict(self.config),
            "class_names": self.class_names,
            "classes": sorted(self.classes or ()),
            "hops": self.hops,
            "targets": self.targets,
        }
        return write_tensors(Path(path), tensors, {"format": FORMAT, "about": json.dumps(about)})


def load(path: str | Path, model: nn.Module, *, forward: Forward | None = None) -> FittedRCExplainer:
    """Read an explainer written by `save`; `model` must be the GNN it was fitted for.

    `forward` is needed again where `fit` was given one: functions are not saved.
    """
    path = Path(path)
    tensors, header = read_tensors(path, FORMAT)
    try:
        about = json.loads(header["about"])
        config = RCConfig(**about["config"])
        return _load(path, model, forward, tensors, about, config)
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path} is damaged or was written by another version: {error}") from error


def _load(
    path: Path,
    model: nn.Module,
    forward: Forward | None,
    tensors: dict[str, Tensor],
    about: dict[str, Any],
    config: RCConfig,
) -> FittedRCExplainer:
    split, probes = recognise(path, model, forward, tensors, about)
    device = device_of(model)
    tensors = {name: tensor.to(device) for name, tensor in tensors.items()}
    weights = part("net", tensors)
    widths = len(weights["node_mean"]), len(weights["instance_mean"])
    asked = questions(split.num_classes, about["targets"] != [None])
    kept = max(1, len({name.split(".")[2] for name in weights if name.startswith("gate.gates.")}))
    gates = [make_gate(*widths, asked, config) for _ in range(kept)]
    net = mean_of([EdgeMaskNet(gate, *widths) for gate in gates], MEANS[config.score])
    net = net.to(device, weights["node_mean"].dtype)
    try:
        net.load_state_dict(weights)
    except RuntimeError as error:
        raise CheckpointError(f"{path} was written by version {about['version']}, this is {__version__}") from error
    calibration = Calibration(**part("calibration", tensors))
    return FittedRCExplainer(
        split=split,
        scores=MaskScores(net.eval(), calibration, config, about["targets"] != [None]),
        kind=Kind.of(probes[0]),
        class_names=tuple(about["class_names"]),
        classes=frozenset(about["classes"]),
        hops=about["hops"],
        targets=tuple(about["targets"]),
        config=config,
        regions=Regions.from_state(part("regions", tensors)),
        probes=probes,
    )
