"""A network saved by `rcexplainer train`, with the dataset and the split it was trained on."""

from dataclasses import dataclass
from pathlib import Path

from torch import nn

from rcexplainer.datasets import GraphDataset, load
from rcexplainer.errors import CheckpointError
from rcexplainer.gnn import load_gnn
from rcexplainer.gnn.device import usable_device
from rcexplainer.saving.documents import readable_file


@dataclass(frozen=True, eq=False)
class ExplainedNetwork:
    """A network and the graphs it is explained on.

    Attributes:
        data: The dataset; for a network of ours it is split as it was when the network was trained.
        model: The network.
        seed: The seed of the split.
        name: The file of the network, or the function that made it.
    """

    data: GraphDataset
    model: nn.Module
    seed: int
    name: str


def open_network(
    dataset: str, model: Path, seed: int | None = None, *, root: Path | None = None, device: str | None = None
) -> ExplainedNetwork:
    """Load a network and the dataset it was trained on.

    Args:
        dataset: Name of the dataset.
        model: File of the network.
        seed: Seed of the split. None: the seed the network was trained with, or 0 where its file has none.
        root: Folder of downloaded datasets.
        device: Device of the network; the CPU by default.

    Returns:
        Both, with the seed.

    Raises:
        CheckpointError: The file is not a network, or the network was trained on other data or another split.
        RCExplainerError: There is no such dataset, or the device cannot be used.
    """
    readable_file(model, "--model", "rcexplainer train --out DIR")
    saved = load_gnn(model, usable_device(device))
    trained = saved.info.get("seed")
    if seed is not None and trained is not None and seed != trained:
        raise CheckpointError(
            f"{model} was trained with seed {trained}: --seed {seed} would give another split, leave --seed out"
        )
    used = next(value for value in (seed, trained, 0) if value is not None)
    data = load(dataset, root=root, seed=used)
    config = saved.model.config
    before = saved.info.get("dataset")
    if before is not None and not _same_dataset(before, data.name):
        raise CheckpointError(f"{model} was trained on {before}, not on {data.name}: use --dataset {before}")
    if config.task != data.task:
        raise CheckpointError(f"{model} is for {config.task} prediction, {data.name} is for {data.task} prediction")
    for what, own, other in (
        ("node features", config.num_features, data.num_features),
        ("classes", config.num_classes, data.num_classes),
    ):
        if own != other:
            raise CheckpointError(f"{model} was trained on other data: it has {own} {what}, {data.name} has {other}")
    return ExplainedNetwork(data, saved.model, used, str(model))


def _same_dataset(one: str, other: str) -> bool:
    """Whether two names mean one dataset: a user's file is the same from whichever folder it is named."""
    return one == other or (one.startswith("csv:") and other.startswith("csv:") and Path(one).name == Path(other).name)
