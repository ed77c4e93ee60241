"""A trained GNN on disk: one safetensors file, its architecture and figures as JSON in the header.

Nothing is unpickled, and a file is either whole or not there: it is written beside its place and then moved.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn.models import GNN, GNNConfig

FORMAT = "rcexplainer-gnn"


@dataclass(frozen=True)
class SavedGNN:
    """What `load_gnn` gives back: the model in evaluation mode, and what was written down about it."""

    model: GNN
    info: dict[str, Any]


def save_gnn(path: str | Path, model: GNN, info: Mapping[str, Any] | None = None) -> Path:
    """Write the model and `info` (JSON values, e.g. dataset, seed, accuracy) to one file."""
    from safetensors.torch import save

    header = {"format": FORMAT, "config": json.dumps(asdict(model.config)), "info": json.dumps(dict(info or {}))}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    return write_whole(Path(path), save(tensors, header))


def load_gnn(path: str | Path, device: torch.device | str | None = None) -> SavedGNN:
    """Read a model written by `save_gnn`."""
    path = Path(path)
    tensors, header = _read(path)
    if header.get("format") != FORMAT:
        raise CheckpointError(f"{path} is no GNN of rcexplainer: its format is {header.get('format')!r}")
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


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CheckpointError(f"there is no file {path}")
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except SafetensorError as error:
        raise CheckpointError(
            f"{path} cannot be read as safetensors ({error}): it is damaged or another file"
        ) from error


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file so that no reader, and no crash, ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path
