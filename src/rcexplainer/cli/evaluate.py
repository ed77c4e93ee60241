"""`rcexplainer evaluate`: explainers measured on instances they were not fitted on."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.options import (
    ARCHITECTURES,
    INPUT,
    METHOD,
    OUTPUT,
    Dataset,
    Device,
    Json,
    Preset,
    Quiet,
    Root,
    Settings,
    Threads,
    parse_settings,
)
from rcexplainer.cli.output import show_tables
from rcexplainer.cli.threads import use_threads
from rcexplainer.saving.documents import writable_folder

PROTOCOL = "Protocol"  # a group of options in the help
EXAMPLES = (
    "rcexplainer evaluate --dataset ba-2motifs --seeds 3 --out evaluation",
    "rcexplainer evaluate --dataset mutagenicity --methods rcexplainer,gnnexplainer,pgexplainer",
    "rcexplainer evaluate --dataset mutagenicity --protocol paper --preset paper",
)


def evaluate(
    dataset: Dataset,
    arch: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", rich_help_panel=INPUT, help=ARCHITECTURES, show_default="paper; for links: shallow"
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=INPUT,
            help="How networks are trained: plain (cross-entropy alone), ours (settings chosen for each dataset; on "
            "node sets also on a copy without edges) or authors.",
            show_default="plain for node sets, else ours",
        ),
    ] = None,
    root: Root = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME…",
            rich_help_panel=METHOD,
            help="Explainers to compare, such as rcexplainer,gnnexplainer, or all (default: rcexplainer). Random "
            "order, occlusion and greedy deletion always stand beside them for reference.",
        ),
    ] = None,
    preset: Preset = "default",
    settings: Settings = None,
    protocol: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            rich_help_panel=PROTOCOL,
            help="held-out (fit on the training part, measure on the test part), or paper (fit and measure on the same "
            "graphs of one class).",
        ),
    ] = "held-out",
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=PROTOCOL,
            help="Number of random seeds; each draws its own split, network and explainers.",
        ),
    ] = 1,
    robustness: Annotated[
        bool, typer.Option(rich_help_panel=PROTOCOL, help="Measure whether explanations survive 10 % noise.")
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUTPUT,
            help="Write results to this folder as they are finished; the same command, run again, goes on from there.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Train networks, explain them, and measure fidelity, flips, robustness, motif accuracy and time."""
    use_threads(threads)
    from rcexplainer.benchmark.harness import evaluate as run

    if out is not None:
        writable_folder(out)
    result = run(
        dataset,
        arch,
        range(seeds),
        methods=methods,
        protocol=protocol,
        recipe=recipe,
        preset=preset,
        settings=parse_settings(settings),
        robustness=robustness,
        device=device,
        root=root,
        out=out,
        progress=not quiet,
    )
    show_tables(result.to_json(), result.tables(), as_json)
