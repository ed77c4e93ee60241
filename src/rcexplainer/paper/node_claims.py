"""What the node tables must show: the motif found better than by every other method, and few edges that flip.

Ours competes with its second reading, relevance, where results have one; the others with every reading they have.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rcexplainer.benchmark.results import OURS, column
from rcexplainer.paper.checks import (
    Claim,
    ClaimCheck,
    above,
    check,
    digits,
    mean_number,
    methods_on,
    undecided,
    value_reader,
)
from rcexplainer.paper.motif_networks import using_motif
from rcexplainer.paper.recovery_tables import RECOVERY_NODES, RELEVANCE, by_reading, own_row
from rcexplainer.paper.result_groups import EntrySettings, MethodResults, SeedResults, TaggedResults

GROUP_NAMES = {"flipping": "nodes that flip without their motif", "everyone": "all nodes"}


def recovery_claims(settings: EntrySettings, aims: Mapping[str, Any], found: TaggedResults) -> Iterator[Claim]:
    """The claims about plainly trained networks.

    Args:
        settings: The entry's.
        aims: `motif`: dataset → AUC over all edges, and accuracy; `flipped` and `edges` of its own search.
        found: The results of the entry.

    Yields:
        The claims of each dataset.
    """
    groups = {group: by_reading(found, group) for group in RECOVERY_NODES}
    for dataset, (auc, accuracy) in aims["motif"].items():
        methods = {group: methods_on(groups[group], dataset) for group in RECOVERY_NODES}
        for group, own in methods.items():
            claim = f"{dataset}: live AUC and accuracy, {GROUP_NAMES[group]}"
            yield claim, "≥ every reading of all others", _against_all(settings, own)
        ours = methods["everyone"].get(own_row(methods["everyone"]), [])
        asked = (("AUC", mean_number(ours, "auc"), auc), ("accuracy", mean_number(ours, "accuracy"), accuracy))
        yield (
            f"{dataset}: AUC and accuracy of the motif, all nodes",
            f"≥ {column(auc)} over all edges, ≥ {column(accuracy)}",
            undecided(settings, OURS, ours)
            or [check(value, value >= least, f"{name} {digits(value, least)}") for name, value, least in asked],
        )
        for group, own in methods.items():
            yield _few_edges(settings, aims, f"{dataset}: counterfactuals, {GROUP_NAMES[group]}", own.get(OURS, []))


def _against_all(settings: EntrySettings, methods: MethodResults) -> list[ClaimCheck]:
    """Ours against every reading of every other method, also those that were not run; ties count for us."""
    own = own_row(methods)
    second = [row for row in methods if row.endswith(RELEVANCE) and row != own]
    named = [*settings["methods"], *settings.get("variants", {})]
    rivals = [*(method for method in named if method != OURS), *second]
    reads = {"live AUC": value_reader("live_auc"), "accuracy": value_reader("accuracy")}
    return above(settings, methods, rivals, reads, own, ties=True)


def edgeless_claims(settings: EntrySettings, aims: Mapping[str, Any], found: TaggedResults) -> Iterator[Claim]:
    """The claims about networks trained on edgeless copies too; only those that use the motif count.

    Args:
        settings: The entry's.
        aims: `motif`: dataset → AUC and accuracy; `flipped` and `edges` of its own search.
        found: The results of the entry.

    Yields:
        The claims of each dataset.
    """
    for dataset, least in aims["motif"].items():
        ours, used = (methods_on(ones, dataset).get(OURS, []) for ones in (found, using_motif(settings, found)))
        without = "" if len(used) == len(ours) else f" ({len(used)} of {len(ours)} networks use the motif)"
        for title, name, bound in zip(("AUC", "accuracy"), ("auc", "accuracy"), least, strict=True):
            value = mean_number(used, name)
            decided = check(value, value >= bound, f"{digits(value, bound)}{without}")
            checks = undecided(settings, OURS, ours) or [decided if used else ClaimCheck(None, f"–{without}")]
            yield f"{dataset}: {title} of the motif", f"≥ {column(bound)}", checks
        yield _few_edges(settings, aims, f"{dataset}: counterfactuals", ours)


def _few_edges(settings: EntrySettings, aims: Mapping[str, Any], claim: str, ours: SeedResults) -> Claim:
    """Whether its own search flips enough nodes with few edges."""
    flipped, size = mean_number(ours, "search_flipped"), mean_number(ours, "search_size")
    checks = undecided(settings, OURS, ours) or [
        check(flipped, flipped >= aims["flipped"], f"{digits(flipped, aims['flipped'])} flipped"),
        check(size, size <= aims["edges"], f"{size:.1f} edges"),
    ]
    return claim, f"≥ {column(aims['flipped'])} flipped by its search, median ≤ {aims['edges']} edges", checks
