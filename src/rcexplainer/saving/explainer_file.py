"""The file of a fitted RCExplainer: safetensors with settings, class names and the fingerprint of its GNN as JSON.

The GNN itself is not saved, only what it is recognised by. Files of version 0.1 are read too: their settings are
translated to today's.
"""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer import __version__
from rcexplainer.config import RCConfig
from rcexplainer.core.calibration import Calibration
from rcexplainer.core.namespace import named, part
from rcexplainer.core.regions import Regions
from rcexplainer.errors import CheckpointError
from rcexplainer.gnn.device import device_of
from rcexplainer.gnn.forward import Forward
from rcexplainer.gnn.split import SplitModel
from rcexplainer.saving.files import damage_told, named_file, read_tensors, write_tensors
from rcexplainer.saving.fingerprint import describe, recognise
from rcexplainer.saving.header_claims import MOST_HOPS, check_count

FORMAT = "rcexplainer-explainer"
# Settings of 0.1 that are constants now, or follow from others, with the value that today's code has for them.
CONSTANTS = {
    "hidden": 64,
    "coverage": "count",
    "warmup": 0.0,
    "teacher_depth": 0.3,
    "teacher_steps": 32,
    "teacher_candidates": 64,
    "teacher_tolerance": 0.01,
    "outcome_draws": 2,
}


@dataclass(frozen=True, eq=False)
class SavedExplainer:
    """What a file holds, with its model split again."""

    split: SplitModel
    config: RCConfig
    weights: dict[str, Tensor]  # of the mask network
    ensemble: int  # how many gates it averages
    calibration: Calibration
    regions: Regions
    probes: tuple[Data, ...]  # a few small training graphs: on these the model is split after loading
    class_names: tuple[str, ...]
    classes: frozenset[int]
    hops: int
    targets: tuple[int | None, ...]  # classes it can lead to
    network_targets: tuple[int | None, ...]  # classes the mask network has output rows for
    relevance: dict[str, Tensor] | None = None  # of the relevance network; None or empty: there is none
    plan: dict[str, Tensor] | None = None  # of the plan network, likewise


def write_explainer(path: str | Path, saved: SavedExplainer) -> Path:
    """Write an explainer to one file, whole or not at all."""
    model, known_by = describe(saved.split, saved.probes)
    tensors = {
        **model,
        **named("net", saved.weights),
        **named("regions", saved.regions.state()),
        **named("relevance", saved.relevance or {}),
        **named("plan", saved.plan or {}),
        "calibration.threshold": saved.calibration.threshold,
        "calibration.scale": saved.calibration.scale,
    }
    about = {
        **known_by,
        "config": asdict(saved.config),
        "class_names": saved.class_names,
        "classes": sorted(saved.classes),
        "hops": saved.hops,
        "targets": saved.targets,
        "network_targets": saved.network_targets,
        "ensemble": saved.ensemble,
        "relative": saved.calibration.relative,
    }
    return write_tensors(Path(path), tensors, {"format": FORMAT, "about": json.dumps(about)})


def read_explainer(path: str | Path, model: nn.Module, forward: Forward | None = None) -> SavedExplainer:
    """Read a file and split the model again.

    Args:
        path: The file.
        model: The GNN the explainer was fitted for.
        forward: As it was given to `fit`: functions are not saved.

    Raises:
        CheckpointError: The file is damaged, of another format, or of another GNN.
    """
    path = named_file(path, "load(path, model)")
    tensors, header = read_tensors(path, FORMAT)
    with damage_told(path):
        about = json.loads(header["about"])
        config = config_of(about["config"])
        check_count(path, "hops", about["hops"], MOST_HOPS)
        check_count(path, "averaged gates", about.get("ensemble", 1), len(tensors), least=1)
        split, probes = recognise(path, model, forward, tensors, about)
        tensors = {name: tensor.to(device_of(model)) for name, tensor in tensors.items()}
        return SavedExplainer(
            split=split,
            config=config,
            weights=part("net", tensors),
            ensemble=about["ensemble"] if "ensemble" in about else _counted(part("net", tensors)),
            calibration=Calibration(**part("calibration", tensors), relative=about.get("relative", False)),
            regions=Regions.from_state(part("regions", tensors)),
            probes=probes,
            class_names=tuple(about["class_names"]),
            classes=frozenset(about["classes"]),
            hops=about["hops"],
            targets=tuple(about["targets"]),
            network_targets=tuple(about.get("network_targets", about["targets"])),
            relevance=part("relevance", tensors),
            plan=part("plan", tensors),
        )


def config_of(saved: dict[str, Any]) -> RCConfig:
    """The settings of a file, in today's names.

    Raises:
        CheckpointError: The file has settings that today's version does not have.
    """
    known = {field.name for field in fields(RCConfig)}
    saved = {name: value for name, value in saved.items() if name != "sampler"}  # of the training alone
    settings = translated(saved) if saved.keys() - known else dict(saved)
    settings["temperature"] = tuple(settings["temperature"])
    if unknown := sorted(settings.keys() - known):
        raise CheckpointError(
            f"the explainer has settings that version {__version__} does not know: {', '.join(unknown)}"
        )
    return RCConfig(**settings)


def translated(saved: dict[str, Any]) -> dict[str, Any]:
    """Settings of version 0.1 in the names of 0.2; a value that 0.2 cannot express is left, to be refused by name."""
    new = {key: value for key, value in saved.items() if CONSTANTS.get(key, _MISSING) != value}
    new["temperature"] = (new["temperature"], new.pop("temperature_end"))
    if new.pop("keep") == "last":
        new["patience"] = None
    for name in ("decay", "averaged", "press", "widen", "hops"):  # of the training alone, or saved apart
        new.pop(name)
    if (new["score"] == "share") == (new["gate"] == "budget"):
        new.pop("score")
    if new["standardised"] == (new["network"] != "concat"):
        new.pop("standardised")
    return new


def _counted(weights: dict[str, Tensor]) -> int:
    """Version 0.1 did not write down how many gates were averaged: their parameters are numbered `gate.gates.0.…`."""
    numbers = {name.split(".")[2] for name in weights if name.startswith("gate.gates.")}
    return max(1, len(numbers))


_MISSING = object()
