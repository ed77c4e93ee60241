"""The accuracy of a GNN over several seeds: each draws the data where it is generated, the split and the weights."""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from rcexplainer import __version__
from rcexplainer.datasets import GraphDataset, load, task_of
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNNConfig, TrainConfig, TrainedGNN, gnn_config, save_gnn, train_gnn
from rcexplainer.gnn.models import DEFAULT_MODELS
from rcexplainer.gnn.trainer import DEFAULT_TRAINING
from rcexplainer.saving.checkpoint import FitFile
from rcexplainer.saving.documents import UNFINISHED

PARTS = ("train", "val", "test")
# The defaults of `train_gnn` do well on most sets. On BA-2motifs they stop as soon as every graph is classified, by any
# feature that separates the classes; only longer training at a higher learning rate gives networks whose prediction
# changes when the motif is deleted, so that the ground truth says something about them.
# On three-motifs the default training, and a higher learning rate alone, leave some classes recognised by what they
# lack: deleting one of their motifs changes nothing. With weight decay they rely on both of their motifs more evenly.
# On motif-unions more epochs at twice the default learning rate are more accurate; at .02 networks with a deep head
# predict one class for every graph.
# In node sets a motif's nodes have fewer edges than the base's: a node that lost all its edges would be taken for part
# of a motif, and deleting the motif would change nothing. The networks are also trained on nodes without edges, which
# count as nodes of the base.
TRAINING_SETTINGS = {
    "ba-2motifs": TrainConfig(epochs=600, lr=0.05, patience=600),
    "three-motifs": TrainConfig(epochs=400, lr=0.02, weight_decay=0.001, patience=400),
    "motif-unions": TrainConfig(epochs=400, lr=0.01, patience=400),
    "ba-shapes": replace(DEFAULT_TRAINING["node"], without_edges=(0,) * 4),
    "ba-community": replace(DEFAULT_TRAINING["node"], without_edges=(0,) * 4 + (4,) * 4),
    "tree-cycles": replace(DEFAULT_TRAINING["node"], without_edges=(0, 0)),
    "ba-grid": replace(DEFAULT_TRAINING["node"], without_edges=(0, 0)),
    "tree-grid": replace(DEFAULT_TRAINING["node"], without_edges=(0, 0)),
}


def training_settings(dataset: str) -> TrainConfig | None:
    """How a network for this dataset is trained; None: with the defaults for its task."""
    return TRAINING_SETTINGS.get(dataset)


@dataclass(frozen=True)
class TrainingRun:
    """One trained network."""

    seed: int
    accuracy: dict[str, float]
    best_epoch: int
    seconds: float
    checkpoint: str | None = None


@dataclass(frozen=True)
class AccuracyReport:
    """All networks of one architecture trained on one dataset."""

    dataset: str
    arch: str
    config: GNNConfig
    training: TrainConfig
    runs: tuple[TrainingRun, ...]

    def mean(self, part: str) -> float:
        """Mean accuracy over the seeds on one of PARTS."""
        return fmean(run.accuracy[part] for run in self.runs)

    def std(self, part: str) -> float:
        """Sample standard deviation over the seeds; 0 for a single one."""
        return stdev(run.accuracy[part] for run in self.runs) if len(self.runs) > 1 else 0.0

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        summary = {part: {"mean": self.mean(part), "std": self.std(part)} for part in PARTS}
        return {**asdict(self), "accuracy": summary, "versions": versions()}


def versions() -> dict[str, str]:
    """The versions that a number depends on."""
    packages = ("torch", "torch-geometric", "numpy")
    return {
        "python": platform.python_version(),
        "rcexplainer": __version__,
        **{name: version(name) for name in packages},
    }


def train_seeds(
    dataset: str,
    arch: str | None = None,
    seeds: Sequence[int] = (0,),
    *,
    root: Path | None = None,
    out: Path | None = None,
    device: str | None = None,
    progress: bool = True,
    training: dict[str, Any] | None = None,
    architecture: dict[str, Any] | None = None,
) -> AccuracyReport:
    """Train a network for each seed.

    Args:
        dataset: A name of `rcexplainer.datasets`.
        arch: A name of `rcexplainer.gnn.models.MODELS`; None: the usual one for this kind of set, as in `evaluate`.
        seeds: Each draws its own data, split and weights.
        root: Where downloaded datasets are.
        out: A folder for the trained networks; None: they are not kept. Started again after it was stopped, the same
            call goes on from there.
        device: Where they are trained; None: the CPU.
        progress: Show a progress bar.
        training: Fields of `TrainConfig` to change.
        architecture: Fields of `GNNConfig` to change.

    Returns:
        The accuracy of each network.

    Raises:
        RCExplainerError: There is no seed, or dataset, architecture or one of the fields is wrong.
    """
    if not seeds:
        raise RCExplainerError("at least one seed is needed")
    arch = arch or DEFAULT_MODELS[task_of(dataset)]
    runs: list[TrainingRun] = []
    with _unfinished(out, dataset, arch, (training, architecture, str(root), device)) as file:
        for seed in seeds:
            data = load(dataset, root=root, seed=seed)
            config = gnn_config(arch, data.num_features, data.num_classes, data.task, **(architecture or {}))
            settings = replace(training_settings(data.name) or DEFAULT_TRAINING[data.task], **(training or {}))
            if (done := _finished(file, seed)) is not None:
                runs.append(done)
                continue
            trained = train_gnn(
                config, data.graphs, data.split, settings=settings, seed=seed, device=device, progress=progress,
                file=file,
            )  # fmt: skip
            path = None if out is None else _keep(out, data, arch, trained)
            runs.append(TrainingRun(seed, trained.accuracy, trained.best_epoch, trained.seconds, path))
            file.drop(f"training {seed}")
            file.put(f"seed {seed}", {}, json.dumps(asdict(runs[-1])))
        file.remove()
    return AccuracyReport(dataset, arch, config, settings, tuple(runs))


def _unfinished(out: Path | None, dataset: str, arch: str, arguments: tuple[Any, ...]) -> FitFile:
    """What is kept of a command until all its seeds are trained: the seeds that are, and the training under way."""
    if out is None:
        return FitFile(None, {})
    run = {"dataset": dataset, "arch": arch, "arguments": arguments, "versions": versions()}
    return FitFile(out / f"{_plain(dataset)}-{arch}{UNFINISHED}", run)


def _finished(file: FitFile, seed: int) -> TrainingRun | None:
    """A seed that was trained before the command was stopped, if its network is still there."""
    found = file.get(f"seed {seed}")
    if found is None:
        return None
    run = TrainingRun(**json.loads(found[1]))
    return run if run.checkpoint is not None and Path(run.checkpoint).is_file() else None


def _keep(out: Path, data: GraphDataset, arch: str, trained: TrainedGNN) -> str:
    """Write a trained network; its path."""
    info = {"dataset": data.name, "seed": trained.seed, "accuracy": trained.accuracy, "class_names": data.class_names}
    return str(save_gnn(out / f"{_plain(data.name)}-{arch}-{trained.seed}.safetensors", trained.model, info))


def _plain(name: str) -> str:
    """The name of a dataset, which may be a path, as part of a file's name."""
    return name.replace(":", "-").replace("/", "-")
