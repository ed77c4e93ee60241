"""`rcexplainer bench`: the speed of this library on this machine."""

from typing import Annotated

import typer

from rcexplainer.cli.options import Json, Threads
from rcexplainer.cli.output import show
from rcexplainer.cli.threads import SMALL_WORK, use_threads
from rcexplainer.errors import RCExplainerError

LARGE = ("regions",)  # benchmarks of large tensors: every core is of use
EXAMPLES = ("rcexplainer bench core", "rcexplainer bench regions --repeats 1 --threads 1")


def bench(
    what: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="import (the time to import the package), core (edge scores and training steps, relative to those of "
            "the explained network), regions (decision regions of a million embeddings) or nodes (computation graphs "
            "of 10,000 nodes).",
        ),
    ],
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Number of measurements; the median counts.")] = 3,
    as_json: Json = False,
    threads: Threads = None,
) -> None:
    """Measure speed on this machine.

    All but `regions`, whose tensors are large, use one thread by default.
    """
    use_threads(threads, None if what in LARGE else SMALL_WORK)
    from rcexplainer.benchmark.speed import BENCHMARKS

    if what not in BENCHMARKS:
        raise RCExplainerError(f"unknown benchmark {what!r}; known: {', '.join(BENCHMARKS)}")
    rows = BENCHMARKS[what](repeats)
    show(rows, rows, f"medians of {repeats}", as_json)
