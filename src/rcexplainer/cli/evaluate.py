"""`rcexplainer evaluate`: explainers measured on instances they were not fitted on."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.example_words import OWN_EXPLAINER
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.option_conflicts import refuse_together, refuse_without
from rcexplainer.cli.options import (
    INDEX_FORMS,
    INPUT,
    METHOD,
    OUTPUT,
    OWN,
    Architecture,
    DatasetOrGraphs,
    Device,
    ForwardName,
    GraphsName,
    HeadName,
    Json,
    OutputKindName,
    Preset,
    Quiet,
    Root,
    Settings,
    TaskOption,
    Threads,
    parse_settings,
)
from rcexplainer.cli.output import show_tables
from rcexplainer.cli.threads import use_threads
from rcexplainer.cli.unfinished_folder import drop_folder, unfinished_folder
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import writable_folder

PROTOCOL = "Protocol"  # a group of options in the help
EXAMPLES = (
    "rcexplainer evaluate --dataset ba-2motifs --seeds 3 --out evaluation",
    "rcexplainer evaluate --dataset mutagenicity --methods rcexplainer,gnnexplainer,pgexplainer",
    "rcexplainer evaluate --dataset mutagenicity --protocol paper --preset paper",
    f"rcexplainer evaluate {OWN_EXPLAINER} --methods gnnexplainer",
)


def evaluate(
    dataset: DatasetOrGraphs = None,
    arch: Architecture = None,
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
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|MODULE:FUNCTION",
            rich_help_panel=OWN,
            help="Measure on this trained network, and train none: your own function without arguments that returns an "
            "nn.Module, or a file that `rcexplainer train` wrote.",
        ),
    ] = None,
    graphs: GraphsName = None,
    task: TaskOption = None,
    forward: ForwardName = None,
    head: HeadName = None,
    output: OutputKindName = None,
    index: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N,N…",
            rich_help_panel=OWN,
            help="Hold out exactly these, and fit on all others (default: the test part of the split): " + INDEX_FORMS,
            show_default=False,
        ),
    ] = None,
    explainer: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=OWN,
            help="Measure this explainer, a file that `rcexplainer fit` wrote, in place of fitting one.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            rich_help_panel=OWN,
            help="Seed of the split, with --model (default: the seed it was trained with; 0 for your own).",
            show_default=False,
        ),
    ] = None,
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
        bool,
        typer.Option(metavar="", rich_help_panel=PROTOCOL, help="Measure whether explanations survive 10 % noise."),
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
    """Measure and compare explainers on held-out graphs, nodes or links.

    For a dataset networks are trained: fidelity, flips, robustness, motif accuracy and time. With --model none is:
    fidelity, flips and counterfactuals of explainers for that network.
    """
    arguments = dict(locals())
    use_threads(threads)
    if out is not None:
        writable_folder(out)
    kept = out or unfinished_folder("evaluate", arguments)  # without --out, results are kept until the command is done
    if model is not None:
        refuse_together("--model", arch=arch, recipe=recipe)
        if (protocol, seeds) != ("held-out", 1):
            raise RCExplainerError("--protocol and --seeds are for networks that are trained here: leave them out")
        from rcexplainer.cli.named_evaluation import evaluate_named

        own = evaluate_named(
            NamedInputs(model, dataset, graphs, task, seed, root, device, head, output, forward),
            index=index,
            explainer=explainer,
            methods=methods,
            preset=preset,
            settings=parse_settings(settings),
            out=kept,
            progress=not quiet,
        )
        drop_folder(kept if out is None else None)
        show_tables(own.to_json() | {"model": model}, own.tables(), as_json)
        return
    from rcexplainer.benchmark.harness import evaluate as run

    named = {"graphs": graphs, "task": task, "forward": forward, "head": head, "output": output, "index": index}
    refuse_without("--model", **named, explainer=explainer, seed=seed)
    if dataset is None:
        raise RCExplainerError("give --dataset NAME, or your own --model and --graphs")
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
        out=kept,
        progress=not quiet,
    )
    drop_folder(kept if out is None else None)
    show_tables(result.to_json(), result.tables(), as_json)
