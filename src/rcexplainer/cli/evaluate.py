"""`rcexplainer evaluate`: explainers measured on instances they were not fitted on."""

from pathlib import Path
from typing import Annotated, Any

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
    root: Root = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME…",
            rich_help_panel=METHOD,
            help="Explainers to compare, such as rcexplainer,gnnexplainer, or all (default: rcexplainer, with random "
            "order, occlusion and greedy deletion for reference).",
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
    if out is not None:
        writable_folder(out)
    result = _evaluate(
        dataset,
        arch,
        range(seeds),
        methods=methods,
        protocol=protocol,
        preset=preset,
        settings=parse_settings(settings),
        robustness=robustness,
        device=device,
        root=root,
        out=out,
        progress=not quiet,
    )
    show_tables(result.to_json(), result.tables(), as_json)


def _evaluate(dataset: str, arch: str | None, seeds: range, *, methods: str | None, **how: Any) -> Any:
    """`rcexplainer.benchmark.harness.evaluate`, until it is there: the same arguments for the functions of today."""
    from types import SimpleNamespace

    from rcexplainer.benchmark import evaluate as held_out
    from rcexplainer.benchmark import nodes, paper_protocol
    from rcexplainer.benchmark.comparison import compare
    from rcexplainer.benchmark.methods import chosen
    from rcexplainer.datasets import task_of
    from rcexplainer.errors import RCExplainerError
    from rcexplainer.gnn.models import USUAL

    protocol, robust, device, _ = (how.pop(name) for name in ("protocol", "robustness", "device", "out"))
    if protocol not in ("held-out", "paper"):
        raise RCExplainerError(f"protocol must be one of held-out, paper, got {protocol!r}")
    if methods is not None and (protocol == "paper" or device is not None):
        raise RCExplainerError(
            "--methods compares on held-out instances and on the CPU: leave --protocol and --device out"
        )
    result: Any
    arch = arch or USUAL[task_of(dataset)]
    if methods is not None:
        result = compare(dataset, arch, seeds, chosen(methods), robust=robust, **how)
    elif task_of(dataset) != "graph":
        result = nodes.evaluate_nodes(dataset, arch, seeds, device=device, **how)
    elif protocol == "paper":
        result = paper_protocol.paper_protocol(dataset, arch, seeds, device=device, **how)
    else:
        result = held_out.evaluate(dataset, arch, seeds, robust=robust, device=device, **how)
    document = {("arch" if key == "model" else key): value for key, value in result.to_json().items()}
    return SimpleNamespace(to_json=lambda: document, tables=result.tables)
