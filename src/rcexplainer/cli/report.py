"""`rcexplainer report`: the pages of a folder of results."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.options import OUTPUT, Json
from rcexplainer.cli.output import show

EXAMPLES = ("rcexplainer report results/standard", "rcexplainer report results/standard --out page.html")


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that `rcexplainer reproduce` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Write the page to this file (default: report.html in the folder).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write report.html and the Markdown pages of a folder of results again; nothing is run."""
    from rcexplainer.cli.explanation_page import writable_page
    from rcexplainer.paper.report import write_report

    if out is not None:
        writable_page(out, "--out")  # results of the folder are never pages: none is overwritten
    result = write_report(folder, out)
    show(result.to_json(), result.rows(), result.caption(), as_json)
