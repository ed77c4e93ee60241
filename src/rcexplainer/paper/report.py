"""`report.html` of a results folder: one page that needs nothing else.

The verdicts first; then for every entry what the paper shows, the command, its figures and tables, and the results
behind them. It reads the folder and runs nothing.
"""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rcexplainer.paper.markdown_pages import write_pages
from rcexplainer.paper.report_contents import TOO_SMALL, report_contents
from rcexplainer.paper.report_page import render_report
from rcexplainer.paper.results_folder import open_folder
from rcexplainer.paper.verdicts import VERDICT_WORDS, Verdict, counts
from rcexplainer.saving.files import write_whole

REPORT_FILE = "report.html"


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Attributes:
        page: Its file.
        profile: The folder's profile.
        verdicts: All claims, and whether they hold.
        broken: Files that could not be read.
    """

    page: Path
    profile: str
    verdicts: tuple[Verdict, ...]
    broken: tuple[Path, ...]

    def rows(self) -> list[dict[str, str]]:
        """The verdicts as rows of a table."""
        return [
            {
                "entry": one.entry,
                "claim": one.claim,
                "aim": one.aim,
                "found": one.finding,
                "verdict": VERDICT_WORDS[one.reached],
            }
            for one in self.verdicts
        ]

    def caption(self) -> str:
        """How many claims hold, and where the page is."""
        reached, missed, undecided = counts(self.verdicts)
        judged = f"{reached} reached, {missed} not reached, {undecided} open"
        skipped = f"; {len(self.broken)} files could not be read" if self.broken else ""
        return f"{judged if self.verdicts else TOO_SMALL.format(self.profile)}; the page is {self.page}{skipped}"

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "page": str(self.page),
            "profile": self.profile,
            "verdicts": [asdict(one) for one in self.verdicts],
            "broken": [str(path) for path in self.broken],
        }


def write_report(folder: Path, out: Path | None = None) -> Report:
    """Write `report.html` and the Markdown pages of a folder that `reproduce` wrote.

    Args:
        folder: Its path.
        out: The file of the report; by default `report.html` in the folder.

    Returns:
        The report.

    Raises:
        RCExplainerError: It is not such a folder, or has no result that its profile asks for.
    """
    found = open_folder(folder)
    write_pages(found)
    out = out or folder / REPORT_FILE
    away = os.path.relpath(folder.resolve(), out.resolve().parent)
    prefix = "" if away == "." else f"{Path(away).as_posix()}/"  # of links from a page that is written elsewhere
    page = write_whole(out, render_report(report_contents(found, prefix)).encode())
    return Report(page, found.profile, found.verdicts, found.broken)
