"""`rcexplainer train`: a graph neural network of ours, trained once per seed."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rcexplainer.cli.interruption import said_when_interrupted
from rcexplainer.cli.options import OUTPUT, Architecture, Dataset, Device, Json, Quiet, Root, Threads
from rcexplainer.cli.output import show
from rcexplainer.cli.threads import use_threads
from rcexplainer.saving.documents import writable_folder

TRAINING = "Training"  # a group of options in the help
EXAMPLES = (
    "rcexplainer train --dataset nitro --out models",
    "rcexplainer train --dataset ba-shapes --out models",
    "rcexplainer train --dataset mutagenicity --arch graphconv --lr 0.002 --seeds 5 --json",
)


def train(
    dataset: Dataset,
    arch: Architecture = None,
    root: Root = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=TRAINING,
            help="Number of random seeds; each draws its own split and weights.",
        ),
    ] = 1,
    first_seed: Annotated[
        int, typer.Option(min=0, metavar="N", rich_help_panel=TRAINING, help="The first of these seeds.")
    ] = 0,
    epochs: Annotated[
        int | None, typer.Option(min=1, metavar="N", rich_help_panel=TRAINING, help="Maximum number of epochs.")
    ] = None,
    lr: Annotated[
        float | None, typer.Option(metavar="X", rich_help_panel=TRAINING, help="Learning rate of Adam.")
    ] = None,
    dropout: Annotated[
        float | None, typer.Option(metavar="X", rich_help_panel=TRAINING, help="Dropout after each layer.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", rich_help_panel=OUTPUT, help="Write the trained networks to this folder."),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Train a network for graphs, nodes or links of a dataset, and show its accuracy."""
    use_threads(threads)
    from rcexplainer.benchmark.accuracy import PARTS, train_seeds

    if out is not None:
        writable_folder(out)
    with said_when_interrupted("" if out else "nothing was kept: with --out DIR the same command goes on where it was"):
        report = train_seeds(
            dataset,
            arch,
            range(first_seed, first_seed + seeds),
            root=root,
            out=out,
            device=device,
            progress=not quiet,
            training={name: value for name, value in (("epochs", epochs), ("lr", lr)) if value is not None},
            architecture={} if dropout is None else {"dropout": dropout},
        )
    rows: list[dict[str, Any]] = [
        {"seed": run.seed, **run.accuracy, "epoch": run.best_epoch, "seconds": round(run.seconds, 1)}
        for run in report.runs
    ]
    if seeds > 1:
        rows.append(
            {"seed": "mean ± std"} | {part: f"{report.mean(part):.3f} ± {report.std(part):.3f}" for part in PARTS}
        )
    written = "" if out is None else f"; written to {', '.join(str(run.checkpoint) for run in report.runs)}"
    show(report.to_json(), rows, f"accuracy of {report.arch} on {dataset}{written}", as_json)
