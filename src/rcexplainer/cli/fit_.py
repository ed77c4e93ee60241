"""An explainer for a saved GNN: fitted on the training graphs, stopped by the validation graphs, kept in a file."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

from rcexplainer.benchmark.accuracy import versions
from rcexplainer.config import RCConfig
from rcexplainer.datasets import GraphDataset, load
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.explainer import FittedRCExplainer, RCExplainer
from rcexplainer.gnn import GNN, load_gnn
from rcexplainer.gnn.device import usable_device
from rcexplainer.saving.documents import ready

TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class FitReport:
    """What was fitted, on what, and how it went."""

    dataset: str
    gnn: str
    explainer: str
    seed: int
    preset: str
    settings: dict[str, Any]  # all of them, as they were used: after a collapse they are safer than what was asked for
    graphs: int
    validation: int
    regions: tuple[dict[str, Any], ...]
    summary: str
    epochs: int
    validation_loss: float
    seconds: float

    def row(self) -> dict[str, Any]:
        """What fits on a line."""
        return {
            "graphs": self.graphs,
            "validation": self.validation,
            "regions": len(self.regions),
            "epochs": self.epochs,
            "seconds": round(self.seconds, 1),
            "validation_loss": self.validation_loss,
        }

    def caption(self) -> str:
        return f"{self.summary}\n\nfitted for {self.gnn} on {self.dataset}, saved in {self.explainer}"

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "summary"} | {"versions": versions()}


@dataclass(frozen=True, eq=False)
class Opened:
    """A saved GNN and its dataset, split as it was when the GNN was trained."""

    data: GraphDataset
    model: GNN
    seed: int


def open_gnn(
    dataset: str, gnn: Path, seed: int | None = None, *, root: Path | None = None, device: str | None = None
) -> Opened:
    """Load both; an error where the GNN was trained on other data, or on another split of them.

    Without `seed` it is the one the GNN was trained with, where that was written down, else 0.
    """
    saved = load_gnn(gnn, usable_device(device))
    trained = saved.info.get("seed")
    if seed is not None and trained is not None and seed != trained:
        raise CheckpointError(f"{gnn} was trained with seed {trained}: --seed {seed} would give it another split")
    used = next(value for value in (seed, trained, 0) if value is not None)
    data = load(dataset, root=root, seed=used)
    if data.task != "graph" or saved.model.config.task != "graph":
        what, task = (dataset, data.task) if data.task != "graph" else (gnn, saved.model.config.task)
        raise RCExplainerError(
            f"{what} is of {task}s: this command is for graphs; `rcexplainer evaluate --dataset {data.name}` fits and "
            f'explains {task}s, and in Python it is RCExplainer(task="{task}")'
        )
    before = saved.info.get("dataset")
    if before is not None and not _same_set(before, data.name):
        raise CheckpointError(f"{gnn} was trained on {before}, not on {data.name}")
    config = saved.model.config
    for what, own, other in (
        ("node features", config.num_features, data.num_features),
        ("classes", config.num_classes, data.num_classes),
    ):
        if own != other:
            raise CheckpointError(f"{gnn} was trained on other data: it has {own} {what}, {data.name} has {other}")
    return Opened(data, saved.model, used)


def _same_set(one: str, other: str) -> bool:
    """A user's file is the same from whichever folder it is named."""
    return one == other or (one.startswith("csv:") and other.startswith("csv:") and Path(one).name == Path(other).name)


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """`name=value` for fields of `RCConfig`, each value as its field's type; unknown names are left to `RCConfig`."""
    hints = get_type_hints(RCConfig)
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise RCExplainerError(f"--set takes name=value, such as epochs=20, got {text!r}")
        found[name] = _parse(name, value, hints.get(name, str))
    return found


def _parse(name: str, value: str, hint: Any) -> Any:
    try:
        if hint in (int, int | None):
            return int(value)
        if hint is float:
            return float(value)
        if hint is bool:
            return TRUTHS[value.lower()]
    except (ValueError, KeyError):
        kind = {int: "a whole number", int | None: "a whole number", float: "a number", bool: "true or false"}[hint]
        raise RCExplainerError(f"{name} must be {kind}, got {value!r}") from None
    return value


def fit_saved(
    dataset: str,
    gnn: Path,
    out: Path,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    checkpoint: Path | None = None,
    seed: int | None = None,
    root: Path | None = None,
    device: str | None = None,
    progress: bool = True,
) -> FitReport:
    """Fit an explainer for the GNN saved in `gnn` and write it to `out`."""
    explainer = RCExplainer(preset=preset, **(settings or {}))  # first: what is wrong with them costs no time
    ready(out)
    if checkpoint is not None:
        ready(checkpoint, "--checkpoint")
    opened = open_gnn(dataset, gnn, seed, root=root)
    data = opened.data
    training, validation = data.subset("train"), data.subset("val")
    started = time.perf_counter()
    fitted = explainer.fit(
        opened.model,
        training,
        val=validation or None,
        class_names=data.class_names,
        checkpoint=checkpoint,
        seed=opened.seed,
        progress=progress,
        device=device,
    )
    seconds = time.perf_counter() - started
    fitted.save(out)
    return FitReport(
        dataset=data.name,
        gnn=str(gnn),
        explainer=str(out),
        seed=opened.seed,
        preset=preset,
        settings=asdict(fitted.config),
        graphs=len(training),
        validation=len(validation),
        regions=_regions(fitted, data.class_names),
        summary=str(fitted.regions),
        epochs=len(fitted.history),
        validation_loss=min((epoch.val for epoch in fitted.history), default=float("nan")),
        seconds=seconds,
    )


def _regions(fitted: FittedRCExplainer, class_names: Sequence[str]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "class": class_names[region.label],
            "boundaries": len(region.rows),
            "covered": region.covered,
            "intruders": region.intruders,
        }
        for region in fitted.regions.regions
    )
