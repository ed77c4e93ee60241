"""The file of a fit in progress: whatever took long is put into it, and a run started again takes it out.

One safetensors file, written whole or not at all; nothing is unpickled. It knows which run it belongs to.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.namespace import named, part
from rcexplainer.errors import CheckpointError
from rcexplainer.saving.files import read_tensors, write_tensors

FORMAT = "rcexplainer-fit"
EVERY = 10.0  # seconds between two writings of what changes all the time


class FitFile:
    """Named parts, each some tensors and a text. Without a path everything is forgotten."""

    def __init__(self, path: str | Path | None, run: dict[str, Any], every: float = EVERY) -> None:
        self.path = None if path is None else Path(path)
        self.run, self.every = json.loads(json.dumps(run)), every
        self.parts: dict[str, tuple[dict[str, Tensor], str]] = {}
        self.written = 0.0
        if self.path is not None and self.path.is_dir():
            raise CheckpointError(f"the checkpoint {self.path} is a folder: name a file")
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        tensors, header = read_tensors(path, FORMAT)
        before = json.loads(header["run"])
        different = sorted(name for name in self.run if before.get(name) != self.run[name])
        if different:
            raise CheckpointError(
                f"{path} is the checkpoint of another run ({', '.join(different)} differ): "
                "give another path, or delete it to start anew"
            )
        for name, text in json.loads(header["texts"]).items():
            self.parts[name] = part(name, tensors), text

    def get(self, name: str) -> tuple[dict[str, Tensor], str] | None:
        """What was put there under this name, if anything was."""
        return self.parts.get(name)

    def put(self, name: str, tensors: dict[str, Tensor], text: str = "", at_once: bool = True) -> None:
        """Keep this; with `at_once=False` the file is written only now and then."""
        if self.path is None:
            return
        self.parts[name] = tensors, text
        if not at_once and time.monotonic() - self.written < self.every:
            return
        everything: dict[str, Tensor] = {}
        for title, (own, _) in self.parts.items():
            everything |= named(title, own)
        texts = {title: text for title, (_, text) in self.parts.items()}
        header = {"format": FORMAT, "run": json.dumps(self.run), "texts": json.dumps(texts)}
        write_tensors(self.path, everything, header)
        self.written = time.monotonic()


def digest(graphs: Sequence[Data]) -> str:
    """What tells one list of graphs from another: everything but the labels, which nobody reads."""
    total = hashlib.sha256()
    for graph in graphs:
        for name, value in sorted(graph.to_dict().items()):
            if isinstance(value, Tensor) and name != "y":
                content = value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
                total.update(f"{name} {tuple(value.shape)}".encode() + content)
    return total.hexdigest()[:16]
