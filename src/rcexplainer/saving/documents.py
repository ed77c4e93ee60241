"""JSON documents: as text for standard output, or in a file that is either complete or absent."""

import json
import math
import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rcexplainer.errors import CheckpointError, RCExplainerError

UNFINISHED = ".unfinished"  # how names end of what is kept until a command is done, where no user named it


def to_text(document: Any) -> str:
    """Format a document as JSON.

    Args:
        document: Nested dicts, lists and scalars. NaN and infinity, which JSON cannot hold, become null; any other
            object becomes its `str`.

    Returns:
        Indented JSON without a trailing newline.
    """
    return json.dumps(_no_nan(document), indent=2, ensure_ascii=False, allow_nan=False, default=str)


def write_document(path: Path, document: Any) -> Path:
    """Write a document to a JSON file; its folder is created where needed.

    Args:
        path: The file; an existing one is replaced.
        document: As for `to_text`.

    Returns:
        The path.

    Raises:
        CheckpointError: `path` is a folder.
        WriteError: The file cannot be written, as on a full disk.
    """
    from rcexplainer.saving.files import write_whole  # imports torch, which `rcexplainer --help` does not need

    return write_whole(path, (to_text(document) + "\n").encode())


def readable_file(path: Path, option: str, command: str) -> Path:
    """Check that a file exists.

    Args:
        path: The file.
        option: The command-line option that named it, for the error message.
        command: The command that writes such files, for the error message.

    Returns:
        The path.

    Raises:
        CheckpointError: `path` is a folder, or does not exist.
    """
    if path.is_dir():
        raise CheckpointError(f"{option} {path} is a folder, not a file: name a file that `{command}` wrote")
    if not path.exists():
        raise CheckpointError(f"{option}: there is no file {path}; `{command}` writes one")
    return path


def writable_file(path: Path, option: str = "--out") -> Path:
    """Check that a file can be written, before the hours of work whose result goes there.

    Args:
        path: The file; its folder is created where needed.
        option: The command-line option that named it, for the error message.

    Returns:
        The path.

    Raises:
        RCExplainerError: `path` is a folder, or cannot be written.
    """
    if path.is_dir():
        raise RCExplainerError(f"{option} {path} is a folder, not a file: name a file in it")
    _writable(path.parent, option)
    if path.exists() and not os.access(path, os.W_OK):
        raise RCExplainerError(f"{option} {path} is read-only: choose another file")
    return path


def writable_folder(path: Path, option: str = "--out") -> Path:
    """Check that files can be written to a folder, before the hours of work whose results go there.

    Args:
        path: The folder; it is created where needed.
        option: The command-line option that named it, for the error message.

    Returns:
        The path.

    Raises:
        RCExplainerError: `path` is a file, or cannot be written to.
    """
    if path.exists() and not path.is_dir():
        raise RCExplainerError(f"{option} {path} is a file, not a folder: name a folder")
    _writable(path, option)
    return path


def _writable(folder: Path, option: str) -> None:
    """Create the folder; an error where that is impossible, or where it takes no file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RCExplainerError(f"{option}: the folder {folder} cannot be created ({error.strerror})") from error
    try:
        TemporaryFile(dir=folder).close()  # what permissions say is not enough: root may write to /proc, yet cannot
    except OSError as error:
        raise RCExplainerError(
            f"{option}: the folder {folder} takes no new file ({error.strerror}); choose another one"
        ) from error


def _no_nan(value: Any) -> Any:
    """The same value with null for every number JSON cannot hold."""
    if isinstance(value, dict):
        return {key: _no_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_no_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
