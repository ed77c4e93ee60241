"""Peak memory of fits: with one large graph in a batch, with many classes, and with a chosen class.

    steps         tensors of single steps (`tensor_memory`)
    large graph   128 molecules, alone and with one graph of growing size among them
    classes       small graphs of more and more classes
    each class    the same, with an explainer that leads to every class (`target_class="each"`), fit and explanations

On the CPU each fit runs in a process of its own, a copy of this one, and what counts is how far its resident memory
grows; on another device it is the peak of what is allocated there. The teacher is off: its searches take long in a
large graph, and their memory is bounded.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from rcexplainer.benchmark.speed.molecules import Molecules
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.benchmark.speed.scaling_subjects import growing_graph, many_classes
from rcexplainer.benchmark.speed.tensor_memory import tensor_memory
from rcexplainer.explainer import RCExplainer

MOLECULES, EDGES = 128, (25_000, 50_000, 100_000)
CLASSES, CHOSEN = (30, 100, 300), (8, 16, 32)
RINGS = 1200  # graphs of the fits with many classes
SETTINGS: dict[str, Any] = {"epochs": 1, "weight_order": 0.0, "weight_effect": 0.0}


def memory_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """Megabytes above what was used before."""
    parts: dict[str, Callable[[BenchOptions], Iterator[dict[str, Any]]]] = {
        "large graph": _large_graph,
        "classes": partial(_classes, CLASSES, None),
        "each class": partial(_classes, CHOSEN, "each"),
    }
    if options.wanted("steps"):
        yield from tensor_memory()
    for name, part in parts.items():
        for row in part(options) if options.wanted(name) else ():
            yield {"row": name, **row}


def _large_graph(options: BenchOptions) -> Iterator[dict[str, Any]]:
    subject = Molecules.of(options)
    graphs = subject.some(MOLECULES + 32)
    training, validation = graphs[:MOLECULES], graphs[MOLECULES:]

    def fit(*more: Any) -> None:
        settings = {**SETTINGS, "batch_size": MOLECULES + 1}
        RCExplainer(**settings).fit(subject.model, [*training, *more], val=validation, progress=False)

    yield {"size": 0, "peak MB": peak_megabytes(fit, options)}
    for edges in EDGES:
        large = growing_graph(edges, like=graphs[0])
        yield {"size": edges, "peak MB": peak_megabytes(partial(fit, large), options)}


def _classes(sizes: tuple[int, ...], target: Any, options: BenchOptions) -> Iterator[dict[str, Any]]:
    for classes in sizes:
        model, graphs = many_classes(classes, RINGS, options)

        def run(model: Any = model, graphs: Any = graphs) -> None:
            fitted = RCExplainer(target_class=target, **SETTINGS).fit(model, graphs, progress=False)
            if target is not None:
                fitted.explain(graphs, search="none", target_class=0, on_error="keep")

        yield {"size": classes, "peak MB": peak_megabytes(run, options)}


def peak_megabytes(run: Callable[[], Any], options: BenchOptions) -> float:
    """How far memory grows in a run, in MB."""
    if options.where.type == "cuda":
        torch.cuda.reset_peak_memory_stats(options.where)
        before = torch.cuda.memory_allocated(options.where)
        run()
        return (torch.cuda.max_memory_allocated(options.where) - before) / 1e6
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(run, sender))
    process.start()
    sender.close()
    try:
        return float(receiver.recv())
    finally:
        process.join()


def _report(run: Callable[[], Any], sender: Any) -> None:
    """In the copy of the process: run, and send how far the peak of its resident memory grew."""
    import resource  # not on Windows

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run()
    sender.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / 1e6)
    sender.close()
