"""Tables of the motif of the explained node, by both readings of every method that has both.

A method has a row for its scores and, where it has that reading, one for its relevance. Ours competes with its
relevance, the reading that is about the motif; every row of another method is a rival of it. Differences to it are
paired by seed: all methods explain the same nodes of the same networks.
"""

from typing import Any

from rcexplainer.benchmark.results import OURS, mean
from rcexplainer.paper.boundary_tables import paired
from rcexplainer.paper.captions import UNSEEN_NODES
from rcexplainer.paper.cells import Fill, at_sparsities, beside, counted, metric, panel_tables
from rcexplainer.paper.fidelity_tables import counterfactual_columns
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.result_groups import (
    SUMMED_SPARSITIES,
    EntrySettings,
    MethodResults,
    SeedResults,
    TaggedResults,
    done,
    groups,
    no_notes,
    number,
    numbers,
    samples,
)
from rcexplainer.paper.table import Column, Table, TableCell

SECOND = "relevance"
RELEVANCE = f", {SECOND}"  # ends the name of a row of the second reading
RECOVERY_NODES = {
    "flipping": f"{UNSEEN_NODES} and whose prediction changes without their motif",
    "everyone": f"all {UNSEEN_NODES}",
}
COMPARED = ("live_auc", "accuracy")  # of these rows are compared with ours
SCORES_ALONE = ("fidelity", "flips", "flipped", "minimal", "size", "search_flipped", "search_minimal", "search_size")
RECOVERY_CAPTION = (
    "recovery of the motif by scores and, in rows of their own, by relevance; live AUC: over edges that can matter; "
    "AUC of a node: mean of the nodes' own; Δ: less ours (its relevance, where it has one), paired by seed, with the "
    "95 % interval, * where it does not contain 0"
)
SCORES_CAPTION = (
    "fidelity of the scores at each sparsity, and counterfactuals along their ranking (own search: RCExplainer's, "
    "which continues where no prefix flips)"
)


def recovery_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """Recovery, and what else the scores do, for every dataset and network: on nodes that flip without their motif, and
    on all.

    Args:
        settings: The entry's.
        found: Its results, of the kind `recovery`.

    Returns:
        The tables that have a row.
    """
    recovery: list[Fill] = [
        counted("instances", "instances"),
        metric("live AUC", "live_auc", digits=3),
        _difference("Δ live AUC", "live_auc"),
        *beside("AUC, all edges", ("auc",), 0, digits=3),
        metric("AUC of a node", "node_auc", digits=3),
        *beside("accuracy", ("accuracy",), 1, digits=3),
        _difference("Δ accuracy", "accuracy"),
    ]
    scores = [*at_sparsities(SUMMED_SPARSITIES, "fidelity"), *counterfactual_columns()]
    made: list[Table] = []
    for panel in groups(found):
        own = [(tags, result) for tags, result in found if (tags["dataset"], tags["model"]) == panel]
        for group, instances in RECOVERY_NODES.items():
            rows = by_reading(own, group)
            made += panel_tables(settings, rows, RECOVERY_CAPTION, recovery, _notes, instances)
            made += panel_tables(settings, rows, SCORES_CAPTION, scores, no_notes, instances)
    return made


def by_reading(found: TaggedResults, group: str) -> TaggedResults:
    """One result for each reading, with its numbers at the top.

    Args:
        found: Results of the kind `recovery`, and of networks.
        group: "flipping" or "everyone".

    Returns:
        Those that have the group; under `less` their difference to ours on the same network. Networks and methods that
        were left out are as they are.
    """
    made: TaggedResults = []
    for tags, result in found:
        if tags.get("network") or result.get("skipped"):
            made.append((tags, result))
        elif result.get(group):
            made.append((tags, _flat(result, group, "scores")))
            if result[group].get(SECOND):
                made.append((tags | {"variant": tags["variant"] + RELEVANCE}, _flat(result, group, SECOND)))
    ours = {_network(tags, one): one for tags, one in made if tags.get("variant") in (OURS, OURS + RELEVANCE)}
    return [
        (tags, one if tags.get("network") else one | _less(one, ours.get(_network(tags, one)))) for tags, one in made
    ]


def own_row(methods: MethodResults) -> str:
    """The row with which ours competes: its relevance, where it has that reading."""
    return OURS + RELEVANCE if OURS + RELEVANCE in methods else OURS


def _flat(result: JobResult, group: str, reading: str) -> JobResult:
    """The numbers of one reading; fidelity and counterfactuals are of the scores alone."""
    own = result[group]
    scores = {name: own[name] for name in SCORES_ALONE} if reading == "scores" else {}
    about = {"instances": own["instances"], "held_out": own["instances"], "direction": own["direction"]}
    kept = {name: value for name, value in result.items() if name not in RECOVERY_NODES}
    return kept | about | scores | own[reading]


def _network(tags: dict[str, Any], result: JobResult) -> tuple[Any, ...]:
    return tags["dataset"], tags["model"], result.get("seed")


def _less(one: JobResult, ours: JobResult | None) -> JobResult:
    """The differences to ours; none for ours itself."""
    if ours is None or ours is one:
        return {}
    return {"less": {name: number(one, name) - number(ours, name) for name in COMPARED}}


def _difference(title: str, name: str) -> Fill:
    def fill(results: SeedResults, _: Any) -> TableCell:
        known = [value for value in numbers(results, "less", name) if value == value]
        return TableCell(paired(known, digits=3).text) if known else TableCell("")  # a number of its own makes no row

    return Column(title), fill


def _notes(methods: MethodResults) -> list[str]:
    """Notes on methods, and which way the edges of the motif speak."""
    ways = [one["direction"] for results in done(methods).values() for one in results]
    if not ways:
        return samples(methods)
    support, oppose, neither = (mean(numbers(ways, name)) for name in ("supports", "opposes", "neither"))
    said = (
        f"{support:.2f} of the motif's edges support the prediction, {oppose:.2f} oppose it, {neither:.2f} do neither"
    )
    return [*samples(methods), f"deleted alone, {said}"]
