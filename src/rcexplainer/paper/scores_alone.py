"""RCExplainer without refinement: its ratio to greedy deletion on every network of the dial.

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
from rcexplainer.paper.result_groups import EntrySettings, MethodResults, Panel, TaggedResults, done, groups
from rcexplainer.paper.table import Column, Table, TableCell, dated

SCORES_COLUMNS = (
    Column("dataset, network, predicted class"),
    Column("ratio", "higher"),
    Column("lowest", "higher"),
    Column("seed"),
    Column("greedy there"),
)
SCORES_CAPTION = (
    "RCExplainer without refinement, one forward pass for each graph: fidelity summed over the sparsities .95 to .75 "
    "as a ratio to greedy deletion's on the same graphs, mean over the seeds; the seed with the lowest ratio, and "
    "greedy deletion's own mean fidelity on that seed"
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
    for variant in (OURS, *settings.get("variants", {})):
        for (dataset, model), methods in panels.items():
            ratios = score_ratios(methods, variant)
            for name in dict.fromkeys(one.name for one in ratios):
                own = [one for one in ratios if one.name == name]
                where = TableCell(f"{dataset}, {model}, {name}{'' if variant == OURS else f', {variant}'}")
                ratio = over_seeds([one.ratio for one in own], 3)
                rows.append((where, ratio, *_worst_cells(lowest_ratio(own))))
                versions.append(as_of(methods[variant]))
    notes = tuple(setting_notes(settings, panels))
    return [dated(Table(SCORES_CAPTION, SCORES_COLUMNS, tuple(rows), notes), versions)] if rows else []


def _worst_cells(worst: SeedRatio | None) -> tuple[TableCell, ...]:
    """The lowest ratio, its seed, and greedy deletion's fidelity there."""
    if worst is None:
        return (TableCell("–"),) * 3
    return over_seeds([worst.ratio], 3), TableCell(str(worst.seed)), over_seeds([worst.greedy], 3)


def score_ratios(methods: MethodResults, variant: str) -> tuple[SeedRatio, ...]:
    """The ratio of RCExplainer without a refinement, for every predicted class and seed.

    Args:
        methods: Method → its results on one network architecture.
        variant: The method, or in which other settings it was run.

    Returns:
        The ratios; none where it was not run.
    """
    return next((point.single for point in dial_curve(methods) if point.method == variant and not point.refine), ())


def score_claims(settings: EntrySettings, aims: Mapping[str, Any], found: TaggedResults) -> Iterator[Claim]:
    """The claims about RCExplainer without refinement; a failed check names the worst seed and its class.

    Args:
        settings: The entry's.
        aims: `classes`: dataset → predicted class → the least mean over the seeds, on the entry's network; `both`: the
            least mean of all classes on each of the networks `scores_alone`; `seed`: the least of a single seed.
        found: The results of the entry.

    Yields:
        A claim about the entry's network and one about the others for each dataset, then one about single seeds.
    """
    model, others = settings["model"], settings["scores_alone"]
    where = [(dataset, one) for dataset in aims["classes"] for one in (model, *others)]
    panels = {panel: methods_on(found, *panel) for panel in where}
    opened = {panel: _opened(settings, methods) for panel, methods in panels.items()}
    ratios = {panel: score_ratios(methods, OURS) for panel, methods in panels.items()}
    for dataset, classes in aims["classes"].items():
        own = dataset, model
        aim = ", ".join(f"{column(least)} {name}" for name, least in classes.items())
        checks = opened[own] or [_class_check(ratios[own], name, least) for name, least in classes.items()]
        yield f"{dataset}: unrefined", f"≥ {aim} of greedy", checks
        further = [opened[dataset, one] or [_both_check(ratios[dataset, one], one, aims["both"])] for one in others]
        aim = f"≥ {column(aims['both'])} of greedy, mean of both classes"
        if further:
            yield (
                f"{dataset}: unrefined on {', '.join(others)}",
                aim,
                [one for some in further for one in some],
            )
    checks = [one for missing in opened.values() for one in missing]
    checks += _seed_checks({panel: ratios[panel] for panel in panels if not opened[panel]}, aims["seed"])
    aim = f"≥ {column(aims['seed'])} of greedy where its mean fidelity is above {column(LITTLE_FIDELITY)}"
    yield "unrefined, every seed and class", aim, checks


def _opened(settings: EntrySettings, methods: MethodResults) -> list[ClaimCheck]:
    return [one for name in (OURS, GREEDY) for one in undecided(settings, name, methods.get(name, []))]


def _class_check(ratios: Sequence[SeedRatio], name: str, least: float) -> ClaimCheck:
    """The mean of one class over the seeds."""
    own = [one for one in ratios if one.name == name]
    value, worst = mean([one.ratio for one in own]), lowest_ratio(own)
    text = f"{name}; lowest {digits(worst.ratio)}, seed {worst.seed}" if worst else name
    return check(value, value >= least, f"{digits(value, least)} ({text})")


def _both_check(ratios: Sequence[SeedRatio], model: str, least: float) -> ClaimCheck:
    """The mean over the classes of their means over the seeds."""
    names = dict.fromkeys(one.name for one in ratios)
    value = mean([mean([one.ratio for one in ratios if one.name == name]) for name in names])
    worst = lowest_ratio(ratios)
    text = f"{model}; lowest {digits(worst.ratio)}, seed {worst.seed}, {worst.name}" if worst else model
    return check(value, value >= least, f"{digits(value, least)} ({text})")


def _seed_checks(ratios: Mapping[Panel, Sequence[SeedRatio]], least: float) -> list[ClaimCheck]:
    """A failed check for each seed and class below the bound, an open one where there is no ratio; else the lowest."""
    judged = [(panel, one) for panel, own in ratios.items() for one in own if one.greedy > LITTLE_FIDELITY]
    if not judged:
        says = f"greedy deletion's mean fidelity is nowhere above {column(LITTLE_FIDELITY)}"
        return [ClaimCheck(None, says)] if ratios else []
    missing = [ClaimCheck(None, f"{_place(*one)}: no ratio") for one in judged if one[1].ratio != one[1].ratio]
    low = [ClaimCheck(False, _seed_text(*one, least)) for one in judged if one[1].ratio < least]
    lowest = min(judged, key=lambda one: one[1].ratio)
    return low + missing or [ClaimCheck(True, f"lowest: {_seed_text(*lowest, least)}")]


def _place(panel: Panel, one: SeedRatio) -> str:
    return f"{panel[0]}, {panel[1]}, seed {one.seed}, {one.name}"


def _seed_text(panel: Panel, one: SeedRatio, beside: float) -> str:
    return f"{_place(panel, one)}: {digits(one.ratio, beside)} (greedy's fidelity {digits(one.greedy)})"
