"""`rcexplainer fit`: an explainer for a trained network."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.example_words import OWN_FUNCTIONS, SAVED_NETWORK
from rcexplainer.cli.named_inputs import NamedInputs, TableFiles
from rcexplainer.cli.options import (
    COMPUTING,
    INDEX_FORMS,
    OUTPUT,
    OWN,
    WHICH,
    DatasetOrGraphs,
    Device,
    ForwardName,
    GraphsName,
    HeadName,
    InputPath,
    Json,
    ModelName,
    OutputKindName,
    Preset,
    Quiet,
    Root,
    Settings,
    SmilesColumn,
    SplitSeed,
    TaskOption,
    Threads,
    parse_settings,
)
from rcexplainer.cli.output import show
from rcexplainer.cli.overwritten_files import refuse_overwriting
from rcexplainer.cli.threads import use_threads

FIT_OPTIONS = ("class_names", "checkpoint", "smiles_column")  # that `evaluate` does not have
EXAMPLES = (
    f"rcexplainer fit {SAVED_NETWORK}",
    f"rcexplainer fit {SAVED_NETWORK} --set epochs=20 --checkpoint state.safetensors",
    f"rcexplainer fit {OWN_FUNCTIONS}",
    f"rcexplainer fit {OWN_FUNCTIONS} \\\n    --forward my_package.gnn:call_model --head classifier --output logits",
    f"rcexplainer fit {OWN_FUNCTIONS} \\\n    --task node --index nodes.txt",
    "rcexplainer fit --model gnn.safetensors --input 'molecules/*.parquet'",
)


def fit(
    model: ModelName,
    dataset: DatasetOrGraphs = None,
    graphs: GraphsName = None,
    input_path: InputPath = None,
    smiles_column: SmilesColumn = None,
    task: TaskOption = None,
    forward: ForwardName = None,
    head: HeadName = None,
    output: OutputKindName = None,
    class_names: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME…", rich_help_panel=OWN, help="Names of your own model's classes, in order."),
    ] = None,
    index: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N,N…",
            rich_help_panel=WHICH,
            help="Fit on these nodes, links or own graphs (default: the training part of the split): " + INDEX_FORMS,
            show_default=False,
        ),
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
            help="Keep the state of the run in this file (default: beside --out until the fit is done). The same "
            "command, run again after it was stopped, goes on from there.",
        ),
    ] = None,
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Fit an explainer for a trained network, and save it.

    It is fitted on the training part of a dataset, or of your own graphs, nodes or links.
    """
    use_threads(threads)
    read = {"--input": input_path, "--model": model, "--dataset": dataset, "--index": index}
    refuse_overwriting({"--out": out, "--checkpoint": checkpoint}, read)
    from rcexplainer.cli.fit_report import fit_named

    report = fit_named(
        NamedInputs(model, dataset, graphs, task, seed, root, device, head, output, forward),
        out,
        index=index,
        class_names=None if class_names is None else [name.strip() for name in class_names.split(",")],
        preset=preset,
        settings=parse_settings(settings, FIT_OPTIONS),
        checkpoint=checkpoint,
        progress=not quiet,
        table=None if input_path is None else TableFiles(input_path, (smiles_column, None)),
    )
    show(report.to_json(), [report.row()], report.caption(), as_json)
