"""Tables of robustness: the same edges, nodes and counterfactuals in noisy copies of a graph.

Every table is of one of two kinds of noise, and its caption says which: the paper's, or strict noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rcexplainer.benchmark.results import mean
from rcexplainer.metrics.direction import ARROWS, BETTER
from rcexplainer.metrics.perturbation import NOISE_TEXTS, NoiseProtocol
from rcexplainer.metrics.robustness import REDRAWS
from rcexplainer.paper.captions import panel_text
from rcexplainer.paper.cells import Fill, NumberPath, compared, counted, method_table, metric, panel_tables, shown_as
from rcexplainer.paper.result_groups import (
    EntrySettings,
    MethodResults,
    SeedResults,
    TaggedResults,
    dead_runs,
    done,
    done_groups,
    left_out,
    no_notes,
    numbers,
)
from rcexplainer.paper.table import Column, Table, TableCell

HEADLINE_K = 8  # the k of the paper's figure
AT_ZERO = (
    "at 0 % noise a deterministic method has 1.00 by construction (or less, where scores tie at the k-th place); a "
    "method with randomness of its own (gnnexplainer, pgmexplainer, subgraphx, random) has it too only because it is "
    "run with a fixed seed; nothing is won there"
)
STAYED_CAPTION = (
    "share of the graphs whose noisy copy has the same prediction, at the first draw, and in brackets after up to "
    f"{REDRAWS} more; robustness is measured on these"
)
OVERLAP_CAPTION = "Jaccard overlap of the edges that counterfactuals of a graph and of its noisy copy (10 %) delete"


@dataclass(frozen=True)
class NoiseFields:
    """Where the numbers under one kind of noise are in a result.

    Attributes:
        protocol: The kind of noise.
        field: Its `Robustness`.
        overlap: Its overlap of counterfactuals.
        copies: The number of copies that the overlap is a mean of.
    """

    protocol: NoiseProtocol
    field: str
    overlap: str
    copies: str

    @property
    def short(self) -> str:
        """Its name in a claim or the title of a column."""
        return NOISE_TEXTS[self.protocol].partition(":")[0]

    def caption(self, text: str) -> str:
        """A caption that says what this noise does."""
        return f"{text}; {NOISE_TEXTS[self.protocol]}"


PAPER_NOISE = NoiseFields("paper", "robust", "jaccard", "jaccard_copies")
STRICT_NOISE = NoiseFields("strict", "strict", "strict_jaccard", "strict_jaccard_copies")
NOISES = (PAPER_NOISE, STRICT_NOISE)


def robustness_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """Top edges (a table for each k), top nodes, predictions that stay, and overlap of counterfactuals; of each kind of
    noise.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The tables; results of version 0.1 have no strict noise, and no row in its tables.
    """
    levels = {f"{100 * level:.0f}": at for at, level in enumerate(settings["noise"])}
    made: list[Table] = []

    def at_levels(noise: NoiseFields, text: str, name: str, place: int) -> list[Table]:
        fills = [_at_level(f"{level} %", noise.field, name, at, place) for level, at in levels.items()]
        graphs = counted("graphs", noise.field, "graphs")
        notes = partial(noise_notes, noise, "0" in levels)
        return panel_tables(settings, found, noise.caption(text), [graphs, *fills], notes)

    for place, k in enumerate(settings.get("k", (HEADLINE_K,))):
        for noise in NOISES:
            text = f"AUC of the noisy graph's scores against the clean graph's top {k} edges"
            made += at_levels(noise, text, "auc", place)
        if k == HEADLINE_K:
            made += _referenced(settings, found, levels, place)
    for noise in NOISES:
        for place, k in enumerate(_node_sizes(found)):
            text = f"share of the clean graph's top {k} nodes that are also the noisy graph's"
            made += at_levels(noise, text, "node_accuracy", place)
    for noise in NOISES:
        made += _stayed(settings, noise, levels, found)
    for noise in NOISES:
        fills = [counted("copies", noise.copies), metric("overlap", noise.overlap)]
        made += panel_tables(settings, found, noise.caption(OVERLAP_CAPTION), fills, no_notes)
    return made


def _at_level(title: str, *path: str | int) -> Fill:
    """The column of a level of noise; without noise nothing is won."""
    column, fill = metric(title, *path)
    return (Column(title) if title == "0 %" else column), fill


def noise_notes(noise: NoiseFields, zero: bool, methods: MethodResults) -> list[str]:
    """Notes on methods that were left out, on those measured on fewer graphs, and on what 0 % noise shows.

    Args:
        noise: The kind of noise.
        zero: Whether there is a column without noise.
        methods: Method → its results.

    Returns:
        The notes. A slow method has fewer graphs, as every noisy copy is explained.
    """
    means = {name: mean(numbers(results, noise.field, "graphs")) for name, results in done(methods).items()}
    most = max((graphs for graphs in means.values() if graphs == graphs), default=0.0)
    alike: dict[str, list[str]] = {}
    for name, graphs in means.items():
        if graphs < most:
            alike.setdefault(f"{graphs:.0f}", []).append(name)
    fewer = [f"{', '.join(names)}: noise on {few} graphs a seed" for few, names in alike.items()]
    return left_out(methods) + dead_runs(methods) + fewer + ([AT_ZERO] if zero else [])


def _referenced(settings: EntrySettings, found: TaggedResults, levels: Mapping[str, int], place: int) -> list[Table]:
    """Ours beside the reference's numbers, which are under the paper's noise; notes say whose they are."""
    paths: dict[str, NumberPath] = {level: (PAPER_NOISE.field, "auc", at, place) for level, at in levels.items()}
    what = f"AUC {ARROWS[BETTER['auc']]} under {PAPER_NOISE.short}, k = {HEADLINE_K}"
    return compared(settings, found, what, "noise, %", paths)


def _stayed(
    settings: EntrySettings, noise: NoiseFields, levels: Mapping[str, int], found: TaggedResults
) -> list[Table]:
    """A row for all methods with the same graphs: it is about the network, not about the methods."""

    def at(place: int, results: SeedResults, _: Any) -> TableCell:
        kept = mean(numbers(results, noise.field, "kept", place))
        return shown_as(numbers(results, noise.field, "stayed", place), lambda share: f"{share:.2f} ({kept:.2f})")

    fills: list[Fill] = [counted("graphs", noise.field, "graphs")]
    fills += [(Column(f"{level} %"), partial(at, place)) for level, place in levels.items()]
    made: list[Table | None] = []
    for panel, methods in done_groups(found).items():
        alike: dict[tuple[TableCell, ...], list[str]] = {}
        for name, results in methods.items():
            alike.setdefault(tuple(fill(results, None) for _, fill in fills), []).append(name)
        same = {", ".join(names): methods[names[0]] for names in alike.values()}
        caption = panel_text(settings, panel, noise.caption(STAYED_CAPTION), methods)
        made.append(method_table(caption, "methods", same, fills, {}, no_notes))
    return [one for one in made if one]


def _node_sizes(found: TaggedResults) -> list[int]:
    return next((result["robust"]["node_k"] for _, result in found if result.get("robust")), [])
