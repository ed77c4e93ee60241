"""The steps that every evaluation has: a trained GNN, the methods to compare, and their explanations.

With a device, network and graphs are moved there. Explanations come back on the CPU, and are judged there.
"""

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch_geometric.data import Data
from tqdm.auto import tqdm

from rcexplainer.baselines import GreedyDeletion, Occlusion, Random
from rcexplainer.benchmark.accuracy import training_settings
from rcexplainer.benchmark.results import OURS
from rcexplainer.datasets import GraphDataset, load
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.explainer import FittedRCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import (
    GNNConfig,
    SplitModel,
    TrainConfig,
    TrainedGNN,
    gnn_config,
    load_gnn,
    save_gnn,
    split_model,
    train_gnn,
)
from rcexplainer.gnn.device import usable_device
from rcexplainer.gnn.trainer import DEFAULT_TRAINING
from rcexplainer.method.fitted_explainer import FittedExplainer


def each_seed(seeds: Sequence[int], dataset: str, progress: bool) -> Iterable[int]:
    """The seeds; where there are several, with a progress bar."""
    return tqdm(seeds, desc=dataset, unit="seed", disable=not progress or len(seeds) < 2)


def trained_gnn(
    dataset: str,
    model: str,
    seed: int,
    *,
    root: Path | None = None,
    device: str | None = None,
    progress: bool = True,
    task: str = "graph",
    keep: Path | None = None,
) -> tuple[GraphDataset, TrainedGNN]:
    """The dataset as this seed splits it, and a network trained on its training instances; with `keep`, a folder, the
    network is looked for there first, and kept there."""
    data = load(dataset, root=root, seed=seed)
    if data.task != task:
        raise RCExplainerError(f"{dataset} is a {data.task} set: this is for {task} sets")
    config = gnn_config(model, data.num_features, data.num_classes, data.task)
    settings = training_settings(data.name) or DEFAULT_TRAINING[data.task]
    path = None if keep is None else keep / f"{_name(dataset, model, seed, config, settings)}.safetensors"
    if path is not None and (known := _kept(path, seed)) is not None:
        return data, known
    trained = train_gnn(config, data.graphs, data.split, settings=settings, seed=seed, device=device, progress=progress)
    if path is not None:
        about = {"accuracy": trained.accuracy, "best_epoch": trained.best_epoch, "seconds": trained.seconds}
        save_gnn(path, trained.model, about)
    return data, trained


def _name(dataset: str, model: str, seed: int, config: GNNConfig, settings: TrainConfig) -> str:
    """What a trained network depends on."""
    text = json.dumps([asdict(config), asdict(settings)], sort_keys=True)
    plain = "".join(letter if letter.isalnum() or letter == "-" else "_" for letter in dataset)
    return f"{plain}-{model}-{seed}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _kept(path: Path, seed: int) -> TrainedGNN | None:
    """The network kept there; None if there is none, or half of one."""
    try:
        saved = load_gnn(path)
        info = saved.info
        return TrainedGNN(saved.model, info["accuracy"], info["best_epoch"], info["seconds"], seed)
    except (CheckpointError, KeyError):
        return None


def on_device(graphs: Sequence[Data], device: str | None) -> list[Data]:
    """The graphs, or copies of them on the device."""
    return list(graphs) if device is None else [copy.copy(graph).to(usable_device(device)) for graph in graphs]


def judge_of(trained: TrainedGNN, data: GraphDataset) -> SplitModel:
    """The network on the CPU, where explanations are, whichever device they were made on."""
    return split_model(copy.deepcopy(trained.model).cpu(), data.graphs)


def with_baselines(
    fitted: FittedRCExplainer, graphs: Sequence[Data], seed: int, depth: float
) -> dict[str, FittedExplainer]:
    """RCExplainer and what it is compared with; greedy deletion goes as far as `depth` of the units."""
    model = fitted.split.model
    return {
        OURS: fitted,
        "greedy": GreedyDeletion(depth).fit(model, graphs),
        "occlusion": Occlusion().fit(model, graphs),
        "random": Random(seed).fit(model, graphs),
    }


def explain_all(
    methods: Mapping[str, FittedExplainer], graphs: Sequence[Data], search: bool = True
) -> tuple[dict[str, list[Explanation]], dict[str, int]]:
    """Every method's explanations of the graphs that all of them can explain; how many each of them cannot.

    RCExplainer searches on where no prefix of its ranking flips; the others are their rankings.
    """
    found = {
        name: method.explain(
            graphs, search="none" if not search else "greedy" if name == OURS else "prefix", on_error="keep"
        )
        for name, method in methods.items()
    }
    failed = {name: sum(not isinstance(one, Explanation) for one in ones) for name, ones in found.items()}
    sound = [all(isinstance(one, Explanation) for one in ones) for ones in zip(*found.values(), strict=True)]
    kept = {
        name: [one for one, good in zip(ones, sound, strict=True) if good and isinstance(one, Explanation)]
        for name, ones in found.items()
    }
    if not any(sound):
        raise RCExplainerError(f"none of the {len(graphs)} graphs could be explained by every method: {failed}")
    return kept, failed


def sample(count: int, most: int, seed: int) -> list[int]:
    """At most so many positions out of `count`, drawn with the seed, in order."""
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return order[:most].sort().values.tolist()
