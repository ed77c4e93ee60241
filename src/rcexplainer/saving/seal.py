"""Checksums: a file or a document with one wrong byte is refused, wherever that byte is.

A safetensors file has the SHA-256 of all its bytes in its header, taken with zeros in the place of the checksum itself,
and beside it the number of its layout: damage that hides one of the two is found by the other. A JSON document has the
SHA-256 of its values; a wrong byte in the name of that entry alone goes unnoticed, and leaves the values right. Files
of versions before 0.3 have neither, and are read as they are.
"""

import hashlib
import json
import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rcexplainer.errors import CheckpointError

log = logging.getLogger(__name__)

LAYOUT = 2  # of our safetensors files; 1: without a checksum
CHECKSUM, LAYOUT_KEY = "checksum", "layout"  # keys of the header
DOCUMENT_KEY = "sha256"  # key of a document
BLANK = "0" * 64
PIECE = 1 << 22  # bytes read at a time


def sealed_file(content: bytes, header: Mapping[str, str]) -> bytes:
    """Put texts and a checksum into the header of a safetensors file.

    Args:
        content: The file without texts.
        header: The texts by name; they are written in the order of their names.

    Returns:
        The whole file.
    """
    size = int.from_bytes(content[:8], "little")
    texts = {**header, LAYOUT_KEY: str(LAYOUT), CHECKSUM: BLANK}
    entries = {"__metadata__": dict(sorted(texts.items())), **json.loads(content[8 : 8 + size])}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors begin at a multiple of 8 bytes
    whole = len(text).to_bytes(8, "little") + text + content[8 + size :]
    return whole.replace(_entry(BLANK), _entry(hashlib.sha256(whole).hexdigest()), 1)


def check_seal(path: Path, header: Mapping[str, str]) -> None:
    """Compare a safetensors file with its checksum.

    Args:
        path: The file, whose header was read already.
        header: The texts of its header.

    Raises:
        CheckpointError: It is damaged, or of a later version.
    """
    layout, checksum = header.get(LAYOUT_KEY), header.get(CHECKSUM)
    if layout is None and checksum is None:
        _say_unsealed(path)
        return
    if layout != str(LAYOUT) and layout is not None and layout.isdigit() and int(layout) > LAYOUT:
        raise CheckpointError(
            f"{path} was written by a later version of rcexplainer (layout {layout}, this one reads up to {LAYOUT}) or "
            "is damaged: install a later version, or write the file again"
        )
    found = None if checksum is None else _digest(path, checksum)
    if layout != str(LAYOUT) or checksum is None or found != checksum:
        raise CheckpointError(
            f"{path} is damaged: its content and its checksum do not belong together. Take another copy of it, or "
            "write it again"
        )


@cache
def _say_unsealed(path: Path) -> None:
    """Once for each file: whether it is damaged cannot be known."""
    log.warning("%s has no checksum, as files of versions before 0.3: damage in it would go unnoticed", path)


def _digest(path: Path, checksum: str) -> str | None:
    """The SHA-256 of a file with zeros in place of its checksum; None if that is not where it belongs."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        start = file.read(8)
        text = file.read(int.from_bytes(start, "little"))
        blank = text.replace(_entry(checksum), _entry(BLANK), 1)
        if blank == text:
            return None
        found.update(start + blank)
        while piece := file.read(PIECE):
            found.update(piece)
    return found.hexdigest()


def _entry(checksum: str) -> bytes:
    return f'"{CHECKSUM}":"{checksum}"'.encode()


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Add a checksum to a JSON document.

    Args:
        document: JSON values by name, as they are read back: without NaN.
    """
    return {**document, DOCUMENT_KEY: _values_digest(document)}


def unsealed(document: Any) -> Any:
    """Compare a JSON document with its checksum.

    Args:
        document: What a file holds.

    Returns:
        The document without its checksum; one without is returned as it is.

    Raises:
        ValueError: Its values are not those that were written.
    """
    if not isinstance(document, dict) or DOCUMENT_KEY not in document:
        return document
    values = {name: value for name, value in document.items() if name != DOCUMENT_KEY}
    if _values_digest(values) != document[DOCUMENT_KEY]:
        raise ValueError("the document is damaged: its values do not have the checksum that is written in it")
    return values


def _values_digest(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
