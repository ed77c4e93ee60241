"""Trained networks for datasets, kept in a folder where one is given; samples drawn with a seed."""

import copy
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch_geometric.data import Data
from tqdm.auto import tqdm

from rcexplainer import __version__
from rcexplainer.benchmark.recipes import recipe_of
from rcexplainer.datasets import GraphDataset, load
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn import GNNConfig, TrainConfig, TrainedGNN, gnn_config, load_gnn, save_gnn, train_gnn
from rcexplainer.gnn.device import usable_device
from rcexplainer.saving.checkpoint import FitFile, digest
from rcexplainer.saving.documents import UNFINISHED
from rcexplainer.saving.fingerprint import weights_digest


def each_seed(seeds: Sequence[int], dataset: str, progress: bool) -> Iterable[int]:
    """The seeds, with a progress bar if there are several."""
    return tqdm(seeds, desc=dataset, unit="seed", disable=not progress or len(seeds) < 2)


def trained_gnn(
    dataset: str,
    arch: str,
    seed: int,
    *,
    root: Path | None = None,
    device: str | None = None,
    progress: bool = True,
    task: str = "graph",
    keep: Path | None = None,
    recipe: str = "ours",
) -> tuple[GraphDataset, TrainedGNN]:
    """A dataset as this seed splits it, and a network trained on its training instances.

    Args:
        dataset: A name of `rcexplainer.datasets`.
        arch: A name of `rcexplainer.gnn.models.MODELS`.
        seed: Draws the data where it is generated, its split and the weights.
        root: Where downloaded datasets are.
        device: Where the network is trained; None: the CPU.
        progress: Show a progress bar.
        task: What the instances of the dataset must be.
        keep: A folder; a network kept there is loaded instead of trained, a new one is written there.
        recipe: How it is trained, a key of `RECIPES`.

    Returns:
        The dataset, of which a recipe may leave some graphs out, and the network with its accuracy.

    Raises:
        RCExplainerError: The dataset has other instances, or dataset or architecture are unknown.
    """
    known = recipe_of(recipe)
    data = load(dataset, root=root, seed=seed)
    if data.task != task:
        raise RCExplainerError(f"{dataset} is a {data.task} set: this is for {task} sets")
    data = known.data(data)
    config = gnn_config(arch, data.num_features, data.num_classes, data.task)
    settings = known.settings(data.name)
    path = None if keep is None else keep / f"{_name(dataset, arch, seed, config, settings)}.safetensors"
    if path is not None and (kept := _kept(path, seed)) is not None:
        return data, kept
    with training_file(path, config, settings, data, seed, device) as file:
        trained = train_gnn(
            config, data.graphs, data.split, settings=settings, seed=seed, device=device, progress=progress, file=file
        )
        if path is not None:
            about = {"accuracy": trained.accuracy, "best_epoch": trained.best_epoch, "seconds": trained.seconds}
            save_gnn(path, trained.model, about)
        file.remove()
    return data, trained


def training_file(
    path: Path | None, config: GNNConfig, settings: TrainConfig, data: GraphDataset, seed: int, device: str | None
) -> FitFile:
    """The checkpoint of a training, beside the file that the network will be in; it is gone when the training is done.

    Args:
        path: The network's file; None: there is no checkpoint.
        config: The network.
        settings: Of the training.
        data: What it is trained on.
        seed: Random seed.
        device: Where it is trained.
    """
    if path is None:
        return FitFile(None, {})
    run = {
        "config": asdict(config),
        "settings": asdict(settings),
        "data": digest(data.graphs),
        "seed": seed,
        "device": str(device),
        "version": __version__,
    }
    return FitFile(path.with_suffix(UNFINISHED), run)


def _name(dataset: str, arch: str, seed: int, config: GNNConfig, settings: TrainConfig) -> str:
    """A file name that changes with whatever the trained network depends on."""
    text = json.dumps([asdict(config), asdict(settings)], sort_keys=True)
    plain = "".join(letter if letter.isalnum() or letter == "-" else "_" for letter in dataset)
    return f"{plain}-{arch}-{seed}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _kept(path: Path, seed: int) -> TrainedGNN | None:
    """The network in this file; None if there is none, or only a part of one."""
    try:
        saved = load_gnn(path)
        info = saved.info
        return TrainedGNN(saved.model, info["accuracy"], info["best_epoch"], info["seconds"], seed)
    except (CheckpointError, KeyError):
        return None


def kept_weights(folder: Path) -> dict[Path, str]:
    """The hashes of the weights of all networks that are kept in a folder.

    Args:
        folder: The folder; it need not exist.

    Returns:
        File → `weights_digest`; files that cannot be read are left out.
    """
    found: dict[Path, str] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            found[path] = weights_digest(load_gnn(path).model)
        except CheckpointError:
            continue
    return found


def on_device(graphs: Sequence[Data], device: str | None) -> list[Data]:
    """Copies of the graphs on the device; without one, the graphs themselves."""
    return list(graphs) if device is None else [copy.copy(graph).to(usable_device(device)) for graph in graphs]


def sample(count: int, most: int, seed: int) -> list[int]:
    """At most `most` positions out of `count`, drawn with the seed, in ascending order."""
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return order[:most].sort().values.tolist()
