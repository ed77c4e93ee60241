"""`rcexplainer fit`: an explainer for a trained network."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.options import (
    COMPUTING,
    OUTPUT,
    Dataset,
    Device,
    Json,
    Model,
    Preset,
    Quiet,
    Root,
    Settings,
    SplitSeed,
    Threads,
    parse_settings,
)
from rcexplainer.cli.output import show
from rcexplainer.cli.threads import use_threads

EXAMPLES = (
    "rcexplainer fit --dataset nitro --model gnn.safetensors --out explainer.safetensors",
    "rcexplainer fit --dataset nitro --model gnn.safetensors --set epochs=20 --checkpoint state.safetensors",
)


def fit(
    dataset: Dataset,
    model: Model,
    seed: SplitSeed = None,
    root: Root = None,
    preset: Preset = "default",
    settings: Settings = None,
    out: Annotated[
        Path, typer.Option(metavar="FILE", rich_help_panel=OUTPUT, help="Write the explainer to this file.")
    ] = Path("explainer.safetensors"),
    quiet: Quiet = False,
    as_json: Json = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=COMPUTING,
            help="Save the state of the run in this file; the same command, run again, goes on from there.",
        ),
    ] = None,
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Fit an explainer for a trained graph classifier, on the training part of its dataset, and save it."""
    use_threads(threads)
    from rcexplainer.cli.fit_report import fit_saved

    report = fit_saved(
        dataset,
        model,
        out,
        preset=preset,
        settings=parse_settings(settings),
        checkpoint=checkpoint,
        seed=seed,
        root=root,
        device=device,
        progress=not quiet,
    )
    show(report.to_json(), [report.row()], report.caption(), as_json)
