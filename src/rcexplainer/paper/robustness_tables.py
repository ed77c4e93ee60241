"""Tables of robustness: the same edges, nodes and counterfactuals in noisy copies of a graph."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from rcexplainer.benchmark.results import mean
from rcexplainer.metrics.direction import ARROWS, BETTER
from rcexplainer.metrics.robustness import REDRAWS
from rcexplainer.paper.cells import Fill, NumberPath, compared, counted, method_table, metric, panel_tables, shown_as
from rcexplainer.paper.result_groups import (
    EntrySettings,
    MethodResults,
    SeedResults,
    TaggedResults,
    done,
    done_groups,
    left_out,
    no_notes,
    numbers,
    panel_text,
)
from rcexplainer.paper.table import Column, Table, TableCell

HEADLINE_K = 8  # the k of the paper's figure
STAYED_CAPTION = (
    "share of the graphs whose noisy copy has the same prediction, at the first draw, and in brackets after up to "
    f"{REDRAWS} more; robustness is measured on these"
)
OVERLAP_CAPTION = "Jaccard overlap of the edges that counterfactuals of a graph and of its noisy copy (10 %) delete"


def robustness_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """Top edges (a table for each k), top nodes, predictions that stay, and overlap of counterfactuals.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The tables.
    """
    levels = {f"{100 * level:.0f}": at for at, level in enumerate(settings["noise"])}
    made: list[Table] = []

    def at_levels(caption: str, name: str, place: int) -> list[Table]:
        fills = [metric(f"{level} %", "robust", name, at, place) for level, at in levels.items()]
        graphs = counted("graphs", "robust", "graphs")
        return panel_tables(settings, found, caption, [graphs, *fills], fewer_graphs)

    for place, k in enumerate(settings.get("k", (HEADLINE_K,))):
        made += at_levels(f"AUC of the noisy graph's scores against the clean graph's top {k} edges", "auc", place)
        if k == HEADLINE_K:
            paths: dict[str, NumberPath] = {level: ("robust", "auc", at, place) for level, at in levels.items()}
            made += compared(settings, found, f"AUC {ARROWS[BETTER['auc']]}, k = {k}", "noise, %", paths)
    for place, k in enumerate(_node_sizes(found)):
        caption = f"share of the clean graph's top {k} nodes that are also the noisy graph's"
        made += at_levels(caption, "node_accuracy", place)
    made += _stayed(levels, found)
    copies = counted("copies", "jaccard_copies")
    return made + panel_tables(settings, found, OVERLAP_CAPTION, [copies, metric("overlap", "jaccard")], no_notes)


def fewer_graphs(methods: MethodResults) -> list[str]:
    """Notes on methods that were left out, and on those measured on fewer graphs: every noisy copy is explained."""
    means = {name: mean(numbers(results, "robust", "graphs")) for name, results in done(methods).items()}
    most = max((graphs for graphs in means.values() if graphs == graphs), default=0.0)
    alike: dict[str, list[str]] = {}
    for name, graphs in means.items():
        if graphs < most:
            alike.setdefault(f"{graphs:.0f}", []).append(name)
    return left_out(methods) + [f"{', '.join(names)}: noise on {few} graphs a seed" for few, names in alike.items()]


def _stayed(levels: Mapping[str, int], found: TaggedResults) -> list[Table]:
    """A row for all methods with the same graphs: it is about the network, not about the methods."""

    def at(place: int, results: SeedResults, _: Any) -> TableCell:
        kept = mean(numbers(results, "robust", "kept", place))
        return shown_as(numbers(results, "robust", "stayed", place), lambda share: f"{share:.2f} ({kept:.2f})")

    fills: list[Fill] = [counted("graphs", "robust", "graphs")]
    fills += [(Column(f"{level} %"), partial(at, place)) for level, place in levels.items()]
    made: list[Table | None] = []
    for panel, methods in done_groups(found).items():
        alike: dict[tuple[TableCell, ...], list[str]] = {}
        for name, results in methods.items():
            alike.setdefault(tuple(fill(results, None) for _, fill in fills), []).append(name)
        same = {", ".join(names): methods[names[0]] for names in alike.values()}
        made.append(method_table(panel_text(panel, STAYED_CAPTION), "methods", same, fills, {}, no_notes))
    return [one for one in made if one]


def _node_sizes(found: TaggedResults) -> list[int]:
    return next((result["robust"]["node_k"] for _, result in found if result.get("robust")), [])
