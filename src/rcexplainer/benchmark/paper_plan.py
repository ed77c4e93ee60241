"""The paper's protocol: fitted and evaluated on the same graphs, all those of the whole set predicted as one class.

Regions come from all graphs. Nothing is held out from the explainer (a tenth of the same graphs stops its training), so
these numbers stand beside the authors' own, at the sparsities of their curve, and nowhere else.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from rcexplainer.benchmark.case import GREEDY_DEPTH, Case
from rcexplainer.benchmark.cost_tables import cost_rows
from rcexplainer.benchmark.graph_plan import TIMED_GRAPHS
from rcexplainer.benchmark.groups import Group, GroupExplanations, GroupMeasurement, GroupResult, Measure, NetworkResult
from rcexplainer.benchmark.layout import EXPLAINED
from rcexplainer.benchmark.measures import keeps_without_edges
from rcexplainer.benchmark.plan import Evaluation, Plan
from rcexplainer.benchmark.results import (
    HEADLINE_SPARSITIES,
    OURS,
    Rows,
    Tables,
    column,
    columns,
    mean,
    means_and_stds,
    seeds_text,
    short,
)
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import Fidelity, fidelity

# Sparsity → fidelity of the authors' own model and explainer.
AUTHORS: dict[str, dict[float, float]] = {
    "mutagenicity": {0.524: 0.345, 0.777: 0.708, 0.837: 0.728, 0.883: 0.693, 0.935: 0.553, 0.978: 0.244}
}


def paper_plan(dataset: str) -> Plan:
    """The plan for the paper's protocol on one of its graph sets.

    Raises:
        RCExplainerError: The paper explains no class of this set.
    """
    name = dataset.lower()
    if name not in EXPLAINED:
        raise RCExplainerError(f"the paper's protocol is for {', '.join(EXPLAINED)}, got {dataset!r}")
    authors = AUTHORS.get(name)
    sparsities = tuple(authors or HEADLINE_SPARSITIES)
    measures: dict[str, Measure] = {"fidelity": partial(_fidelity, sparsities), "edgeless": _edgeless}
    measurement = GroupMeasurement(_group, measures, lambda _: "none", lambda case, _: case.places, TIMED_GRAPHS)
    return Plan(
        measurement,
        lambda case: NetworkResult(case.seed, case.accuracy),
        partial(_summary, sparsities, authors),
        partial(_tables, sparsities, authors),
        explains="paper",
        greedy_depth=max(GREEDY_DEPTH, 1 - min(sparsities)),
    )


def _group(case: Case, method: str, shown: Mapping[int, Explanation]) -> list[Group]:
    """All explained graphs, which are predicted as one class."""
    return [Group("predicted", case.data.class_names[EXPLAINED[case.data.name]], list(shown))]


def _fidelity(sparsities: tuple[float, ...], shown: GroupExplanations) -> Fidelity:
    return fidelity(shown.case.split, shown.ones, sparsities)


def _edgeless(shown: GroupExplanations) -> float:
    return keeps_without_edges(shown.case.split, shown.ones)


def _rows(sparsities: tuple[float, ...], evaluation: Evaluation) -> Rows:
    """Means over the seeds, a line for each method; `std` holds the standard deviations."""
    found: dict[str, list[GroupResult]] = {}
    for one in evaluation.results:
        found.setdefault(one.method, []).extend(one.groups)
    return [
        {
            "class": ones[0].label,
            "method": method,
            "graphs": mean([len(one.places) for one in ones]),
            "edgeless": mean([one.edgeless for one in ones]),
            **means_and_stds([columns(sparsities, one.fidelity.drop) for one in ones if one.fidelity is not None]),
        }
        for method, ones in found.items()
    ]


def _summary(
    sparsities: tuple[float, ...], authors: dict[float, float] | None, evaluation: Evaluation
) -> dict[str, Any]:
    """Means over the seeds, and the authors' numbers."""
    rows = _rows(sparsities, evaluation)
    return {
        "means": rows,
        "mean_costs": cost_rows(evaluation.results),
        "predicted": rows[0]["class"],
        "sparsities": sparsities,
        "authors": None if authors is None else tuple(authors.values()),
    }


def _tables(sparsities: tuple[float, ...], authors: dict[float, float] | None, evaluation: Evaluation) -> Tables:
    """The methods beside the authors' numbers."""
    means = _rows(sparsities, evaluation)
    graphs, label = means[0]["graphs"], means[0]["class"]
    names = [column(share) for share in sparsities]
    rows: Rows = [{"method": row["method"], **{name: short(row[name]) for name in names}} for row in means]
    if authors is not None:
        numbers = columns(sparsities, list(authors.values()))
        rows.append({"method": "the authors'"} | {name: short(value) for name, value in numbers.items()})
    cost = next(row for row in cost_rows(evaluation.results) if row["method"] == OURS)
    caption = (
        f"the paper's protocol: fidelity at each sparsity on the {graphs:.0f} graphs of {evaluation.dataset} "
        f"predicted as {label}, on which the methods were fitted too; {seeds_text(len(evaluation.seeds))}; without any "
        f"edge {short(means[0]['edgeless'])} of them keep their prediction (edgeless); "
        f"rcexplainer was fitted in {cost['fit_seconds']:.1f} s and scores one graph alone in "
        f"{1000 * cost['seconds_each']:.1f} ms"
    )
    return [(rows, caption)]
