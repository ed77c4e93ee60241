"""Cost against the number of graphs, of edges of one graph, and of classes; slopes of the log–log curves.

    graphs    molecules: scores, `prefix`, a fit of two epochs
    edges     one growing graph: scores, `prefix`; a fit of two epochs on molecules among which it is
    classes   the same number of small graphs: scores, `prefix`, a fit of two epochs

A series ends at the first size that takes longer than the limit. The slope is that of a straight line through the
logarithms of all its points, and of the last three, where what is constant counts least. 1: proportional.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from rcexplainer.benchmark.speed.clock import in_turns, seconds
from rcexplainer.benchmark.speed.molecules import Molecules
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.benchmark.speed.scaling_subjects import growing_graph, many_classes
from rcexplainer.explainer import RCExplainer

GRAPHS, FITTED = (250, 500, 1000, 2000, 4000), (250, 500, 1000, 2000)
EDGES, SEARCHED = tuple(1000 * 2**power for power in range(9)), tuple(250 * 2**power for power in range(11))
CLASSES, RINGS = (2, 4, 8, 16, 32, 64), 640
AMONG = 128  # molecules of the fit with one growing graph
EPOCHS = 2
WANTED = 1.1  # slopes up to this count as proportional

Measured = Callable[[int], float]  # size → seconds


def scaling_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """One row for every size, and one with the slope for every series."""
    parts: dict[str, Callable[[BenchOptions], dict[str, tuple[Sequence[int], Measured]]]] = {
        "graphs": _graphs,
        "edges": _edges,
        "classes": _classes,
    }
    for row, part in parts.items():
        for what, (sizes, measured) in part(options).items() if options.wanted(row) else ():
            points: list[tuple[int, float]] = []
            for size in sizes:
                points.append((size, measured(size)))
                yield {"row": row, "what": what, "size": size, "seconds": points[-1][1]}
                if points[-1][1] > options.limit:
                    break
            if len(points) > 1:
                steep = {"slope": slope(points), "last three": slope(points[-3:]), "wanted": WANTED}
                yield {"row": row, "what": what, **steep, "reached": points[-1][0]}


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the least-squares line through (log size, log seconds) of at least two points."""
    x, y = ([math.log(value) for value in column] for column in zip(*points, strict=True))
    middle, height = sum(x) / len(x), sum(y) / len(y)
    spread = sum((value - middle) ** 2 for value in x)
    return sum((one - middle) * (other - height) for one, other in zip(x, y, strict=True)) / spread


def _explained(fitted: Any, graphs: Any, search: str, options: BenchOptions) -> float:
    run = partial(fitted.explain, graphs, search=search)
    took = seconds(run, options.where)
    return took if took > options.limit else in_turns({"run": run}, options.where, options.repeats)["run"]


def _fitted(model: Any, graphs: Any, options: BenchOptions) -> float:
    explainer = RCExplainer(epochs=EPOCHS)
    return seconds(lambda: explainer.fit(model, graphs, progress=False), options.where)


def _graphs(options: BenchOptions) -> dict[str, tuple[Sequence[int], Measured]]:
    subject = Molecules.of(options)
    return {
        "scores": (GRAPHS, lambda size: _explained(subject.fitted, subject.some(size), "none", options)),
        "prefix": (GRAPHS, lambda size: _explained(subject.fitted, subject.some(size), "prefix", options)),
        "fit": (FITTED, lambda size: _fitted(subject.model, subject.some(size), options)),
    }


def _edges(options: BenchOptions) -> dict[str, tuple[Sequence[int], Measured]]:
    subject = Molecules.of(options)
    grown = partial(growing_graph, like=subject.some(1)[0])
    return {
        "scores": (EDGES, lambda size: _explained(subject.fitted, [grown(size)], "none", options)),
        "prefix": (SEARCHED, lambda size: _explained(subject.fitted, [grown(size)], "prefix", options)),
        "fit": (EDGES, lambda size: _fitted(subject.model, [*subject.some(AMONG), grown(size)], options)),
    }


def _classes(options: BenchOptions) -> dict[str, tuple[Sequence[int], Measured]]:
    def explained(search: str, size: int) -> float:
        model, graphs = many_classes(size, RINGS, options)
        fitted = RCExplainer(epochs=1).fit(model, graphs, progress=False)
        return _explained(fitted, graphs, search, options)

    return {
        "scores": (CLASSES, partial(explained, "none")),
        "prefix": (CLASSES, partial(explained, "prefix")),
        "fit": (CLASSES, lambda size: _fitted(*many_classes(size, RINGS, options), options)),
    }
