"""Fidelity against model runs: a table for each panel, and the checks of a ranking that is refined.

A method is *beaten* where RCExplainer, with one of its numbers of runs, takes no more runs and has at least its ratio.
"""

from collections.abc import Sequence

from rcexplainer.benchmark.results import OURS, mean
from rcexplainer.paper.captions import panel_text
from rcexplainer.paper.cells import over_seeds, shown_as
from rcexplainer.paper.checks import ClaimCheck, check, digits, undecided
from rcexplainer.paper.dial import Dial
from rcexplainer.paper.dial_curve import LITTLE_FIDELITY, DialPoint, dial_curve, greedys_fidelity
from rcexplainer.paper.figure_style import GREEDY
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import (
    NAN,
    EntrySettings,
    MethodResults,
    TaggedResults,
    done,
    groups,
    left_out,
)
from rcexplainer.paper.table import Column, Table, TableCell, dated, marked

CAPTION = (
    "fidelity summed over the sparsities .95 to .75 as a ratio to greedy deletion's on the same graphs, by predicted "
    "class; lowest: of all seeds and classes, and where that is, with greedy deletion's own mean fidelity there; runs: "
    "of the model for each graph, counted, a backward pass as one more; refine: runs that RCExplainer spends on its "
    "ranking by really deleting edges"
)


def dial_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """A table for each dataset and network, the cheapest method first.

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
        columns += [Column("lowest", "higher"), Column("where"), Column("greedy there"), Column("graphs")]
        rows = tuple(
            (
                TableCell(point.name),
                shown_as([point.mean_runs], lambda value: f"{value:,.1f}" if value < 100 else f"{value:,.0f}"),
                *(over_seeds(point.ratio.get(name, []), 3) for name in classes),
                *_lowest(point),
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


def _lowest(point: DialPoint) -> tuple[TableCell, TableCell, TableCell]:
    """The lowest ratio, its seed and class, and greedy deletion's fidelity there; greedy deletion is 1 everywhere."""
    worst = point.worst
    lowest = over_seeds([worst.ratio] if worst else [], 3)
    if worst is None or point.method == GREEDY:
        return lowest, TableCell("–"), TableCell("–")
    return lowest, TableCell(f"seed {worst.seed}, {worst.name}"), over_seeds([worst.greedy], 3)


def _little(methods: MethodResults) -> list[str]:
    """A note for classes of which greedy deletion itself has next to no fidelity."""
    notes: list[str] = []
    for one in done(methods).get(GREEDY, ()):
        for name, cost in one["points"][0]["classes"].items():
            own = greedys_fidelity(cost)
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
    rivals = [point for point in points if point.method in settings["methods"] and point.method != OURS]
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
