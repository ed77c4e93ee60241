"""What is to be said about the results in a folder beside their tables: `notes.toml` there, paragraphs by entry.

    fidelity = ["One paragraph.", "Another one, with `code` in it."]

It is written by people, and belongs to the numbers of that folder: results of another run have nothing to do with it.
"""

import logging
import tomllib
from pathlib import Path

NAME = "notes.toml"

log = logging.getLogger(__name__)


def read_notes(folder: Path) -> dict[str, list[str]]:
    """Paragraphs by entry; none where there is no such file, or where it cannot be read, which is said."""
    path = folder / NAME
    if not path.is_file():
        return {}
    try:
        known = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        log.warning("%s cannot be read, and is left out: %s", path, error)
        return {}
    return {entry: [said] if isinstance(said, str) else [str(one) for one in said] for entry, said in known.items()}
