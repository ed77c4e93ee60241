"""A folder that keeps what an evaluation has finished.

    arguments.json             what the evaluation was started with
    results/<seed>-<name>.json one method on one network, or the network itself
    networks/                  trained networks
    unfinished/                checkpoints of fits whose results are not there yet
    evaluation.json            everything, once it is done

Files are written whole or not at all. A file that cannot be read, or whose values do not have its checksum, counts as
not there, and its result is made again.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from rcexplainer.benchmark.records import read_record
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import UNFINISHED, to_text, write_document
from rcexplainer.saving.files import remove_file
from rcexplainer.saving.lock import claimed
from rcexplainer.saving.seal import sealed, unsealed

log = logging.getLogger(__name__)
T = TypeVar("T")

ARGUMENTS, EVERYTHING = "arguments.json", "evaluation.json"


@dataclass(frozen=True)
class Archive:
    """The folder of one evaluation; without a folder nothing is kept."""

    folder: Path | None

    @classmethod
    def of(cls, folder: Path | None, arguments: dict[str, Any]) -> "Archive":
        """Take a folder for an evaluation: a new one, or the one of an evaluation with the same arguments.

        Args:
            folder: Where results are kept; None: nowhere.
            arguments: All that results depend on, as JSON can hold it.

        Raises:
            RCExplainerError: The folder is a file, cannot be written, or holds another evaluation.
        """
        if folder is None:
            return cls(None)
        if folder.exists() and not folder.is_dir():
            raise RCExplainerError(f"{folder} is a file: name a folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RCExplainerError(f"the folder {folder} cannot be made: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise RCExplainerError(f"the folder {folder} is read-only: name another one")
        own = json.loads(to_text(arguments))
        found = _document(folder / ARGUMENTS)
        if found is not None and found != own and folder.suffix == UNFINISHED:  # no user named it
            shutil.rmtree(folder)
            found = None
        if found is None:
            write_document(folder / ARGUMENTS, own)
        elif found != own:
            keys = [key for key in {**found, **own} if found.get(key) != own.get(key)]
            there = "; ".join(f"{key} is {_text(found.get(key))} there, {_text(own.get(key))} here" for key in keys)
            raise RCExplainerError(f"{folder} holds another evaluation: {there}. Name another folder")
        return cls(folder)

    @property
    def networks(self) -> Path | None:
        """The folder of trained networks."""
        return None if self.folder is None else self.folder / "networks"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder while an evaluation runs; one that is interrupted says how to go on.

        Raises:
            RCExplainerError: Another process evaluates into this folder.
        """
        if self.folder is None:
            yield
            return
        with claimed(self.folder / ARGUMENTS) as ours:
            if not ours:
                raise RCExplainerError(
                    f"another process is writing to {self.folder}: wait until it is done, or name another folder"
                )
            try:
                yield
            except KeyboardInterrupt as stop:
                told = Kept.of(self.folder)
                if told.finished or not getattr(stop, "__notes__", ()):  # a checkpoint has said how to go on
                    log.warning("%s", told.text)
                raise

    @property
    def unfinished(self) -> Path | None:
        """The folder of the checkpoints of fits."""
        return None if self.folder is None else self.folder / "unfinished"

    def get(self, kind: type[T], name: str, make: Callable[[], T]) -> T:
        """A result that was kept; or a new one, which is kept.

        Args:
            kind: The dataclass of the result.
            name: What it is of: a seed and a method.
            make: Makes it where it is not there.

        Raises:
            RCExplainerError: The new result could not be written.
        """
        path = self._path(name)
        if path is None:
            return make()
        kept = _record(kind, path)
        if kept is not None:
            return kept
        result = make()
        try:
            values = json.loads(to_text(asdict(result)))  # type: ignore[call-overload]
            write_document(path, sealed(values))
        except OSError as error:
            raise RCExplainerError(
                f"the result of {name} could not be written ({error.strerror}); all that was finished before is in "
                f"{self.folder}: make room and start again, it goes on from there"
            ) from error
        if self.unfinished is not None:
            remove_file(self.unfinished / f"{name}{UNFINISHED}")
        return result

    def has(self, name: str) -> bool:
        """Whether there is a file of this result."""
        path = self._path(name)
        return path is not None and path.exists()

    def _path(self, name: str) -> Path | None:
        return None if self.folder is None else self.folder / "results" / f"{name}.json"

    def finish(self, document: dict[str, Any]) -> None:
        """Write the whole evaluation."""
        if self.folder is None or self.unfinished is None:
            return
        write_document(self.folder / EVERYTHING, document)
        if self.unfinished.is_dir():
            for left in self.unfinished.iterdir():  # killed between a result and the end of its checkpoint
                if not left.name.endswith(UNFINISHED) or self.has(left.name.removesuffix(UNFINISHED)):
                    left.unlink()
            if not any(self.unfinished.iterdir()):  # else fits of methods or seeds that were not asked for this time
                self.unfinished.rmdir()


@dataclass(frozen=True)
class Kept:
    """How many files of each kind an interrupted evaluation leaves in its folder."""

    folder: Path
    finished: int
    checkpoints: int
    networks: int

    @classmethod
    def of(cls, folder: Path) -> "Kept":
        """Count them; what was being written has a name that begins with a dot."""
        found = (len(list((folder / name).glob("[!.]*"))) for name in ("results", "unfinished", "networks"))
        return cls(folder, *found)

    @property
    def text(self) -> str:
        """Say so, and how to go on."""
        on = "the same command, or call, goes on from there"
        if self.finished:
            are = "result is" if self.finished == 1 else "results are"
            return f"{self.finished} {are} in {self.folder}: {on}"
        if self.checkpoints:
            return f"no result is finished yet; a fit that was begun is kept in {self.folder}: {on}"
        if self.networks:
            return f"no result is finished yet; what was trained of the network is kept in {self.folder}: {on}"
        return f"no result is finished yet, and {self.folder} keeps nothing: the same command, or call, starts anew"


def _document(path: Path) -> Any:
    """What a JSON file holds; None if there is none that can be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _record(kind: type[T], path: Path) -> T | None:
    """The result in a file; None if there is none that can be read."""
    try:
        return read_record(kind, unsealed(_document(path)))
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
