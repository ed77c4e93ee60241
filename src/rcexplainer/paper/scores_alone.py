"""RCExplainer's scores alone, without a search: their ratio to greedy deletion on every network of the dial.

One table of all networks, a row for each predicted class, with the worst seed; and what the ratios must be. A seed on
which greedy deletion itself has little fidelity is shown, but no seed is judged by such a ratio.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rcexplainer.benchmark.results import OURS, column, mean
from rcexplainer.paper.captions import setting_notes
from rcexplainer.paper.cells import over_seeds
from rcexplainer.paper.checks import Claim, ClaimCheck, check, digits, methods_on, undecided
from rcexplainer.paper.dial_curve import LITTLE_FIDELITY, SeedRatio, dial_curve, lowest_ratio
from rcexplainer.paper.figure_style import GREEDY
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import NAN, EntrySettings, MethodResults, TaggedResults, done, groups
from rcexplainer.paper.table import Column, Table, TableCell, dated

SCORES_COLUMNS = (
    Column("dataset, network, predicted class"),
    Column("ratio", "higher"),
    Column("lowest", "higher"),
    Column("seed"),
    Column("greedy there"),
)
SCORES_CAPTION = (
    "RCExplainer's scores alone, one forward pass for each graph: fidelity summed over the sparsities .95 to .75 as a "
    "ratio to greedy deletion's on the same graphs, mean over the seeds; the seed with the lowest ratio, and greedy "
    "deletion's own mean fidelity on that seed"
)


def scores_table(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """One table of all datasets and networks, a row for each predicted class.

    Args:
        settings: The entry's, with the texts of `captions.described`.
        found: Its results.

    Returns:
        The table; none before there are results of RCExplainer and greedy deletion on one network.
    """
    panels = {panel: methods for panel, methods in groups(found).items() if {OURS, GREEDY} <= set(done(methods))}
    rows: list[tuple[TableCell, ...]] = []
    versions: list[str] = []
    for (dataset, model), methods in panels.items():
        ratios = score_ratios(methods)
        for name in dict.fromkeys(one.name for one in ratios):
            own = [one for one in ratios if one.name == name]
            first = TableCell(f"{dataset}, {model}, {name}"), over_seeds([one.ratio for one in own], 3)
            rows.append((*first, *_worst_cells(lowest_ratio(own))))
            versions.append(as_of(methods[OURS]))
    notes = tuple(setting_notes(settings, panels))
    return [dated(Table(SCORES_CAPTION, SCORES_COLUMNS, tuple(rows), notes), versions)] if rows else []


def _worst_cells(worst: SeedRatio | None) -> tuple[TableCell, ...]:
    """The lowest ratio, its seed, and greedy deletion's fidelity there."""
    if worst is None:
        return (TableCell("–"),) * 3
    return over_seeds([worst.ratio], 3), TableCell(str(worst.seed)), over_seeds([worst.greedy], 3)


def score_ratios(methods: MethodResults) -> tuple[SeedRatio, ...]:
    """The ratio of RCExplainer without a refinement, for every predicted class and seed.

    Args:
        methods: Method → its results on one network architecture.

    Returns:
        The ratios; none where it was not run.
    """
    return next((point.single for point in dial_curve(methods) if point.method == OURS and not point.refine), ())


def score_claims(settings: EntrySettings, aims: Mapping[str, Any], found: TaggedResults) -> Iterator[Claim]:
    """The claims about RCExplainer's scores alone, for each dataset and network.

    Args:
        settings: The entry's.
        aims: `classes`: dataset → predicted class → the least mean over the seeds, on the entry's network; `both`: the
            least mean of all classes on each of the networks `scores_alone`; `seed`: the least of a single seed.
        found: The results of the entry.

    Yields:
        The claims; a failed check names the worst seed and its class.
    """
    for dataset, classes in aims["classes"].items():
        for model in (settings["model"], *settings["scores_alone"]):
            methods = methods_on(found, dataset, model)
            opened = [one for name in (OURS, GREEDY) for one in undecided(settings, name, methods.get(name, []))]
            ratios = score_ratios(methods)
            claim = f"{dataset}, network {model}: fidelity of the scores alone"
            if model == settings["model"]:
                aim = ", ".join(f"{column(least)} ({name})" for name, least in classes.items())
                checks = [_class_check(ratios, name, least) for name, least in classes.items()]
            else:
                aim = f"{column(aims['both'])} in the mean of both classes"
                checks = [_both_check(ratios, aims["both"])]
            yield claim, f"≥ {aim} of greedy deletion", opened or checks
            aim = f"≥ {column(aims['seed'])} where greedy deletion's mean fidelity is above {column(LITTLE_FIDELITY)}"
            yield f"{claim}, every single seed and class", aim, opened or _seed_checks(ratios, aims["seed"])


def _class_check(ratios: Sequence[SeedRatio], name: str, least: float) -> ClaimCheck:
    """The mean of one class over the seeds."""
    own = [one for one in ratios if one.name == name]
    value = mean([one.ratio for one in own])
    return check(value, value >= least, f"{digits(value, least)} ({name}; {_lowest_text(own)})")


def _both_check(ratios: Sequence[SeedRatio], least: float) -> ClaimCheck:
    """The mean over the classes of their means over the seeds."""
    names = dict.fromkeys(one.name for one in ratios)
    value = mean([mean([one.ratio for one in ratios if one.name == name]) for name in names])
    return check(value, value >= least, f"{digits(value, least)} ({_lowest_text(ratios)})")


def _lowest_text(ratios: Sequence[SeedRatio]) -> str:
    worst = lowest_ratio(ratios)
    return f"lowest {_seed_text(worst)}" if worst else ""


def _seed_checks(ratios: Sequence[SeedRatio], least: float) -> list[ClaimCheck]:
    """A failed check for each seed and class below the bound, an open one where there is no ratio; else the lowest."""
    judged = [one for one in ratios if one.greedy > LITTLE_FIDELITY]
    holds = [None if one.ratio != one.ratio else one.ratio >= least for one in judged]
    checks = [ClaimCheck(held, _seed_text(one, least)) for held, one in zip(holds, judged, strict=True)]
    if not checks:
        return [ClaimCheck(None, f"greedy deletion's mean fidelity is nowhere above {column(LITTLE_FIDELITY)}")]
    return [one for one in checks if not one.holds] or [ClaimCheck(True, _lowest_text(judged))]


def _seed_text(one: SeedRatio, beside: float = NAN) -> str:
    where = f"on seed {one.seed}, {one.name}"
    if one.ratio != one.ratio:
        return f"no ratio {where}"
    return f"{digits(one.ratio, beside)} {where}, greedy deletion's mean fidelity {digits(one.greedy)}"
