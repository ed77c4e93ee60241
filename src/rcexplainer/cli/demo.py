"""`rcexplainer demo`: from a dataset to verified counterfactuals, with nothing to prepare."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.options import OUTPUT, Json, Quiet, Threads
from rcexplainer.cli.output import show
from rcexplainer.cli.overwritten_files import refuse_overwriting
from rcexplainer.cli.threads import use_threads
from rcexplainer.saving.documents import writable_file, write_document

EXAMPLES = ("rcexplainer demo", "rcexplainer demo --seed 1 --out explanations.json --json")


def demo(
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed: the same seed gives the same result.")
    ] = 0,
    out: Annotated[
        Path, typer.Option(metavar="FILE", rich_help_panel=OUTPUT, help="Write all explanations to this JSON file.")
    ] = Path("demo.json"),
    html: Annotated[
        Path,
        typer.Option(metavar="FILE", rich_help_panel=OUTPUT, help="Write the page with all explanations to this file."),
    ] = Path("demo.html"),
    quiet: Quiet = False,
    as_json: Json = False,
    threads: Threads = None,
) -> None:
    """Train a network on built-in molecules, and show the bonds without which its predictions change.

    Ends with a page to open in a browser. Takes about two minutes and needs no download.
    """
    use_threads(threads)
    refuse_overwriting({"--out": out, "--html": html}, {})
    from rcexplainer.cli.explanation_page import writable_page
    from rcexplainer.cli.molecule_demo import run_demo

    writable_file(out)
    writable_page(html)
    result = run_demo(seed=seed, progress=not quiet)
    write_document(out, result.document())
    result.write_page(html)
    caption = (
        f"{result.caption()} All {len(result.explanations)} explanations are in {out}, and to look at in {html}: open "
        "it in a browser."
    )
    show(result.to_json() | {"saved": str(out), "page": str(html)}, result.rows(), caption, as_json)
