"""A fitted explainer: what it holds, and how it is kept on disk.

The file is safetensors, with settings, versions, class names and a fingerprint of the GNN as JSON. The GNN itself is
not saved, only what tells it from another. A few small training graphs are: on these the model is taken apart again
when the explainer is loaded.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer import __version__
from rcexplainer.config import RCConfig
from rcexplainer.core.calibration import Calibration
from rcexplainer.core.mask_net import ConcatGate, EdgeMaskNet, FactorisedGate
from rcexplainer.core.named import named, part
from rcexplainer.core.regions import Regions
from rcexplainer.core.teacher import log_softmax
from rcexplainer.core.training import Epoch
from rcexplainer.core.units import Units
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.explaining import FittedExplainer
from rcexplainer.files import read_tensors, write_tensors
from rcexplainer.gnn.calling import Forward
from rcexplainer.gnn.instances import Instances, node_inputs
from rcexplainer.gnn.probing import SAME
from rcexplainer.gnn.split import Pass, split_model
from rcexplainer.graphs import Kind
from rcexplainer.known import question, questions

FORMAT = "rcexplainer-explainer"


NETWORKS: dict[str, Callable[..., nn.Module]] = {"factorised": FactorisedGate, "concat": ConcatGate}


def as_they_are(logits: Tensor, owner: Tensor, num_instances: int) -> Tensor:
    """Masks are probabilities: σ(f)."""
    return logits


# A ranking says nothing about the level of a whole instance; the softmax over its units makes instances comparable.
LEVELS: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {"share": log_softmax, "mask": as_they_are}


def make_net(nodes: Tensor, embedding: Tensor, questions: int, config: RCConfig) -> EdgeMaskNet:
    """A new mask network for these inputs and so many different questions, standardised on the inputs."""
    widths = nodes.size(1), embedding.size(1)
    gate = NETWORKS[config.network](*widths, questions, config.hidden)
    net = EdgeMaskNet(gate, *widths).to(embedding.device, embedding.dtype)
    if config.standardised:
        net.standardise(nodes, embedding)
    return net


def unit_logits(net: EdgeMaskNet, done: Pass, batch: Data, units: Units, asked: Tensor, config: RCConfig) -> Tensor:
    """f_θ of every unit from one run of the GNN over a batch, at the level the settings ask for."""
    logits = net(node_inputs(done, batch, config.inputs), done.embedding, asked, units.pair, units.owner)
    return LEVELS[config.score](logits, units.owner, len(asked))


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
            parts.append(unit_logits(self.net, instances.split.run(batch), batch, units, asked[ids], self.config))
        return self.calibration(torch.cat(parts), asked[instances.units.owner])


@dataclass(frozen=True, eq=False, kw_only=True)
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
        tensors = {
            **named("net", self.scores.net.state_dict()),
            **named("regions", self.regions.state()),
            "calibration.threshold": self.scores.calibration.threshold,
            "calibration.scale": self.scores.calibration.scale,
            "answers": self.split.run(list(self.probes)).output,
        }
        for number, graph in enumerate(self.probes):
            values = {key: value for key, value in graph.to_dict().items() if isinstance(value, Tensor)}
            tensors |= named(f"probe.{number}", values)
        about = {
            "version": __version__,
            "torch": torch.__version__,
            "config": asdict(self.config),
            "class_names": self.class_names,
            "classes": sorted(self.classes or ()),
            "task": self.split.task,
            "head": self.split.head_name,
            "output": self.split.output,
            "hops": self.hops,
            "targets": self.targets,
            "probes": len(self.probes),
            "model": type(self.split.model).__name__,
            "fingerprint": fingerprint(self.split.model),
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
    _check_fingerprint(path, about["fingerprint"], fingerprint(model))
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    tensors = {name: tensor.to(device) for name, tensor in tensors.items()}
    probes = tuple(Data(**part(f"probe.{number}", tensors)) for number in range(about["probes"]))
    split = split_model(model, list(probes), about["head"], forward, about["task"], about["output"])
    _check_answers(path, about["model"], tensors["answers"], split.run(list(probes)).output, type(model).__name__)
    weights = part("net", tensors)
    widths = len(weights["node_mean"]), len(weights["instance_mean"])
    asked = questions(split.num_classes, about["targets"] != [None])
    net = EdgeMaskNet(NETWORKS[config.network](*widths, asked, config.hidden), *widths)
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


def probe_graph(graph: Data) -> Data:
    """An instance as a graph like any other: without what makes it a computation graph of nodes."""
    return Data.from_dict(
        {key: value for key, value in graph.to_dict().items() if key not in ("root_index", "hop_code")}
    )


def fingerprint(model: nn.Module) -> dict[str, Any]:
    """What tells one GNN from another: shape and content of every parameter and buffer."""

    def digest(tensor: Tensor) -> str:
        return hashlib.sha256(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()[:16]

    return {name: [list(tensor.shape), digest(tensor.reshape(-1))] for name, tensor in model.state_dict().items()}


def _check_fingerprint(path: Path, saved: dict[str, Any], given: dict[str, Any]) -> None:
    for name in sorted(saved.keys() | given.keys()):
        if name not in given or name not in saved:
            has, lacks = ("the saved one", "this one") if name in saved else ("this one", "the saved one")
            raise CheckpointError(f"{path} was fitted for another GNN: {has} has {name}, {lacks} does not")
        if saved[name] != given[name]:
            shapes = tuple(saved[name][0]), tuple(given[name][0])
            what = "its values differ" if shapes[0] == shapes[1] else f"its shape was {shapes[0]}, now {shapes[1]}"
            raise CheckpointError(f"{path} was fitted for another GNN, or this one was trained since: {name}, {what}")


def _check_answers(path: Path, name: str, saved: Tensor, given: Tensor, own: str) -> None:
    """The same weights in another architecture are another GNN."""
    size = saved.abs().max().clamp_min(1e-6)
    worst = float((saved - given).abs().max() / size) if saved.shape == given.shape else float("inf")
    if not worst <= SAME:
        raise CheckpointError(
            f"{path} was fitted for another GNN ({name}): this {own} has the same weights and answers differently on "
            f"the graphs saved with it, by {worst:.2g} of what it says"
        )
