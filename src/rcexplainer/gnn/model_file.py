"""The file of a trained GNN: safetensors, with its architecture and further information as JSON in the header."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch

from rcexplainer.errors import CheckpointError
from rcexplainer.gnn.device import usable_device
from rcexplainer.gnn.models import GNN, GNNConfig
from rcexplainer.saving.files import damage_told, named_file, read_tensors, write_tensors
from rcexplainer.saving.header_claims import check_count, check_shapes
from rcexplainer.short_repr import ShortRepr, short_repr

GNN_FORMAT = "rcexplainer-gnn"


@dataclass(frozen=True, repr=False)
class SavedGNN(ShortRepr):
    """A network read from a file."""

    model: GNN  # in evaluation mode
    info: dict[str, Any]  # as it was given to `save_gnn`


def save_gnn(path: str | Path, model: GNN, info: Mapping[str, Any] | None = None) -> Path:
    """Write a network to one file, completely or not at all.

    Args:
        path: The file; its folder is made if needed.
        model: The network.
        info: JSON values to keep with it, such as dataset, seed and accuracy.

    Returns:
        The path.

    Raises:
        CheckpointError: The path is a folder, the model none of ours, or the information no JSON.
    """
    if not isinstance(model, GNN):
        raise CheckpointError(
            f"save_gnn(path, model) writes networks of rcexplainer.gnn, got {type(model).__name__}: keep the "
            "state_dict of your own models yourself"
        )
    try:
        told = json.dumps(dict(info or {}))
    except (TypeError, ValueError) as error:
        raise CheckpointError(
            f"save_gnn: info must be a dict of JSON values, got {short_repr(info)}: {error}"
        ) from error
    header = {"format": GNN_FORMAT, "config": json.dumps(asdict(model.config)), "info": told}
    return write_tensors(named_file(path, "save_gnn(path, model)"), model.state_dict(), header)


def load_gnn(path: str | Path, device: torch.device | str | None = None) -> SavedGNN:
    """Read a network written by `save_gnn`.

    Args:
        path: The file.
        device: Where to put the network; None for the CPU.

    Raises:
        CheckpointError: The file is missing, damaged, of another format or of another version.
        RCExplainerError: There is no such device.
    """
    place = usable_device(device)
    path = named_file(path, "load_gnn(path)")
    tensors, header = read_tensors(path, GNN_FORMAT)
    with damage_told(path):
        stored = json.loads(header["config"])
        known = {field.name for field in fields(GNNConfig)}
        if unknown := sorted(stored.keys() - known):
            raise CheckpointError(f"{path} was written by another version: unknown settings {', '.join(unknown)}")
        config = GNNConfig(**{**stored, "head_hidden": tuple(stored["head_hidden"])})
        check_count(path, "layers", config.layers + len(config.head_hidden), len(tensors))
        with torch.device("meta"):
            check_shapes(path, GNN(config), tensors)
        model = GNN(config)
        model.load_state_dict(tensors)
        info = json.loads(header["info"])
    return SavedGNN(model.to(place).eval(), info)
