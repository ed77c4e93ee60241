"""`figures/` of a results folder: every figure that can be drawn from the results so far, as SVG and as PNG.

`figures.json` beside them has their captions: entry → name → caption, in the order in which they are shown.
"""

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path

from rcexplainer.errors import MissingExtraError
from rcexplainer.paper.entries import figures
from rcexplainer.paper.plan import EntryPlan, Results
from rcexplainer.saving.documents import write_document
from rcexplainer.viz.figure import save_figure

FIGURE_FOLDER, CAPTION_FILE = "figures", "figures.json"
FIGURE_FORMATS = ("svg", "png")
FIGURE_NAME = re.compile(r"\w[\w.+ -]*")  # it becomes the name of a file
Captions = dict[str, dict[str, str]]
log = logging.getLogger(__name__)


def write_figures(folder: Path, plans: Sequence[EntryPlan], results: Results) -> list[Path]:
    """Draw and write all figures.

    Args:
        folder: The results folder.
        plans: The entries.
        results: Job → its result.

    Returns:
        The files; none without matplotlib, and none of an entry that cannot be drawn, which is logged.
    """
    written: list[Path] = []
    captions: Captions = {}
    for planned in plans:
        try:
            drawn = figures(planned, results)
            paths = [
                save_figure(one.figure, folder / FIGURE_FOLDER / f"{one.name}.{kind}")
                for one in drawn
                for kind in FIGURE_FORMATS
            ]
        except MissingExtraError as error:
            log.warning("no figures are drawn: %s", error)
            return []
        except Exception as error:  # noqa: BLE001  whatever it is, it must not cost the other figures, and the pages
            log.warning("the figures of %s are not drawn: %s: %s", planned.name, type(error).__name__, error)
            continue
        written += paths
        captions |= {planned.name: {one.name: one.caption for one in drawn}} if drawn else {}
    if written:
        write_document(folder / FIGURE_FOLDER / CAPTION_FILE, captions)
    return written


def read_captions(folder: Path) -> Captions:
    """The captions of a folder's figures.

    Args:
        folder: The results folder.

    Returns:
        Entry → name → caption; nothing where none were drawn. A name that could be a path is left out.
    """
    try:
        found = json.loads((folder / FIGURE_FOLDER / CAPTION_FILE).read_text(encoding="utf-8"))
        return {
            str(entry): {str(name): str(text) for name, text in own.items() if FIGURE_NAME.fullmatch(str(name))}
            for entry, own in found.items()
        }
    except (OSError, ValueError, AttributeError):
        return {}
