"""Notes on the results of a folder: `notes.toml` there, paragraphs by entry.

    fidelity = ["One paragraph.", "Another one, with `code` in it."]

They are written by people and belong to the numbers of that folder alone.
"""

import logging
import tomllib
from pathlib import Path

NOTES_FILE = "notes.toml"

log = logging.getLogger(__name__)


def read_notes(folder: Path) -> dict[str, list[str]]:
    """Read the notes of a folder.

    Args:
        folder: The results folder.

    Returns:
        Entry → paragraphs; none where there is no such file, or where it cannot be read, which is logged.
    """
    path = folder / NOTES_FILE
    if not path.is_file():
        return {}
    try:
        known = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        log.warning("%s cannot be read, and is left out: %s", path, error)
        return {}
    return {entry: [said] if isinstance(said, str) else [str(one) for one in said] for entry, said in known.items()}
