"""`rcexplainer fit`: an explainer for a trained network."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.options import (
    COMPUTING,
    INPUT,
    OUTPUT,
    DatasetOrGraphs,
    Device,
    Graphs,
    Json,
    Model,
    Preset,
    Quiet,
    Root,
    Settings,
    SplitSeed,
    Task,
    Threads,
    parse_settings,
)
from rcexplainer.cli.output import show
from rcexplainer.cli.threads import use_threads

OWN = "--model my_package.gnn:load_model --graphs my_package.data:load_graphs"
EXAMPLES = (
    "rcexplainer fit --dataset nitro --model gnn.safetensors --out explainer.safetensors",
    "rcexplainer fit --dataset nitro --model gnn.safetensors --set epochs=20 --checkpoint state.safetensors",
    f"rcexplainer fit {OWN} --out explainer.safetensors",
    f"rcexplainer fit {OWN} --task node --index nodes.txt",
)


def fit(
    model: Model,
    dataset: DatasetOrGraphs = None,
    graphs: Graphs = None,
    task: Task = None,
    index: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N,N…",
            rich_help_panel=INPUT,
            help="Fit on these of your own instances: graphs by their place, nodes by their number, links as pairs "
            "such as 0-5,2-9; a file of these, or all (default: the training part of a split by the seed, or of the "
            "graph's own masks). May be repeated.",
        ),
    ] = None,
    class_names: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME…", rich_help_panel=INPUT, help="Names of your own model's classes, in order."),
    ] = None,
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
    """Fit an explainer for a trained network, on the training part of a dataset or of your own graphs, and save it."""
    use_threads(threads)
    from rcexplainer.cli.fit_report import fit_named

    report = fit_named(
        model,
        out,
        dataset=dataset,
        graphs=graphs,
        task=task,
        index=index,
        class_names=None if class_names is None else [name.strip() for name in class_names.split(",")],
        preset=preset,
        settings=parse_settings(settings),
        checkpoint=checkpoint,
        seed=seed,
        root=root,
        device=device,
        progress=not quiet,
    )
    show(report.to_json(), [report.row()], report.caption(), as_json)
