"""`rcexplainer bench`: the speed of this library on this machine."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rcexplainer.cli.options import OUTPUT, Device, Json, Root, Threads
from rcexplainer.cli.output import show
from rcexplainer.cli.threads import SMALL_WORK, use_threads
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import writable_folder

LARGE = ("regions",)  # benchmarks of large tensors: every core is of use
EXAMPLES = (
    "rcexplainer bench explain --keep networks --out speed",
    "rcexplainer bench fit --rows graphs --graphs 500 --threads 2",
    "rcexplainer bench scaling --out speed",
    "rcexplainer bench stream --repeats 1 --keep fits --out speed",
    "rcexplainer bench scale --rows 1e5,1e6,1e7,1e8 --scratch /data/tmp",
    "rcexplainer bench engine --graphs 200000 --keep networks --out speed",
)


def bench(
    what: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="explain (explanations, relative to forward passes, and other explainers), fit (fits, relative to "
            "training steps of the network), hub (searches around nodes with many neighbours), scaling (cost against "
            "graphs, edges and classes), memory (peaks of fits), serve (requests to a server "
            "from 1, 8 and 32 clients), stream (fits on 4,000 to 400,000 molecules, in memory and "
            "streamed: quality and peak memory), scale (nodes of graphs on disk with up to 100,000,000 edges), "
            "engine (files of molecules explained by the local engine and by Ray), engine-model (what they cost, "
            "fitted and checked), import (the time to import the package), core (scores "
            "and training steps), regions (decision regions of a million embeddings) or nodes (computation "
            "graphs of 10,000 nodes).",
        ),
    ],
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Number of measurements; the median counts.")] = 3,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME…",
            help="Measure these rows alone: list, alone, all, others (explain); graphs, nodes, ba-community (fit); "
            "late, large (hub); graphs, edges, classes (scaling); large graph, classes, each class (memory); predict, "
            "explain (serve); 4000 list, 40000 list, 40000 stream, 400000 stream, pool 400, pool 1000, pool 16000 "
            "(stream); 1e5, 1e6, 1e7, 1e8 (scale; the last one on request alone); local 1, local 2, ray 1, ray 2, "
            "smiles 1, loader, explain, memory (engine); local, ray, stages (engine-model).",
        ),
    ] = None,
    graphs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Graphs or nodes to explain or fit on, for explain, fit and the engines."
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of networks and explainers that are measured: read where they are there, else written.",
        ),
    ] = None,
    limit: Annotated[
        float,
        typer.Option(min=0, metavar="S", help="For scaling: a series ends at a size that takes longer."),
    ] = 20.0,
    scratch: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="For scale: where its graphs are written and removed again, up to 4 GB."),
    ] = None,
    root: Root = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUTPUT,
            help="Write the rows and the machine to this folder as JSON, and the plot of scaling as SVG.",
        ),
    ] = None,
    as_json: Json = False,
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Measure speed on this machine.

    All but `regions`, whose tensors are large, use one thread by default. Where only torch and PyG are installed,
    `python -m rcexplainer.benchmark.speed` measures the same.
    """
    use_threads(threads, None if what in LARGE else SMALL_WORK)
    from rcexplainer.benchmark.speed import BENCHMARKS, benchmark
    from rcexplainer.benchmark.speed.document import document, write
    from rcexplainer.benchmark.speed.options import BenchOptions
    from rcexplainer.gnn.device import usable_device

    if what not in BENCHMARKS:
        raise RCExplainerError(f"unknown benchmark {what!r}; known: {', '.join(BENCHMARKS)}")
    if out is not None:
        writable_folder(out)
    where = str(usable_device(device)) if device is not None else "cpu"
    names = tuple(name.strip() for name in (rows or "").split(",") if name.strip())
    options = BenchOptions(repeats, where, names, graphs, keep, root, limit, scratch)
    found: list[dict[str, Any]] = []
    for row in benchmark(what)(options):  # a run that is stopped leaves what it has measured
        found.append(row)
        if out is not None:
            write(document(what, options, found), out)
    if not found:
        raise RCExplainerError(f"bench {what} has no row named {rows!r}")
    shown = [{key: value for key, value in row.items() if not isinstance(value, dict)} for row in found]
    show(document(what, options, found), shown, f"medians of {repeats}", as_json)
