"""Fidelity against model runs on held-out graphs: every method, and RCExplainer with more and more runs (`refine`).

    ratio(c)    Σ_s fidelity ÷ Σ_s greedy deletion's, over the sparsities s = .95, …, .75 and the same graphs, those
                predicted c
    runs(c)     model runs for each of these graphs, counted (`benchmark.model_runs`)

A job is one method on one network. Graphs are drawn in one order for all methods, so that a method that explains fewer
is compared with greedy deletion on those. `GREEDYS_RUNS` stands for as many runs as greedy deletion itself takes, and
`BY_SCORES` for RCExplainer's own scores without its plan of deletions.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.measures import predictions
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.model_runs import explained_with_runs
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explainer import FittedRCExplainer
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import fidelity
from rcexplainer.paper.figure_style import GREEDY
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.result_groups import SUMMED_SPARSITIES

GREEDYS_RUNS, BY_SCORES = "greedy", "scores"
Dial = int | str  # runs for a refinement; 0: the method's own order


@dataclass(frozen=True)
class ClassCost:
    """One method on the graphs that are predicted as one class.

    Attributes:
        runs: Model runs for each graph, mean.
        places: The held-out graphs that it explained.
        drops: The drop of p(class) for each of them, summed over the sparsities.
    """

    runs: float
    places: tuple[int, ...]
    drops: tuple[float, ...]


def dial_points(case: Case, method: str, dial: Sequence[Dial], most: int | None) -> JobResult:
    """Fit one method, and measure it with each number of runs.

    Args:
        case: A network, with the layout `every class`.
        method: A key of `METHODS`.
        dial: Numbers of runs to refine its ranking with; 0: its own order.
        most: Graphs of each predicted class that it explains; None: all of them.

    Returns:
        `points`: for each number of runs, predicted class → `ClassCost`; `skipped`: why there are none.

    Raises:
        MissingExtraError: The method needs a package that is not installed.
    """
    about = {"method": method, "seed": case.seed, "points": []}
    try:
        fitted = METHODS[method].fit(case, False)
    except MissingExtraError:
        raise
    except RCExplainerError as error:
        return about | {"skipped": str(error)}
    classes = graphs_by_class(case, most)
    greedy = METHODS[GREEDY].fit(case, False) if GREEDYS_RUNS in dial else None
    points = [
        {
            "refine": refine,
            "classes": {
                name: asdict(_cost(case, _ordered(fitted, refine), places, _runs(case, greedy, places, refine)))
                for name, places in classes.items()
            },
        }
        for refine in dial
    ]
    return about | {"points": points, "skipped": ""}


def graphs_by_class(case: Case, most: int | None) -> dict[str, list[int]]:
    """The first held-out graphs of every predicted class, in the order in which they are drawn.

    Args:
        case: A network, with the layout `every class`.
        most: Graphs of a class, at most.

    Returns:
        Name of the class → places; classes that are never predicted are left out.
    """
    order = case.first(None)
    labels = predictions(case.split, [graph.cpu() for graph in case.graphs(order)]).tolist()
    found = {
        name: [place for place, own in zip(order, labels, strict=True) if own == label][:most]
        for label, name in enumerate(case.data.class_names)
    }
    return {name: places for name, places in found.items() if places}


def _ordered(fitted: FittedExplainer, refine: Dial) -> FittedExplainer:
    """The explainer, without its plan where scores are asked for."""
    return fitted.by_scores if refine == BY_SCORES and isinstance(fitted, FittedRCExplainer) else fitted


def _runs(case: Case, greedy: FittedExplainer | None, places: list[int], refine: Dial) -> int | None:
    """The runs for a refinement, one less than greedy deletion's where these are asked for: the prediction is one."""
    if refine == BY_SCORES:
        return None
    if not isinstance(refine, str):
        return refine or None
    assert greedy is not None
    return max(1, int(explained_with_runs(greedy, case.graphs(places))[1]) - 1)


def _cost(case: Case, fitted: FittedExplainer, places: list[int], refine: int | None) -> ClassCost:
    found, runs = explained_with_runs(fitted, case.graphs(places), refine)
    shown: dict[int, Any] = {place: one for place, one in found.items() if len(one.units)}
    if not shown:
        return ClassCost(runs, (), ())
    drops = fidelity(case.split, list(shown.values()), SUMMED_SPARSITIES).each
    return ClassCost(runs, tuple(places[at] for at in shown), tuple(map(sum, zip(*drops, strict=True))))
