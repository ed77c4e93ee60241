"""Notes on the results of a folder: `notes.toml` there, paragraphs by entry.

    fidelity = ["One paragraph.", "Another one, with `code` in it."]

They are written by people and belong to the numbers of that folder alone. What stands on the front page is checked: a
figure that no table of the entry has is named behind its paragraph.
"""

import logging
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from rcexplainer.paper.table import Table

NOTES_FILE = "notes.toml"
FIGURE = re.compile(r"(?<![\w.])(?<!version )\d*\.\d+")  # a number with decimals, but no version

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


def checked(paragraphs: Iterable[str], tables: Sequence[Table]) -> list[str]:
    """Paragraphs whose figures are looked up in tables.

    Args:
        paragraphs: Text written by people.
        tables: The tables it is about.

    Returns:
        The paragraphs; behind each the figures that no table has, rounded to the same digits, if there are any.
    """
    headings = [column.title for table in tables for column in table.columns]
    cells = [cell.text for table in tables for row in table.rows for cell in row]
    known = [float(one) for text in (*headings, *cells) for one in FIGURE.findall(text)]
    made: list[str] = []
    for paragraph in paragraphs:
        unknown = [one for one in FIGURE.findall(paragraph) if not _supported(one, known)]
        if unknown:
            log.warning("figures of a note are in no table: %s", ", ".join(unknown))
        made.append(f"{paragraph} (In no table of this entry: {', '.join(unknown)}.)" if unknown else paragraph)
    return made


def _supported(figure: str, known: Sequence[float]) -> bool:
    digits = len(figure.partition(".")[2])
    return any(f"{one:.{digits}f}" == f"{float(figure):.{digits}f}" for one in known)
