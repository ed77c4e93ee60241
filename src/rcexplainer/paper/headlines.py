"""The one table of each entry that stands on the front page: methods as rows, datasets and networks as columns."""

from collections.abc import Callable, Mapping
from typing import Any

from rcexplainer.metrics.direction import BETTER
from rcexplainer.metrics.perturbation import NOISE_TEXTS
from rcexplainer.paper.captions import setting_notes
from rcexplainer.paper.cells import Fill, metric, shown_as
from rcexplainer.paper.fidelity_tables import at_sparsity, robust_column, sum_column
from rcexplainer.paper.motif_networks import how_many, using_motif
from rcexplainer.paper.motif_tables import explained_instances
from rcexplainer.paper.record import as_of
from rcexplainer.paper.recovery_tables import RECOVERY_NODES, by_reading
from rcexplainer.paper.result_groups import (
    EntrySettings,
    MethodResults,
    Panel,
    SeedResults,
    TaggedResults,
    done_groups,
    numbers,
)
from rcexplainer.paper.robustness_tables import HEADLINE_K, PAPER_NOISE, STRICT_NOISE
from rcexplainer.paper.table import Column, Table, TableCell, dated, marked
from rcexplainer.paper.time_tables import in_milliseconds

HeadlineMaker = Callable[[EntrySettings, TaggedResults], Table | None]


def fidelity_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """Fidelity at sparsity .90 on every dataset."""
    return _across(settings, found, "fidelity at sparsity .90", {"": at_sparsity(0.90)})


def time_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """Milliseconds for one explanation, alone and in a batch."""

    def milliseconds(name: str) -> Callable[[str], Fill]:
        def fill(results: SeedResults, _: Any) -> TableCell:
            return shown_as(numbers(results, name), in_milliseconds)

        return lambda title: (Column(title, BETTER[name]), fill)

    names = {", alone": milliseconds("seconds"), ", in a batch": milliseconds("batched")}
    return _across(settings, found, "milliseconds for the scores of one explanation (median), on one thread", names)


def varied_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """Fidelity at sparsities .95 and .90 for every value of the varied setting."""
    names = {", .95": at_sparsity(0.95), ", .90": at_sparsity(0.90)}
    return _across(settings, found, f"fidelity at two sparsities by {settings.get('axis', settings['vary'])}", names)


def robustness_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """AUC at 10 and 30 % noise, the paper's and strict, on every dataset, where they were measured."""
    noise, sizes = [round(100 * level) for level in settings["noise"]], settings.get("k", (HEADLINE_K,))
    if HEADLINE_K not in sizes:
        return None
    place = list(sizes).index(HEADLINE_K)

    def at(field: str, level: int) -> Callable[[str], Fill]:
        return lambda title: metric(title, field, "auc", noise.index(level), place)

    names = {
        f", {level} %{end}": at(kind.field, level)
        for kind, end in ((PAPER_NOISE, ""), (STRICT_NOISE, ", strict"))
        for level in (10, 30)
        if level in noise
    }
    texts = "; ".join(NOISE_TEXTS[kind.protocol] for kind in (PAPER_NOISE, STRICT_NOISE))
    caption = f"AUC of a noisy graph's scores against the clean graph's top {HEADLINE_K} edges; {texts}"
    return _across(settings, found, caption, names)


def node_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """AUC and accuracy of the motif on every dataset, of networks that rely on it; means without their spread."""
    used = "".join(f"; {panel[0]}: {text}" for panel, text in how_many(settings, found).items())
    names = {", AUC": _scored("auc"), ", accuracy": _scored("accuracy")}
    caption = f"recovery of the motif, on {explained_instances(settings)}{used}"
    return _across(settings, using_motif(settings, found), caption, names)


def recovery_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """Live AUC and accuracy of the motif on every dataset, by each reading; means without their spread."""
    names = {", live AUC": _scored("live_auc"), ", accuracy": _scored("accuracy")}
    caption = (
        f"recovery of the motif by scores, and by relevance where a method has it, on {RECOVERY_NODES['everyone']}"
    )
    return _across(settings, by_reading(found, "everyone"), caption, names)


def ablation_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """Sum of fidelities and robustness of every variant on every network."""

    def titled(fill: Fill) -> Callable[[str], Fill]:
        return lambda title: (Column(title, fill[0].better), fill[1])

    names = {
        ", Σ fidelity": titled(sum_column()),
        ", robust": titled(robust_column()),
        ", robust, strict": titled(robust_column("strict")),
    }
    caption = "sum of fidelities at sparsities .95 to .75, and AUC at 10 % noise, the paper's and strict"
    return _across(settings, found, caption, names)


def _scored(name: str) -> Callable[[str], Fill]:
    """A column of means with three digits, under a title of its own."""

    def fill(results: SeedResults, _: Any) -> TableCell:
        return shown_as(numbers(results, name), lambda centre: f"{centre:.3f}")

    return lambda title: (Column(title, BETTER[name]), fill)


def _across(
    settings: EntrySettings, found: TaggedResults, caption: str, measures: Mapping[str, Callable[[str], Fill]]
) -> Table | None:
    """A row for each method, a column for each panel and measure; measures are named by the end of their titles."""
    panels = done_groups(found)
    methods = list(dict.fromkeys(name for own in panels.values() for name in own))
    fills = [(panel, make(title + end)) for panel, title in _titles(panels).items() for end, make in measures.items()]
    rows = {
        name: [
            fill(panels[panel][name], None) if name in panels[panel] else TableCell("") for panel, (_, fill) in fills
        ]
        for name in methods
    }
    rows = {name: row for name, row in rows.items() if any(cell.value is not None for cell in row)}
    shown = [place for place in range(len(fills)) if any(row[place].value is not None for row in rows.values())]
    if not rows:
        return None
    datasets = list(dict.fromkeys(dataset for dataset, _ in panels))
    table = Table(
        f"{datasets[0]}: {caption}" if len(datasets) == 1 else caption,
        (Column("method"), *(fills[place][1][0] for place in shown)),
        tuple((TableCell(name), *(row[place] for place in shown)) for name, row in rows.items()),
        tuple(setting_notes(settings, panels)),
    )
    versions = [as_of(one for own in panels.values() for one in own.get(name, ())) for name in rows]
    return marked(dated(table, versions))


def _titles(panels: Mapping[Panel, MethodResults]) -> dict[Panel, str]:
    """What tells the panels apart: dataset, network, or both."""
    datasets, models = ({panel[place] for panel in panels} for place in (0, 1))
    if len(models) == 1:
        return {panel: panel[0] for panel in panels}
    return {panel: panel[1] if len(datasets) == 1 else f"{panel[0]}, {panel[1]}" for panel in panels}
