"""A result as one JSON document: a text to print, or a file that is whole or not there."""

import json
import math
import os
from pathlib import Path
from typing import Any

from rcexplainer.errors import RCExplainerError


def to_text(document: Any) -> str:
    """The document as JSON; what could not be measured (NaN, which JSON has not) is null."""
    return json.dumps(_no_nan(document), indent=2, ensure_ascii=False, allow_nan=False, default=str)


def write_document(path: Path, document: Any) -> Path:
    """Write the document to a file."""
    from rcexplainer.saving.files import write_whole  # it brings torch, which `rcexplainer --help` does not need

    return write_whole(path, (to_text(document) + "\n").encode())


def ready(path: Path, option: str = "--out") -> Path:
    """The path, if a file can be written there: asked before the work is done that is to be kept in it."""
    if path.is_dir():
        raise RCExplainerError(f"{option} {path} is a folder, not a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(path.parent, os.W_OK):
        raise RCExplainerError(f"{option} {path} cannot be written: the folder {path.parent} is read-only")
    return path


def _no_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _no_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_no_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
