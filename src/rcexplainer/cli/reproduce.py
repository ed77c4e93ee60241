"""`rcexplainer reproduce`: the paper's tables and figures, run again."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.options import COMPUTING, OUTPUT, Device, Json, Quiet, Threads
from rcexplainer.cli.output import show_tables
from rcexplainer.cli.threads import use_threads
from rcexplainer.saving.documents import writable_folder

ENTRY_HELP = (
    "datasets, fidelity, authors, authors-long, boundaries, robustness, stability, time, dial, planned, nodes, "
    "nodes-edgeless, links, candidates, lambda, case-study, ablation, tradeoff, tuning, qualitative, training, or all."
)
EXAMPLES = (
    "rcexplainer reproduce all --profile quick --out results/quick --jobs 2",
    "rcexplainer reproduce case-study --profile standard --out results/standard",
)


def reproduce(
    entry: Annotated[
        str,
        typer.Argument(metavar="ENTRY", help=ENTRY_HELP),
    ],
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Size of the run: quick (minutes, shows that all of it works), standard (3 to 5 seeds, all entries in "
            "a day) or paper (10 seeds).",
        ),
    ] = "quick",
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUTPUT,
            help="Folder of results, one per profile; finished jobs are not run again.",
        ),
    ] = Path("results"),
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            metavar="",
            rich_help_panel=OUTPUT,
            help="Delete what is stored for the entry, networks included, and run all of it anew. To go on after an "
            "interruption, leave it out.",
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    jobs: Annotated[
        int,
        typer.Option(min=1, metavar="N", rich_help_panel=COMPUTING, help="Number of processes that work in parallel."),
    ] = 1,
    threads: Threads = None,
    device: Device = None,
) -> None:
    """Reproduce tables and figures of the paper, beside the numbers it reports.

    A run that was interrupted goes on where it stopped when the same command is run again.
    """
    use_threads(threads)
    from rcexplainer.paper.reproduce import asked
    from rcexplainer.paper.reproduce import reproduce as run

    asked(entry, profile, device)  # before a folder is made
    result = run(entry, profile, writable_folder(out), workers=jobs, progress=not quiet, fresh=fresh, device=device)
    tables = [(table.to_rows(), "\n".join((table.caption, *table.notes))) for table in result.tables()]
    left_out = [
        ([{"job": one.job.label, name: one.error} for one in ones], caption)
        for caption, name, ones in (("skipped", "reason", result.skipped), ("failed", "error", result.failed))
        if ones
    ]
    show_tables(result.to_json(), [*tables, *left_out], as_json)
    if result.failed:
        raise typer.Exit(1)
