"""Small datasets under the names of the real ones, and networks trained on them."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rcexplainer.benchmark import cost, layout, motif_plan, networks, recipes
from rcexplainer.datasets import load
from rcexplainer.gnn import TrainConfig, TrainedGNN, gnn_config, save_gnn, train_gnn

SIZES = {"ba-2motifs": 100, "nitro": 80}
QUICK = TrainConfig(epochs=40, lr=0.01)
TRAINING = {
    "ba-2motifs": TrainConfig(epochs=100, lr=0.03, patience=100),
    "tree-cycles": TrainConfig(epochs=60, lr=0.02),
    "shared-neighbours": TrainConfig(epochs=100, lr=0.02, weight_decay=0.001),
}
PAIRS, MOTIFS, TINY = 150, 8, 40  # pairs of the link set, motifs of node sets that are explained, graphs of a tiny set

_trained: dict[object, TrainedGNN] = {}


def small(name, root=None, seed=0):
    """`load`, with fewer graphs."""
    options = {"num_graphs": SIZES[name.lower()]} if name.lower() in SIZES else {}
    return load(name, root=root, seed=seed, **options)


def toy(name, root=None, seed=0):
    """`load`, with fewer graphs or links."""
    return load(name, seed=seed, num_pairs=PAIRS) if name == "shared-neighbours" else small(name, root, seed)


def tiny(name, root=None, seed=0):
    """`load`, with hardly any graphs."""
    return load(name, seed=seed, num_graphs=TINY)


def few_motif_nodes(graph):
    """The nodes of the first motifs."""
    return ((graph.node_motif_id >= 0) & (graph.node_motif_id < MOTIFS)).nonzero().flatten()


def trained_once(config, graphs, parts, *, settings, seed, device, progress, file=None):
    """`train_gnn`, once in a session for each network."""
    key = config, settings, seed, len(graphs), graphs[0].num_edges
    if key not in _trained:
        _trained[key] = train_gnn(config, graphs, parts, settings=settings, seed=seed, device=device, progress=False)
    return copy.deepcopy(_trained[key])


@contextmanager
def toy_networks() -> Iterator[pytest.MonkeyPatch]:
    """Small sets for every evaluation inside, networks that are trained once, and few instances for what is slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(networks, "load", toy)
        patch.setattr(recipes, "training_settings", TRAINING.get)
        patch.setattr(networks, "train_gnn", trained_once)
        patch.setattr(layout, "motif_nodes", few_motif_nodes)
        patch.setattr(motif_plan, "REFERENCE_INSTANCES", 10)
        patch.setattr(cost, "ALONE_MOST", 2)
        yield patch


def save_toy(folder: Path, name: str, seed: int = 0) -> Path:
    """A network as `rcexplainer train --out` keeps it."""
    data = small(name, seed=seed)
    config = gnn_config("paper", data.num_features, data.num_classes)
    model = train_gnn(config, data.graphs, data.split, settings=QUICK, seed=seed, progress=False).model
    return save_gnn(folder / f"{name}-{seed}.safetensors", model, {"dataset": data.name, "seed": seed})
