"""Networks and explainers that benchmarks measure: read from a folder where they are there, else made and written."""

from collections.abc import Callable
from pathlib import Path
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
        model: The network it explains.
        fit: Fits it.
    """
    path = None if folder is None else folder / f"{name}.safetensors"
    if path is not None and path.exists():
        return load(path, model)
    fitted = fit()
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        fitted.save(path)
    return fitted
