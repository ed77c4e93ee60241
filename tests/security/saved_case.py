"""A small network and its explainers, saved; and the same files with another header."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch_geometric.data import Batch, Data

import rcexplainer as rc
from rcexplainer.gnn.model_file import load_gnn, save_gnn
from tests.server.served_case import ring


@cache
def graphs() -> list[Data]:
    """Rings with random features."""
    return [ring(6 + seed % 5, seed) for seed in range(16)]


@cache
def network() -> rc.gnn.GNN:
    """A network that was not trained; it predicts each of two classes for half of the graphs."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        model = rc.gnn.GNN(rc.gnn.GNNConfig(3, 2, width=8, layers=2)).eval()
        batch = Batch.from_data_list(graphs())
        logits = model(batch.x, batch.edge_index, batch.batch)
        model.head[-1].bias[0] -= (logits[:, 0] - logits[:, 1]).median()
    return model


@cache
def fitted(method: str) -> Any:
    """An explainer, hardly trained."""
    if method == "pgexplainer":
        return rc.baselines.PGExplainer(epochs=1).fit(network(), graphs(), progress=False)
    settings = {"epochs": 1, "weight_order": 0.0, "weight_effect": 0.0}
    return rc.RCExplainer(**settings).fit(network(), graphs(), progress=False)


def saved(folder: Path) -> dict[str, Path]:
    """The files of the network and of two explainers."""
    return {
        "gnn": save_gnn(folder / "gnn.safetensors", network(), {"dataset": "ba-2motifs", "seed": 0}),
        **{name: fitted(name).save(folder / f"{name}.safetensors") for name in ("rcexplainer", "pgexplainer")},
    }


def opened(kind: str, path: Path) -> Any:
    """What a file holds."""
    return load_gnn(path) if kind == "gnn" else rc.load(path, network())


def contents(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and texts of a file."""
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


def with_header(path: Path, text: str, **values: Any) -> Path:
    """The file, with other values in the JSON of one text of its header; checksums that it has are left out."""
    tensors, header = contents(path)
    header = {name: own for name, own in header.items() if name in ("format", "about", "config", "info")}
    header[text] = json.dumps({**json.loads(header[text]), **values})
    save_file(tensors, path, header)
    return path
