"""Networks and explainers that benchmarks measure: read from a folder where they are there, else made and written."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from torch import nn

from rcexplainer import gnn
from rcexplainer.explainer import load


def kept_network(folder: Path | None, name: str, train: Callable[[], gnn.GNN]) -> gnn.GNN:
    """A trained network.

    Args:
        folder: Where networks are kept; None: it is trained anew.
        name: The name of its file, without the ending.
        train: Trains it.
    """
    path = None if folder is None else folder / f"{name}.safetensors"
    if path is not None and path.exists():
        return gnn.load_gnn(path).model
    model = train()
    if path is not None:
        gnn.save_gnn(path, model, {"benchmark": name, "seed": 0})
    return model


def kept_explainer(folder: Path | None, name: str, model: nn.Module, fit: Callable[[], Any]) -> Any:
    """A fitted explainer: two versions of the package that share the folder measure the same one.

    Args:
        folder: Where explainers are kept; None: it is fitted anew.
        name: The name of its file, without the ending.
        model: The network it explains, where explanations are computed.
        fit: Fits it, on any device.
    """
    with TemporaryDirectory() as passing:
        path = (folder or Path(passing)) / f"{name}.safetensors"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            fit().save(path)
        return load(path, model)
