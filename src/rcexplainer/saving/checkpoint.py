"""The checkpoint of a fit: the results of its long steps, from which a run that was killed continues.

One safetensors file, written completely or not at all. It records which run it belongs to. Parts that change all the
time are written now and then, and when the run is interrupted (Ctrl-C, SIGTERM on the command line).
"""

import hashlib
import json
import logging
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.namespace import named, part
from rcexplainer.errors import CheckpointError
from rcexplainer.saving.documents import UNFINISHED
from rcexplainer.saving.files import damage_told, named_file, read_tensors, remove_file, write_tensors, writing_told
from rcexplainer.saving.lock import claimed

log = logging.getLogger(__name__)
CHECKPOINT_FORMAT = "rcexplainer-fit"
WRITE_INTERVAL = 10.0  # seconds between two writes of values that change all the time


class FitFile:
    """Named parts, each made of tensors and a text.

    As a context it is this process's own; what was not yet written is written when it ends by an interrupt. A file that
    no user named (`UNFINISHED`) does not stand in the way: one that is damaged or of another run is replaced, and where
    another process writes it, nothing is kept.

    Args:
        path: The file; None: nothing is kept.
        run: A description of the run as JSON values: data, settings, seed.
        every: Seconds between two writes of parts that are put with `at_once=False`.

    Raises:
        CheckpointError: The path is none, or a folder, or the file is damaged or belongs to another run.
    """

    def __init__(self, path: str | Path | None, run: dict[str, Any], every: float = WRITE_INTERVAL) -> None:
        self.path = None if path is None else named_file(path, "fit(…, checkpoint=…)", "checkpoint")
        self.run, self.every = json.loads(json.dumps(run)), every
        self.parts: dict[str, tuple[dict[str, Tensor], str]] = {}
        self.written: float | None = None  # when, on a clock of this process
        self.pending = False  # whether there are parts that are not in the file
        self._held = ExitStack()
        if self.path is not None and self._there(self.path):
            try:
                self._read(self.path)
            except CheckpointError as error:
                if self.path.suffix != UNFINISHED:
                    raise
                log.warning("%s. It is replaced, and the run starts anew", error)

    def _there(self, path: Path) -> bool:
        """Whether there is such a file."""
        with writing_told(path):
            folder, there = path.is_dir(), path.exists()
        if folder:
            raise CheckpointError(f"the checkpoint {path} is a folder: name a file in it")
        return there

    def _read(self, path: Path) -> None:
        try:
            tensors, header = read_tensors(path, CHECKPOINT_FORMAT)
            with damage_told(path):
                before, texts = _values(header["run"]), _values(header["texts"])
        except CheckpointError as error:
            raise CheckpointError(f"{error}; to start the fit anew, delete the file") from error
        different = sorted(name for name in self.run if before.get(name) != self.run[name])
        if different:
            raise CheckpointError(
                f"{path} is the checkpoint of another run ({', '.join(different)} differ): "
                "give another path, or delete the file to start anew"
            )
        with damage_told(path):
            self.parts = {str(name): (part(name, tensors), str(text)) for name, text in texts.items()}

    def __enter__(self) -> Self:
        """Claim the file.

        Raises:
            CheckpointError: Another process has claimed it, or its folder cannot be written to.
        """
        if self.path is None:
            return self
        try:
            ours = self._held.enter_context(claimed(self.path))
        except OSError as error:
            raise CheckpointError(
                f"the checkpoint {self.path} cannot be written ({error.strerror or error}): name another file"
            ) from error
        if not ours and self.path.suffix == UNFINISHED:
            self.path = None
        elif not ours:
            raise CheckpointError(
                f"another process is writing the checkpoint {self.path}: wait until it is done, or name another file"
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the file free; an interrupted run writes what there is, and says how to go on."""
        with self._held:
            if isinstance(error, KeyboardInterrupt) and self.path is not None:
                if self.pending:
                    self._write(self.path)
                if self.parts:
                    log.warning("what was done is in %s: the same command, or call, goes on from there", self.path)
                    error.add_note(f"kept in {self.path}")  # who has nothing more to tell can be silent

    def get(self, name: str) -> tuple[dict[str, Tensor], str] | None:
        """The tensors and the text of a part; None if there is no such part."""
        return self.parts.get(name)

    def put(self, name: str, tensors: dict[str, Tensor], text: str = "", at_once: bool = True) -> None:
        """Keep a part, in the place of an older one of this name.

        Args:
            name: The name of the part.
            tensors: Its tensors.
            text: Its text.
            at_once: Whether to write the file now; otherwise it is written at most every `every` seconds, and in the
                end if the run is interrupted.

        Raises:
            CheckpointError: The file cannot be written, as on a full disk.
        """
        if self.path is None:
            return
        # Copies: the tensors change in the next step, and an interrupt may come in the midst of it.
        self.parts[name] = {key: value.detach().cpu().clone() for key, value in tensors.items()}, text
        self.pending = True
        if at_once or self._due():
            self._write(self.path)

    def drop(self, name: str) -> None:
        """Forget a part; it leaves the file when that is next written."""
        self.parts.pop(name, None)

    def remove(self) -> None:
        """Delete the file: the run is done."""
        self.parts.clear()
        self.pending = False
        if self.path is not None:
            remove_file(self.path)

    def _due(self) -> bool:
        """Whether the last write is long ago; a clock that was set back does not put the next one off."""
        passed = None if self.written is None else time.monotonic() - self.written
        return passed is None or not 0 <= passed < self.every

    def _write(self, path: Path) -> None:
        everything: dict[str, Tensor] = {}
        for title, (own, _) in self.parts.items():
            everything |= named(title, own)
        texts = {title: text for title, (_, text) in self.parts.items()}
        header = {"format": CHECKPOINT_FORMAT, "run": json.dumps(self.run), "texts": json.dumps(texts)}
        try:
            write_tensors(path, everything, header)
        except OSError as error:
            raise CheckpointError(
                f"the checkpoint {path} could not be written ({error.strerror or error}); the one before it is "
                "whole: make room, or name another file, and start again"
            ) from error
        self.written, self.pending = time.monotonic(), False


def digest(graphs: Iterable[Data]) -> str:
    """A hash of all tensors of the graphs except labels, which are never read: equal for equal lists of graphs."""
    total = hashlib.sha256()
    for graph in graphs:
        for name, value in sorted(graph.to_dict().items()):
            if isinstance(value, Tensor) and name != "y":
                content = value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
                total.update(f"{name} {tuple(value.shape)}".encode() + content)
    return total.hexdigest()[:16]


def _values(text: str) -> dict[str, Any]:
    """The values of a JSON object by name."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"names and values are expected, found {type(found).__name__}")
    return found
