"""The checkpoint of a fit: the results of its long steps, from which a run that was killed continues.

One safetensors file, written completely or not at all. It records which run it belongs to.
"""

import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.namespace import named, part
from rcexplainer.errors import CheckpointError
from rcexplainer.saving.files import damage_told, read_tensors, write_tensors

CHECKPOINT_FORMAT = "rcexplainer-fit"
WRITE_INTERVAL = 10.0  # seconds between two writes of values that change all the time


class FitFile:
    """Named parts, each made of tensors and a text.

    Args:
        path: The file; None: nothing is kept.
        run: A description of the run as JSON values: data, settings, seed.
        every: Seconds between two writes of parts that are put with `at_once=False`.

    Raises:
        CheckpointError: The path is a folder, or the file is damaged or belongs to another run.
    """

    def __init__(self, path: str | Path | None, run: dict[str, Any], every: float = WRITE_INTERVAL) -> None:
        self.path = None if path is None else Path(path)
        self.run, self.every = json.loads(json.dumps(run)), every
        self.parts: dict[str, tuple[dict[str, Tensor], str]] = {}
        self.written = 0.0
        if self.path is not None and self.path.is_dir():
            raise CheckpointError(f"the checkpoint {self.path} is a folder: name a file in it")
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        tensors, header = read_tensors(path, CHECKPOINT_FORMAT)
        with damage_told(path):
            before, texts = dict(json.loads(header["run"])), dict(json.loads(header["texts"]))
        different = sorted(name for name in self.run if before.get(name) != self.run[name])
        if different:
            raise CheckpointError(
                f"{path} is the checkpoint of another run ({', '.join(different)} differ): "
                "give another path, or delete the file to start anew"
            )
        for name, text in texts.items():
            self.parts[name] = part(name, tensors), text

    def get(self, name: str) -> tuple[dict[str, Tensor], str] | None:
        """The tensors and the text of a part; None if there is no such part."""
        return self.parts.get(name)

    def put(self, name: str, tensors: dict[str, Tensor], text: str = "", at_once: bool = True) -> None:
        """Keep a part, in the place of an older one of this name.

        Args:
            name: The name of the part.
            tensors: Its tensors.
            text: Its text.
            at_once: Whether to write the file now; otherwise it is written at most every `every` seconds.
        """
        if self.path is None:
            return
        self.parts[name] = tensors, text
        if not at_once and time.monotonic() - self.written < self.every:
            return
        everything: dict[str, Tensor] = {}
        for title, (own, _) in self.parts.items():
            everything |= named(title, own)
        texts = {title: text for title, (_, text) in self.parts.items()}
        header = {"format": CHECKPOINT_FORMAT, "run": json.dumps(self.run), "texts": json.dumps(texts)}
        write_tensors(self.path, everything, header)
        self.written = time.monotonic()


def digest(graphs: Iterable[Data]) -> str:
    """A hash of all tensors of the graphs except labels, which are never read: equal for equal lists of graphs."""
    total = hashlib.sha256()
    for graph in graphs:
        for name, value in sorted(graph.to_dict().items()):
            if isinstance(value, Tensor) and name != "y":
                content = value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
                total.update(f"{name} {tuple(value.shape)}".encode() + content)
    return total.hexdigest()[:16]
