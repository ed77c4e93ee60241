"""From the results of an entry's jobs to its figures.

A panel for each dataset and network; our curve is the boldest, greedy deletion the dashed reference, hollow marks are
what the paper reports. Bands and whiskers are 95 % intervals of the mean over the seeds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

from rcexplainer.benchmark.intervals import band
from rcexplainer.benchmark.results import HEADLINE_SPARSITIES as SPARSITIES
from rcexplainer.benchmark.results import OURS, column
from rcexplainer.metrics.fidelity import SPARSITIES as MEASURED
from rcexplainer.paper.cells import Found, Panel, Result, Settings, done_groups
from rcexplainer.paper.motif_networks import how_many, using_motif
from rcexplainer.viz.charts import (
    BOLD,
    ORDERED,
    PENS,
    REFERENCE,
    TEXT,
    Level,
    Pen,
    Series,
    beside,
    draw_bars,
    draw_curves,
    draw_dots,
    draw_points,
    draw_square,
    panels,
)
from rcexplainer.viz.figure import Figure

Values = Sequence[float | None]

GREEDY = "greedy"
PAPER = ("gnnexplainer", "pgexplainer", "pgmexplainer", "subgraphx", "cfgnnexplainer", "rcexplainer-noldb")
FURTHER = ("occlusion", "cf2", "gradient", "gradcam", "integrated-gradients", "attention", "random")
LOOKS: dict[str, Pen] = {
    OURS: BOLD,
    GREEDY: REFERENCE,
    **{name: pen for names in (PAPER, FURTHER) for name, pen in zip(names, PENS, strict=False)},
}
NAMES = {
    "rcexplainer": "RCExplainer",
    "rcexplainer-noldb": "RCExp-NoLDB",
    "gnnexplainer": "GNNExplainer",
    "pgexplainer": "PGExplainer",
    "pgmexplainer": "PGM-Explainer",
    "subgraphx": "SubgraphX",
    "cfgnnexplainer": "CF-GNNExplainer",
    "cf2": "CF²",
    "gradient": "gradient",
    "gradcam": "Grad-CAM",
    "integrated-gradients": "integrated gradients",
    "occlusion": "occlusion",
    "greedy": "greedy deletion",
}
PUBLISHED = Pen("#000000", "D", hollow=True)
BANDS = "Bands: 95 % intervals of the mean over the seeds, cut where they reach far beyond all values."
WHISKERS = BANDS.replace("Bands", "Whiskers") + " Hollow marks: the paper's."


@dataclass(frozen=True)
class Drawn:
    """A figure, what it shows, and the name of its files."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Noisy:
    """A measure of robustness: where it is in a result, and what it is called."""

    field: str
    places: str
    ending: str
    axis: str
    caption: str
    first: int  # the k that is shown first

    def reader(self, k: int, percent: Sequence[float]) -> Callable[[Result], Values]:
        """What a result has of it at every noise level; None where it was not measured."""

        def read(result: Result) -> Values:
            robust = result.get("robust")
            if not robust or k not in robust[self.places]:
                return ()
            place = robust[self.places].index(k)
            known = {100 * level: row[place] for level, row in zip(robust["noise"], robust[self.field], strict=True)}
            return [known.get(level) for level in percent]

        return read


NOISY = (
    Noisy("auc", "k", "k", "AUC", "AUC of the noisy graph's scores against the clean graph's top {k} edges", 8),
    Noisy(
        "node_accuracy", "node_k", "nodes-k", "node accuracy", "Share of the clean graph's top {k} nodes that stay", 2
    ),
)


def fidelity(settings: Settings, found: Found) -> list[Drawn]:
    def published(dataset: str) -> Mapping[float, float]:
        known = settings.get("reference", {}).get(dataset, {}).get(OURS, {})
        return {float(share): value for share, value in known.items()}

    caption = "Fidelity at sparsities: how far p(predicted class) falls when the explanation is deleted, ↑. " + BANDS
    return _methods(
        "fidelity",
        caption,
        found,
        MEASURED,
        lambda result: result["fidelity"],
        ("sparsity", "fidelity"),
        published,
    )


def robustness(settings: Settings, found: Found) -> list[Drawn]:
    def published(dataset: str) -> Mapping[float, float]:
        known = settings.get("reference", {}).get(dataset, {}).get(OURS, {})
        return {float(percent): value for percent, value in known.items()}

    robust = [result["robust"] for _, result in found if result.get("robust")]
    percent = sorted({100 * level for one in robust for level in one["noise"]})
    made: list[Drawn] = []
    for kind in NOISY:
        known = {k for one in robust for k in one[kind.places]}
        for k in sorted(known, key=lambda k: (k != kind.first, k)):
            first = kind.field == "auc" and k == kind.first
            made += _methods(
                "robustness" if first else f"robustness-{kind.ending}{k}",
                f"{kind.caption.format(k=k)}, ↑. {BANDS}",
                found,
                percent,
                kind.reader(k, percent),
                ("noise, %", kind.axis),
                published if first else lambda dataset: {},
            )
    return made


def times(settings: Settings, found: Found) -> list[Drawn]:
    groups = done_groups(found)
    if not groups:
        return []
    most = max(len(methods) for methods in groups.values())
    figure, axes = panels(1, len(groups), 5.6, 0.9 + 0.27 * most)
    for place, (panel, methods) in enumerate(groups.items()):
        known = settings.get("reference", {}).get(panel[0], {})
        levels = sorted(
            (
                Level(f"{NAMES.get(name, name)}, {duration(alone)}", values, bold=name == OURS)
                for name, results in methods.items()
                if not isnan(alone := _centre(results, "seconds"))
                for values in [(alone, _centre(results, "batched"), known.get(name, nan))]
            ),
            key=lambda one: one.values[0],
        )
        own = axes[0][place]
        draw_bars(own, levels)
        rest = [replace(one, values=one.values[1:]) for one in levels]
        pens = (Pen("#0072B2", "o", hollow=True), replace(PUBLISHED, colour="#D55E00"))
        draw_dots(own, rest, pens, ("here, in a batch", "the paper, one graph"))
        own.set_title(_title(panel, groups), fontsize=TEXT, loc="left")
        own.set_xlabel("seconds for one explanation, ↓", fontsize=TEXT)
        own.grid(axis="y", visible=False)
        own.margins(x=0.12)
    _below(figure, axes[0][0])
    caption = "Time for the scores of one explanation, ↓. Bars: one graph alone, median, mean over the seeds."
    return [Drawn("time", caption, figure)]


def nodes(settings: Settings, found: Found) -> list[Drawn]:
    groups = done_groups(using_motif(settings, found))
    if not groups:
        return []
    methods = _union(groups.values())
    figure, axes = panels(2, len(groups), 2.1 if len(groups) > 1 else 4.5, 0.8 + 0.19 * len(methods), sharey=True)
    for row, (field, title) in enumerate((("auc", "AUC ↑"), ("accuracy", "accuracy ↑"))):
        for place, (panel, own) in enumerate(groups.items()):
            known = settings.get("reference", {}).get(panel[0], {})
            levels = []
            for name in methods:
                centre, half = _band(result[field] for result in own.get(name, ()))
                paper = known.get(name, (nan, nan))[row]
                values = (centre, paper if isinstance(paper, float) else nan)
                levels.append(Level(NAMES.get(name, name), values, (half, nan), bold=name == OURS))
            draw_dots(axes[row][place], levels, (Pen("#0072B2", "o"), PUBLISHED), ("measured here", "the paper"))
            axes[row][place].set_xlabel(title, fontsize=TEXT)
            if row == 0:
                axes[row][place].set_title(_title(panel, groups), fontsize=TEXT, loc="left")
    _below(figure, axes[0][0])
    few = "".join(
        f" {_title(panel, groups)}: {text}, only these count." for panel, text in how_many(settings, found).items()
    )
    caption = f"Scores against the motif of the explained node, on motifs no method was fitted on. {WHISKERS}{few}"
    return [Drawn("nodes", caption, figure)]


def varied(name: str) -> Callable[[Settings, Found], list[Drawn]]:
    """Fidelity against the value of one setting, a line for each sparsity. Without bands: six would hide the lines."""

    def draw(settings: Settings, found: Found) -> list[Drawn]:
        values = {tags["variant"]: float(tags["value"]) for tags, _ in found if "value" in tags}
        groups = done_groups(found)
        if not groups:
            return []
        figure, axes = panels(1, len(groups), 4.0, 2.8, sharey=True)
        for place, (panel, variants) in enumerate(groups.items()):
            x = tuple(values[variant] for variant in variants)
            series = []
            for step, share in enumerate(MEASURED):
                means = [_band(_at(result["fidelity"], step) for result in own)[0] for own in variants.values()]
                series.append(Series(f"sparsity {column(share)}", ORDERED[step], x, tuple(means)))
            draw_curves(axes[0][place], series)
            axes[0][place].set_title(_title(panel, groups), fontsize=TEXT, loc="left")
            axes[0][place].set_xlabel(settings.get("axis", settings["vary"]), fontsize=TEXT)
        axes[0][0].set_ylabel("fidelity ↑", fontsize=TEXT)
        beside(axes[0][-1])
        return [Drawn(name, f"{settings['title']}. Means over the seeds; the table has their spread.", figure)]

    return draw


def ablation(settings: Settings, found: Found) -> list[Drawn]:
    groups = done_groups(found)
    if not groups:
        return []
    datasets = list(dict.fromkeys(dataset for dataset, _ in groups))
    models = list(dict.fromkeys(model for _, model in groups))
    variants = _union(groups.values())
    pens = (Pen("#0072B2", "o"), Pen("#D55E00", "s", hollow=True), *PENS[2:])[: len(models)]
    measures = [(f"Σ fidelity, {column(SPARSITIES[0])} to {column(SPARSITIES[-1])} ↑", _sum)]
    measures += [(f"AUC at {100 * level:.0f} % noise ↑", _first_auc) for level in settings.get("noise", ())[:1]]
    figure, axes = panels(len(datasets), len(measures), 3.6, 0.8 + 0.22 * len(variants), sharey=True)
    for row, dataset in enumerate(datasets):
        for place, (title, value) in enumerate(measures):
            levels = []
            for name in variants:
                bands = [_band(map(value, groups.get((dataset, model), {}).get(name, ()))) for model in models]
                levels.append(Level(NAMES.get(name, name), *_columns(bands), bold=name == "default"))
            draw_dots(axes[row][place], levels, pens, models, apart=0.3)
            axes[row][place].set_xlabel(title, fontsize=TEXT)
        axes[row][0].set_title(dataset, fontsize=TEXT, loc="left")
    _below(figure, axes[0][0])
    return [Drawn("ablation", "What each part adds. Whiskers: 95 % intervals of the mean over the seeds.", figure)]


def case_study(settings: Settings, found: Found) -> list[Drawn]:
    pairs = [pair for _, result in found for pair in result["pairs"]]
    classes = list(dict.fromkeys(pair["own"] for pair in pairs))
    if not pairs:
        return []

    def cell(own: str, other: str) -> tuple[float, str]:
        asked = [pair for pair in pairs if (pair["own"], pair["other"]) == (own, other)]
        if not asked:
            return nan, "—"
        telling, shared = (_band(pair[name] for pair in asked)[0] for name in ("auc", "auc_shared"))
        return telling, f"{asked[0]['telling']} {telling:.2f}\n(shared {asked[0]['shared']} {shared:.2f})"

    square = [[cell(own, other) for other in classes] for own in classes]
    figure, axes = panels(1, 1, 1.6 + 1.6 * len(classes), 0.9 + 0.65 * len(classes))
    own = axes[0][0]
    draw_square(own, [[value for value, _ in row] for row in square], [[text for _, text in row] for row in square])
    own.set_xticks(range(len(classes)), [f"and not {name}" for name in classes])
    own.set_yticks(range(len(classes)), classes)
    own.xaxis.tick_top()
    caption = (
        "What makes a graph this class (row) and not that one (column)? AUC of the scores for the motif that only the "
        "first has, ↑, and in brackets for the one both share, ↓; means over the seeds."
    )
    return [Drawn("case-study", caption, figure)]


def duration(seconds: float) -> str:
    """As people say it."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _methods(
    name: str,
    caption: str,
    found: Found,
    x: Sequence[float],
    values: Callable[[Result], Values],
    axis_names: tuple[str, str],
    published: Callable[[str], Mapping[float, float]],
) -> list[Drawn]:
    """Curves of all methods: the paper's in the first row, further ones in the second, ours and greedy in both."""
    groups = done_groups(found)
    bands = {
        panel: {
            method: [_band(_at(values(result), place) for result in results) for place in range(len(x))]
            for method, results in methods.items()
        }
        for panel, methods in groups.items()
    }
    known = {method for own in bands.values() for method, line in own.items() if not all(isnan(y) for y, _ in line)}
    if not known:
        return []
    parts: tuple[tuple[str, Sequence[str]], ...] = (("methods of the paper", PAPER), ("further methods", FURTHER))
    rows = [part for part in parts if known & {*part[1]}] or [("", ())]
    figure, axes = panels(len(rows), len(groups), sharex=True, sharey="col")
    for row, (title, listed) in enumerate(rows):
        for place, panel in enumerate(groups):
            own = axes[row][place]
            draw_curves(
                own,
                [
                    Series(NAMES.get(method, method), LOOKS[method], tuple(x), *_columns(bands[panel][method]))
                    for method in (OURS, *listed, GREEDY)
                    if method in bands[panel] and method in known
                ],
            )
            points = published(panel[0])
            if points:
                draw_points(own, Series("RCExplainer, the paper's", PUBLISHED, tuple(points), tuple(points.values())))
            if row == 0:
                own.set_title(_title(panel, groups), fontsize=TEXT, loc="left")
            if row == len(rows) - 1:
                own.set_xlabel(axis_names[0], fontsize=TEXT)
        axes[row][0].set_ylabel(f"{axis_names[1]} ↑", fontsize=TEXT)
        _legend(axes[row], title)
    return [Drawn(name, caption, figure)]


def _legend(row: Any, title: str) -> None:
    """All that is drawn in any panel of the row, once, beside the last one; ours first, the reference last."""
    shown = {text: handle for own in row for handle, text in zip(*own.get_legend_handles_labels(), strict=True)}
    order = [NAMES.get(name, name) for name in LOOKS if name != GREEDY] + [NAMES[GREEDY]]
    texts = sorted(shown, key=lambda text: order.index(text) if text in order else len(order))
    beside(row[-1], title, [shown[text] for text in texts], texts)


def _below(figure: Figure, axes: Any) -> None:
    handles, texts = axes.get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=len(texts), frameon=False, fontsize=TEXT)


def _title(panel: Panel, groups: Iterable[Panel]) -> str:
    """The dataset, and the network where there are several."""
    return panel[0] if len({model for _, model in groups}) == 1 else f"{panel[0]}, {panel[1]}"


def _union(groups: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for own in groups for name in own))


def _band(values: Iterable[float | None]) -> tuple[float, float]:
    """Mean and half-width of its interval, of what could be measured."""
    return band([nan if value is None else value for value in values])


def _centre(results: Sequence[Result], name: str) -> float:
    return _band(result[name] for result in results)[0]


def _columns(bands: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(centre for centre, _ in bands), tuple(half for _, half in bands)


def _at(values: Values, place: int) -> float | None:
    return values[place] if place < len(values) else None


def _sum(result: Result) -> float | None:
    values = result["fidelity"][: len(SPARSITIES)]
    return None if not values or None in values else sum(values)


def _first_auc(result: Result) -> float | None:
    robust = result.get("robust")
    return robust["auc"][0][0] if robust and robust["auc"] else None
