"""A trained GNN on disk: one safetensors file, its architecture and figures as JSON in the header."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch

from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn.models import GNN, GNNConfig
from rcexplainer.saving.files import read_tensors, write_tensors

FORMAT = "rcexplainer-gnn"


@dataclass(frozen=True)
class SavedGNN:
    """What `load_gnn` gives back: the model in evaluation mode, and what was written down about it."""

    model: GNN
    info: dict[str, Any]


def save_gnn(path: str | Path, model: GNN, info: Mapping[str, Any] | None = None) -> Path:
    """Write the model and `info` (JSON values, e.g. dataset, seed, accuracy) to one file."""
    header = {"format": FORMAT, "config": json.dumps(asdict(model.config)), "info": json.dumps(dict(info or {}))}
    return write_tensors(Path(path), model.state_dict(), header)


def load_gnn(path: str | Path, device: torch.device | str | None = None) -> SavedGNN:
    """Read a model written by `save_gnn`."""
    path = Path(path)
    tensors, header = read_tensors(path, FORMAT)
    try:
        stored = json.loads(header["config"])
        known = {field.name for field in fields(GNNConfig)}
        if unknown := sorted(stored.keys() - known):
            raise CheckpointError(f"{path} was written by another version: unknown settings {', '.join(unknown)}")
        model = GNN(GNNConfig(**{**stored, "head_hidden": tuple(stored["head_hidden"])}))
        model.load_state_dict(tensors)
        info = json.loads(header["info"])
    except CheckpointError:
        raise
    except (KeyError, TypeError, RuntimeError, json.JSONDecodeError, RCExplainerError) as error:
        raise CheckpointError(f"{path} is damaged or was written by another version: {error}") from error
    return SavedGNN(model.to(device or "cpu").eval(), info)
