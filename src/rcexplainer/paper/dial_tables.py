"""Fidelity against model runs: the points of a panel, their table, and what is asked of them.

A method is *beaten* where RCExplainer, with one of its numbers of runs, takes no more runs and has at least its ratio.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rcexplainer.benchmark.results import OURS, mean
from rcexplainer.paper.captions import panel_text
from rcexplainer.paper.cells import over_seeds, shown_as
from rcexplainer.paper.checks import ClaimCheck, check, digits, undecided
from rcexplainer.paper.dial import GREEDYS_RUNS, Dial
from rcexplainer.paper.figure_style import GREEDY
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import (
    NAN,
    SUMMED_SPARSITIES,
    EntrySettings,
    MethodResults,
    TaggedResults,
    done,
    groups,
    left_out,
)
from rcexplainer.paper.table import Column, Table, TableCell, dated, marked

LITTLE_FIDELITY = 0.10  # greedy deletion's mean fidelity below which a ratio says little
CAPTION = (
    "fidelity summed over the sparsities .95 to .75 as a ratio to greedy deletion's on the same graphs, by predicted "
    "class; lowest: of all seeds and classes; runs: of the model for each graph, counted, a backward pass as one more; "
    "refine: runs that RCExplainer spends on its ranking by really deleting edges"
)


@dataclass(frozen=True)
class DialPoint:
    """One method with one number of runs, on one dataset.

    Attributes:
        method: The method.
        refine: Runs for a refinement; 0: its own scores.
        ratio: Predicted class → ratio to greedy deletion, one for each seed.
        runs: Predicted class → model runs for each graph, one for each seed.
        graphs: All graphs that it explained.
    """

    method: str
    refine: Dial
    ratio: dict[str, list[float]]
    runs: dict[str, list[float]]
    graphs: int

    @property
    def name(self) -> str:
        """The method, and how its ranking was refined."""
        many = "greedy deletion's runs" if self.refine == GREEDYS_RUNS else self.refine
        return f"{self.method}, refine = {many}" if self.refine else self.method

    @property
    def mean_runs(self) -> float:
        """The mean over classes and seeds."""
        return mean([value for values in self.runs.values() for value in values])


def dial_curve(methods: MethodResults) -> list[DialPoint]:
    """The points of a panel; ratios are nan for a seed that greedy deletion has not.

    Args:
        methods: Method → its results, one for each seed.

    Returns:
        A point for each method and number of runs.
    """
    greedy = {one["seed"]: one["points"][0]["classes"] for one in done(methods).get(GREEDY, ())}
    made: list[DialPoint] = []
    for method, results in done(methods).items():
        for at, point in enumerate(results[0]["points"]):
            classes = list(dict.fromkeys(name for one in results for name in one["points"][at]["classes"]))
            own = [(greedy.get(one["seed"], {}), one["points"][at]["classes"]) for one in results]
            ratio = {name: [_ratio(found.get(name), other.get(name)) for other, found in own] for name in classes}
            runs = {name: [found[name]["runs"] for _, found in own if name in found] for name in classes}
            graphs = sum(len(cost["places"]) for _, found in own for cost in found.values())
            made.append(DialPoint(method, point["refine"], ratio, runs, graphs))
    return made


def _ratio(own: JobResult | None, greedy: JobResult | None) -> float:
    """Σ of the drops ÷ Σ of greedy deletion's, on the graphs that both explained."""
    if not own or not greedy:
        return NAN
    theirs = dict(zip(greedy["places"], greedy["drops"], strict=True))
    shared = [(drop, theirs[at]) for at, drop in zip(own["places"], own["drops"], strict=True) if at in theirs]
    below = sum(other for _, other in shared)
    return sum(drop for drop, _ in shared) / below if below > 0 else NAN


def dial_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """A table for each dataset, the cheapest method first.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The tables; none before greedy deletion's results are there.
    """
    made: list[Table] = []
    for panel, methods in groups(found).items():
        points = sorted(dial_curve(methods), key=lambda point: point.mean_runs)
        if not done(methods).get(GREEDY):
            continue
        classes = list(dict.fromkeys(name for point in points for name in point.ratio))
        columns = [Column("method"), Column("runs"), *(Column(f"ratio, {name}", "higher") for name in classes)]
        columns += [Column("lowest", "higher"), Column("graphs")]
        rows = tuple(
            (
                TableCell(point.name),
                shown_as([point.mean_runs], lambda value: f"{value:,.1f}" if value < 100 else f"{value:,.0f}"),
                *(over_seeds(point.ratio.get(name, []), 3) for name in classes),
                _lowest(point),
                TableCell(str(point.graphs)),
            )
            for point in points
        )
        caption = panel_text(settings, panel, CAPTION, done(methods))
        notes = (*left_out(methods), *_little(methods))
        made.append(
            marked(dated(Table(caption, tuple(columns), rows, notes), [as_of(methods[one.method]) for one in points]))
        )
    return made


def _lowest(point: DialPoint) -> TableCell:
    values = [value for ratios in point.ratio.values() for value in ratios if value == value]
    return over_seeds([min(values)] if values else [], 3)


def _little(methods: MethodResults) -> list[str]:
    """A note for classes of which greedy deletion itself has next to no fidelity."""
    notes: list[str] = []
    for one in done(methods).get(GREEDY, ()):
        for name, cost in one["points"][0]["classes"].items():
            own = mean(cost["drops"]) / len(SUMMED_SPARSITIES)
            if own < LITTLE_FIDELITY:
                notes.append(f"seed {one['seed']}, {name}: greedy deletion's own mean fidelity is {own:.3f}")
    return notes


def ratio_checks(settings: EntrySettings, methods: MethodResults, refine: Dial, least: float) -> list[ClaimCheck]:
    """Whether RCExplainer's ratio with this number of runs is high enough, for every class.

    Args:
        settings: The entry's.
        methods: Method → its results.
        refine: The number of runs.
        least: What the mean over the seeds must be.

    Returns:
        A check for each class, or why nothing can be decided.
    """
    checks = _undecided(settings, methods, [OURS, GREEDY])
    points = [point for point in dial_curve(methods) if point.method == OURS and point.refine == refine]
    return checks or [
        check(value, value >= least, f"{digits(value, least)} ({name})")
        for point in points
        for name, values in point.ratio.items()
        for value in [mean(values)]
    ]


def cost_checks(settings: EntrySettings, methods: MethodResults) -> list[ClaimCheck]:
    """Whether every other method is beaten on every class: not above RCExplainer with as few runs.

    Args:
        settings: The entry's.
        methods: Method → its results.

    Returns:
        A failed check for each method that is not, an open one for each that is missing; else one that says so.
    """
    points = dial_curve(methods)
    ours = [point for point in points if point.method == OURS]
    checks = _undecided(settings, methods, [OURS, GREEDY])
    if checks:
        return checks
    rivals = [point for point in points if point.method != OURS]
    for rival in rivals:
        for name, values in rival.ratio.items():
            best = _best(ours, name, mean(rival.runs[name]))
            if mean(values) > best:
                says = f"{rival.name} has {digits(mean(values), best)} ({name}) with {mean(rival.runs[name]):.0f} runs"
                checks.append(ClaimCheck(False, f"{says}, ours {digits(best, mean(values))}"))
    missing = [method for method in settings["methods"] if method not in methods]
    checks += [ClaimCheck(None, f"{method}: not run") for method in missing]
    return checks or [ClaimCheck(True, f"{len(rivals)} other methods, none above ours with as few runs")]


def _best(ours: Sequence[DialPoint], name: str, runs: float) -> float:
    """RCExplainer's best ratio with at most this many runs."""
    able = [mean(point.ratio[name]) for point in ours if name in point.ratio and mean(point.runs[name]) <= runs]
    return max(able, default=NAN)


def _undecided(settings: EntrySettings, methods: MethodResults, needed: Sequence[str]) -> list[ClaimCheck]:
    return [one for name in needed for one in undecided(settings, name, methods.get(name, []))]
