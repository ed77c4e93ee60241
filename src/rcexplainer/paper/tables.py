"""From the results of an entry's jobs to its tables: a row for each method or variant, means ± standard deviations over
the seeds, and what the paper reports beside them. Directions and winners follow from the metrics (`BETTER`).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from rcexplainer.benchmark.results import HEADLINE_SPARSITIES as SPARSITIES
from rcexplainer.benchmark.results import OURS, column, mean
from rcexplainer.metrics.direction import ARROWS, BETTER
from rcexplainer.metrics.fidelity import SPARSITIES as MEASURED
from rcexplainer.metrics.robustness import REDRAWS
from rcexplainer.paper.cells import (
    Fill,
    Found,
    Methods,
    Result,
    Seeds,
    Settings,
    Where,
    about,
    at_sparsities,
    beside,
    compared,
    counted,
    done,
    done_groups,
    each,
    groups,
    left_out,
    listed,
    metric,
    no_notes,
    number,
    numbers,
    over_seeds,
    plain,
    reported,
    shown_as,
    signed,
    spread,
    table,
)
from rcexplainer.paper.motif_networks import how_many, using_motif
from rcexplainer.paper.table import Cell, Column, Table, marked

__all__ = [
    "Cell",
    "Column",
    "Found",
    "Result",
    "Settings",
    "Table",
    "ablation",
    "case_study",
    "datasets",
    "fidelity",
    "nodes",
    "number",
    "robustness",
    "spread",
    "times",
]

# Beside fidelity itself: the other numbers at sparsities, and what they show.
FURTHER = {
    "labelled": "fidelity on test graphs labelled, not predicted, as the class, of methods fast enough for all of them",
    "flips": "share of the predictions that change without the explanation",
    "kept": "sufficiency: share of the predictions that stay with the explanation alone",
    "kept_drop": "sufficiency: p lost with the explanation alone",
}
SEARCHED = (
    "counterfactuals, verified on the graph without these edges: the shortest prefix of the ranking that flips the "
    "prediction; searched on: RCExplainer's own search, which goes on where no prefix does, and competes with nobody"
)
STAYED = (
    "share of the graphs whose noisy copy is predicted as the graph is, at the first draw, and in brackets after up to "
    f"{REDRAWS} more; robustness is measured on these"
)
TIMES = (
    "time for the scores of one explanation, alone (the first apart: it warms up) and in a batch, on one thread, with "
    "no other job beside it; × ours: of the medians; the paper's were measured on other hardware"
)


def datasets(settings: Settings, found: Found) -> list[Table]:
    networks: Methods = {name: [] for name in settings["datasets"]}
    for tags, result in found:
        networks[tags["dataset"]].append(result)
    fills = [
        *(_shape(name, place) for place, name in enumerate(("nodes", "edges", "graphs", "classes"))),
        *beside("test accuracy", ("accuracy",), 4),
        metric("motif flips", "motif_flips"),
        (Column("networks"), lambda own, _: Cell(str(len(own)))),
    ]
    caption = (
        "ours, in brackets or beside it the paper's; motif flips: share of the instances that flip without their motif"
    )
    made = table(caption, "dataset", networks, fills, settings.get("reference", {}))
    return [made] if made else []


def fidelity(settings: Settings, found: Found) -> list[Table]:
    caption = "fidelity at sparsity: p of the predicted class that is lost without the explanation"
    every = each(settings, found, caption, [counted("instances", "instances"), *at_sparsities(MEASURED, "fidelity")])
    paths: dict[str, Where] = {column(share): ("fidelity", place) for place, share in enumerate(MEASURED)}
    every += compared(settings, found, f"fidelity {ARROWS[BETTER['fidelity']]}", "sparsity", paths)
    if "vary" in settings:  # one method at several settings: the others would say the same again
        return every
    for name, caption in FURTHER.items():
        graphs = [counted("graphs", "labelled_graphs")] if name == "labelled" else []
        every += each(settings, found, caption, [*graphs, *at_sparsities(MEASURED, name)], no_notes)
    return every + each(settings, found, SEARCHED, [counted("instances", "instances"), *_searched()], no_notes)


def _searched() -> list[Fill]:
    """Counterfactuals. Only what the same search finds along every ranking is compared."""

    def beside(title: str, name: str) -> Fill:
        return Column(title), lambda results, _: over_seeds(values) if (values := _there(results, name)) else Cell("")

    named = {"flipped": "flipped", "minimal": "minimal", "edges": "size"}
    return [
        *(metric(title, name) for title, name in named.items()),
        *(beside(f"{title}, searched on", f"search_{name}") for title, name in named.items()),
    ]


def _there(results: Seeds, name: str) -> list[float]:
    return [value for value in numbers(results, name) if value == value]


def robustness(settings: Settings, found: Found) -> list[Table]:
    levels = {f"{100 * level:.0f}": at for at, level in enumerate(settings["noise"])}
    made: list[Table] = []

    def at_levels(caption: str, name: str, place: int) -> list[Table]:
        fills = [metric(f"{level} %", "robust", name, at, place) for level, at in levels.items()]
        graphs = counted("graphs", "robust", "graphs")
        return each(settings, found, caption, [graphs, *fills], _fewer_graphs)

    for place, k in enumerate(settings.get("k", (8,))):
        made += at_levels(f"AUC of the noisy graph's scores against the clean graph's top {k} edges", "auc", place)
        if k == 8:
            paths: dict[str, Where] = {level: ("robust", "auc", at, place) for level, at in levels.items()}
            made += compared(settings, found, f"AUC {ARROWS[BETTER['auc']]}, k = 8", "noise, %", paths)
    for place, k in enumerate(_node_sizes(found)):
        caption = f"share of the clean graph's top {k} nodes that are the noisy graph's too"
        made += at_levels(caption, "node_accuracy", place)
    made += _stayed(levels, found)
    caption = "Jaccard overlap of what the counterfactuals of a graph and of its noisy copy (10 %) delete"
    copies = counted("copies", "jaccard_copies")
    return made + each(settings, found, caption, [copies, metric("overlap", "jaccard")], no_notes)


def _stayed(levels: Mapping[str, int], found: Found) -> list[Table]:
    """A row for all methods that were asked about the same graphs: it is the network that is asked here."""

    def at(place: int, results: Seeds, _: Any) -> Cell:
        kept = mean(numbers(results, "robust", "kept", place))
        return shown_as(numbers(results, "robust", "stayed", place), lambda share: f"{share:.2f} ({kept:.2f})")

    fills: list[Fill] = [counted("graphs", "robust", "graphs")]
    fills += [(Column(f"{level} %"), partial(at, place)) for level, place in levels.items()]
    made: list[Table | None] = []
    for panel, methods in done_groups(found).items():
        alike: dict[tuple[Cell, ...], list[str]] = {}
        for name, results in methods.items():
            alike.setdefault(tuple(fill(results, None) for _, fill in fills), []).append(name)
        same = {", ".join(names): methods[names[0]] for names in alike.values()}
        made.append(table(about(panel, STAYED), "methods", same, fills, {}, no_notes))
    return [one for one in made if one]


def _fewer_graphs(methods: Methods) -> list[str]:
    """Who was left out, and who was measured on fewer graphs than others: every noisy copy is explained."""
    means = {name: mean(numbers(results, "robust", "graphs")) for name, results in done(methods).items()}
    most = max((graphs for graphs in means.values() if graphs == graphs), default=0.0)
    alike: dict[str, list[str]] = {}
    for name, graphs in means.items():
        if graphs < most:
            alike.setdefault(f"{graphs:.0f}", []).append(name)
    return left_out(methods) + [f"{', '.join(names)}: noise on {few} graphs a seed" for few, names in alike.items()]


def _node_sizes(found: Found) -> list[int]:
    return next((result["robust"]["node_k"] for _, result in found if result.get("robust")), [])


def times(settings: Settings, found: Found) -> list[Table]:
    made: list[Table | None] = []
    for key, methods in groups(found).items():
        fills: list[Fill] = [
            (Column("mean ± std, ms", BETTER["seconds_mean"]), _mean_time),
            _milliseconds("median, ms", "seconds"),
            _times_ours(mean(numbers(methods.get(OURS, []), "seconds"))),
            _milliseconds("95 %, ms", "seconds_p95"),
            _milliseconds("first, ms", "cold"),
            _milliseconds("in a batch, ms", "batched"),
            (Column("fit, s"), lambda results, _: shown_as(numbers(results, "fit"), lambda value: f"{value:.1f}")),
            counted("timed alone", "timed"),
            counted("in a batch", "batch"),
            (Column("paper, ms"), lambda _, paper: plain(None if paper is None else 1000 * paper)),
            (Column("difference, ms"), _slower),
        ]
        made.append(table(about(key, TIMES), "method", methods, fills, reported(settings, key[0]), left_out))
    return [marked(one) for one in made if one]


def _milliseconds(title: str, name: str) -> Fill:
    return Column(title, BETTER[name]), lambda results, _: shown_as(numbers(results, name), _in_ms)


def _in_ms(seconds: float) -> str:
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


def _mean_time(results: Seeds, _: Any) -> Cell:
    """Mean and standard deviation over the explanations of a seed; of both the means over the seeds."""
    deviation = mean(numbers(results, "seconds_std"))
    return shown_as(numbers(results, "seconds_mean"), lambda centre: f"{_in_ms(centre)} ± {_in_ms(deviation)}")


def _times_ours(ours: float) -> Fill:
    """The median as a multiple of RCExplainer's."""

    def fill(results: Seeds, _: Any) -> Cell:
        ratios = [seconds / ours for seconds in numbers(results, "seconds")]
        return shown_as(ratios, lambda ratio: f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}")

    return Column("× ours"), fill


def _slower(results: Seeds, paper: float | None) -> Cell:
    ours = mean(numbers(results, "seconds_mean"))
    return Cell("") if paper is None or ours != ours else Cell(signed(ours - paper, _in_ms), ours - paper)


def nodes(settings: Settings, found: Found) -> list[Table]:
    fills = [
        counted("instances", "instances"),
        *beside("AUC", ("auc",), 0, digits=3),
        *beside("accuracy", ("accuracy",), 1, digits=3),
        *_searched(),
    ]
    caption = (
        "the motif, and counterfactuals along the ranking (searched on: RCExplainer's own search, which goes on where "
        f"no prefix flips), of {settings.get('explained', 'nodes of motifs that no method was fitted on')}"
    )
    few = how_many(settings, found)
    made: list[Table] = []
    for panel in groups(found):
        own = [(tags, result) for tags, result in found if (tags["dataset"], tags["model"]) == panel]
        if panel in few:
            headline = f"{caption}; {few[panel]}, only these count"
            made += each(settings, using_motif(settings, own), headline, fills)
        made += each(settings, own, f"{caption}; all networks, {few[panel]}" if panel in few else caption, fills)
    return made


def ablation(settings: Settings, found: Found) -> list[Table]:
    def total(results: Seeds, _: Any) -> Cell:
        return over_seeds([sum(number(one, "fidelity", at) for at in range(len(SPARSITIES))) for one in results])

    fills = [
        *at_sparsities(SPARSITIES, "fidelity"),
        (Column("sum", BETTER["fidelity"]), total),
        metric("robust", "robust", "auc", 0, 0),
    ]
    caption = "fidelity at sparsity and its sum, beside greedy deletion's; robust: AUC at 10 % noise"
    return each(settings, found, caption, fills)


def case_study(settings: Settings, found: Found) -> list[Table]:
    shown = {
        "AUC telling": "auc",
        "AUC shared": "auc_shared",
        "AUC telling, edges deleted alone": "auc_occlusion",
        "p(class) lost": "lost",
        "p(other) gained": "gained",
        "flipped": "flipped",
    }
    columns = [Column(title, BETTER.get(name)) for title, name in shown.items()]
    rows = tuple(
        (
            *(Cell(str(pair[name])) for name in ("own", "other", "seed")),
            *(over_seeds([number(pair, name)]) for name in shown.values()),
        )
        for _, result in found
        for pair in result["pairs"]
    )
    caption = (
        "three-motifs: the motif that tells two classes apart, and the one they share; beside it, where the telling "
        "motif comes by what deleting each edge alone really does to both classes"
    )
    return [Table(caption, (Column("class"), Column("and not"), Column("seed"), *columns), rows)] if rows else []


def _shape(name: str, place: int) -> Fill:
    """A number of a dataset, in brackets the paper's."""

    def fill(own: Seeds, paper: Any) -> Cell:
        value = own[0]["dataset"][name]
        exact = len(value) if name == "classes" else value
        ours = f"{exact:.0f}" if float(exact).is_integer() else f"{exact:.2f}"
        known = listed(paper, place)
        return Cell(ours if known is None else f"{ours} ({known:g})")

    return Column(name), fill
