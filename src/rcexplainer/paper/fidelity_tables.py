"""Tables of fidelity: all methods at all sparsities, one setting varied, and the ablation."""

from collections.abc import Callable
from typing import Any

from rcexplainer.benchmark.results import column
from rcexplainer.metrics.direction import ARROWS, BETTER
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.paper.cells import (
    Fill,
    NumberPath,
    at_sparsities,
    compared,
    counted,
    metric,
    over_seeds,
    panel_tables,
)
from rcexplainer.paper.result_groups import (
    SUMMED_SPARSITIES,
    EntrySettings,
    SeedResults,
    TaggedResults,
    no_notes,
    number,
    numbers,
)
from rcexplainer.paper.table import Column, Table, TableCell

FIDELITY_CAPTION = "fidelity at each sparsity: drop in the predicted class's probability without the explanation"
# What else is measured at the sparsities.
SPARSITY_CAPTIONS = {
    "labelled": "fidelity at each sparsity; methods fast enough for all of them",
    "flips": "share of the predictions that change without the explanation",
    "kept": "sufficiency: share of the predictions that stay with the explanation alone",
    "kept_drop": "sufficiency: drop in the predicted class's probability with the explanation alone",
}
LABELLED_GRAPHS = "held-out test graphs labelled, not predicted, as the explained class"
COUNTERFACTUAL_CAPTION = (
    "counterfactuals, verified on the graph without these edges: the shortest prefix of the ranking that flips the "
    "prediction; own search: RCExplainer's, which continues where no prefix flips, and does not compete"
)


def fidelity_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """Fidelity, sufficiency and counterfactuals of all methods; for an entry that varies one setting, fidelity alone.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The tables, that of fidelity first.
    """
    own = [counted("instances", "instances"), *at_sparsities(SPARSITIES, "fidelity")]
    every = panel_tables(settings, found, FIDELITY_CAPTION, own)
    paths: dict[str, NumberPath] = {column(share): ("fidelity", place) for place, share in enumerate(SPARSITIES)}
    every += compared(settings, found, f"fidelity {ARROWS[BETTER['fidelity']]}", "sparsity", paths)
    if "vary" in settings:
        return every
    for name, caption in SPARSITY_CAPTIONS.items():
        graphs = [counted("graphs", "labelled_graphs")] if name == "labelled" else []
        instances = LABELLED_GRAPHS if name == "labelled" else None
        fills = [*graphs, *at_sparsities(SPARSITIES, name)]
        every += panel_tables(settings, found, caption, fills, no_notes, instances)
    searched = [counted("instances", "instances"), *counterfactual_columns()]
    return every + panel_tables(settings, found, COUNTERFACTUAL_CAPTION, searched, no_notes)


def counterfactual_columns() -> list[Fill]:
    """Columns of counterfactuals. Only those of the same search along every ranking compete."""

    def own_search(title: str, name: str) -> Fill:
        def fill(results: SeedResults, _: Any) -> TableCell:
            values = [value for value in numbers(results, name) if value == value]
            return over_seeds(values) if values else TableCell("")

        return Column(title), fill

    named = {"flipped": "flipped", "minimal": "minimal", "edges": "size"}
    return [
        *(metric(title, name) for title, name in named.items()),
        *(own_search(f"{title}, own search", f"search_{name}") for title, name in named.items()),
    ]


def ablation_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """Fidelity, its sum, and robustness of every variant."""
    fills = [
        *at_sparsities(SUMMED_SPARSITIES, "fidelity"),
        sum_column(),
        robust_column(),
        robust_column("strict", "robust, strict"),
    ]
    caption = (
        "fidelity at each sparsity and its sum, beside greedy deletion's; robust: AUC at 10 % noise, the paper's and "
        "strict"
    )
    return panel_tables(settings, found, caption, fills)


def sum_column() -> Fill:
    """The sum of fidelities over sparsities .95 to .75."""
    return Column("sum", BETTER["fidelity"]), lambda results, _: over_seeds(list(map(summed_fidelity, results)))


def robust_column(field: str = "robust", title: str = "robust") -> Fill:
    """The AUC at the first level of noise.

    Args:
        field: Where it is in a result: "robust" for the paper's noise, "strict" for strict noise.
        title: Of the column.
    """
    return metric(title, field, "auc", 0, 0)


def summed_fidelity(result: dict[str, Any]) -> float:
    """The sum of fidelities over sparsities .95 to .75; nan where one is missing."""
    return sum(number(result, "fidelity", place) for place in range(len(SUMMED_SPARSITIES)))


def at_sparsity(share: float) -> Callable[[str], Fill]:
    """A column of fidelity at one sparsity, under a title of its own."""
    return lambda title: metric(title, "fidelity", SPARSITIES.index(share))
