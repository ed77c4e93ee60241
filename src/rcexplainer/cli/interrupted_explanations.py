"""What an interrupted `rcexplainer explain` has found is shown, and written beside the file that is not complete."""

import logging
from pathlib import Path

from rcexplainer.cli.explanation_report import ExplanationReport
from rcexplainer.cli.output import show
from rcexplainer.saving.documents import write_document

log = logging.getLogger(__name__)


def partial_file(out: Path) -> Path:
    """Where the explanations of an interrupted command are written.

    Args:
        out: The file of the complete ones, which an interrupt does not touch.
    """
    return out.with_name(f"{out.stem}.unfinished{out.suffix}")


def show_interrupted(report: ExplanationReport, out: Path | None, as_json: bool) -> None:
    """Show or write what was explained before an interrupt, and say how to go on.

    Args:
        report: The instances explained before.
        out: The value of `--out`.
        as_json: Print a JSON document.
    """
    asked = 0 if report.remainder is None else report.remainder.asked
    done = f"{len(report.explained)} of {asked} {report.data.task}s were explained"
    hint = "the same command begins with the first again, --limit N explains fewer"
    if report.data.task == "graph":
        hint += ", and --engine local --out DIR keeps what it has and goes on"
    if out is not None and report.explained:
        write_document(partial_file(out), report.to_json())
        log.warning("%s and are in %s; %s", done, partial_file(out), hint)
        return
    if report.explained:
        show(report.to_json(), report.rows(), f"{report.caption()}; interrupted", as_json)
    log.warning("%s; %s", done, hint)
