"""Small datasets under the names of the real ones, and networks trained on them."""

from pathlib import Path

from rcexplainer.datasets import load
from rcexplainer.gnn import TrainConfig, gnn_config, save_gnn, train_gnn

SIZES = {"ba-2motifs": 100, "nitro": 80}
QUICK = TrainConfig(epochs=40, lr=0.01)


def small(name, root=None, seed=0):
    """`load`, with fewer graphs."""
    options = {"num_graphs": SIZES[name.lower()]} if name.lower() in SIZES else {}
    return load(name, root=root, seed=seed, **options)


def save_toy(folder: Path, name: str, seed: int = 0) -> Path:
    """A network as `rcexplainer train --out` keeps it."""
    data = small(name, seed=seed)
    config = gnn_config("paper", data.num_features, data.num_classes)
    model = train_gnn(config, data.graphs, data.split, settings=QUICK, seed=seed, progress=False).model
    return save_gnn(folder / f"{name}-{seed}.safetensors", model, {"dataset": data.name, "seed": seed})
