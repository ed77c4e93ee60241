"""Figures with curves: fidelity at sparsities, robustness at levels of noise, fidelity by a varied setting."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from rcexplainer.benchmark.results import OURS, column
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.paper.figure_style import (
    BANDS,
    FURTHER_METHODS,
    GREEDY,
    METHOD_PENS,
    NOISE_VARIANTS,
    PAPER_METHODS,
    PUBLISHED,
    PaperFigure,
    interval,
    method_name,
    panel_title,
    row_legend,
    transposed,
)
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.reference import PAPER, Published, published, source_texts
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults, done_groups
from rcexplainer.paper.robustness_tables import NOISES, PAPER_NOISE, NoiseFields
from rcexplainer.viz.charts import ORDERED, TEXT, Series, beside, draw_curves, draw_points, panels

Values = Sequence[float | None]


@dataclass(frozen=True)
class NoiseMeasure:
    """A measure of robustness.

    Attributes:
        field: Where its numbers are in a result.
        places: Where its values of k are.
        ending: The end of the figure's name.
        axis: The title of the axis.
        caption: What is shown, with {k}.
        first: The k that is shown first.
    """

    field: str
    places: str
    ending: str
    axis: str
    caption: str
    first: int

    def reader(self, noise: NoiseFields, k: int, percent: Sequence[float]) -> Callable[[JobResult], Values]:
        """What reads the measure from a result.

        Args:
            noise: The kind of noise.
            k: Top edges or nodes.
            percent: Levels of noise.

        Returns:
            A function from a result to a number for each level, None where it was not measured.
        """

        def read(result: JobResult) -> Values:
            robust = result.get(noise.field)
            if not robust or k not in robust[self.places]:
                return ()
            place = robust[self.places].index(k)
            known = {100 * level: row[place] for level, row in zip(robust["noise"], robust[self.field], strict=True)}
            return [known.get(level) for level in percent]

        return read


NOISE_MEASURES = (
    NoiseMeasure("auc", "k", "k", "AUC", "AUC of the noisy graph's scores against the clean graph's top {k} edges", 8),
    NoiseMeasure(
        "node_accuracy", "node_k", "nodes-k", "node accuracy", "Share of the clean graph's top {k} nodes that stay", 2
    ),
)


def fidelity_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """Fidelity of all methods against sparsity; what others report stands at the sparsity it was measured at."""
    known = [one for dataset in settings.get("reference", {}) for one in _marks(settings, dataset)]
    sources = dict.fromkeys(one.source for _, one in known)
    marks = " ".join(f"Hollow marks: {note}." for note in source_texts(settings, sources))
    caption = (
        "Fidelity: drop in the predicted class's probability when the explanation is deleted, by sparsity, ↑. "
        f"{BANDS} {marks}".rstrip()
    )
    return _method_curves(
        "fidelity",
        caption,
        found,
        SPARSITIES,
        lambda result: result["fidelity"],
        ("sparsity", "fidelity"),
        lambda dataset: _points(settings, dataset),
        ", ".join("the paper's" if source == PAPER else source for source in sources),
    )


def robustness_figures(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """Robustness of all methods against both kinds of noise, a figure for every k of edges and of nodes."""
    source = settings.get("source", "the paper's")
    made: list[PaperFigure] = []
    for noise in NOISES:
        robust = [result[noise.field] for _, result in found if result.get(noise.field)]
        percent = sorted({100 * level for one in robust for level in one["noise"]})
        start = "robustness" if noise is PAPER_NOISE else f"robustness-{noise.protocol}"
        for kind in NOISE_MEASURES:
            known = {k for one in robust for k in one[kind.places]}
            for k in sorted(known, key=lambda k: (k != kind.first, k)):
                first = kind.field == "auc" and k == kind.first
                beside_ours = first and noise is PAPER_NOISE
                marks = f" Hollow marks: {source}." if beside_ours and "reference" in settings else ""
                made += _method_curves(
                    start if first else f"{start}-{kind.ending}{k}",
                    f"{noise.caption(f'{kind.caption.format(k=k)}, ↑')}. {BANDS}{marks}",
                    found,
                    percent,
                    kind.reader(noise, k, percent),
                    ("noise, %", kind.axis),
                    (lambda dataset: _points(settings, dataset)) if beside_ours else lambda dataset: {},
                    source,
                )
    return made


def varied_figure(name: str) -> Callable[[EntrySettings, TaggedResults], list[PaperFigure]]:
    """Fidelity against the value of one setting, a line for each sparsity. Without bands: six would hide the lines.

    Args:
        name: The name of the figure.

    Returns:
        What draws it from an entry's settings and results.
    """

    def draw(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
        values = {tags["variant"]: float(tags["value"]) for tags, _ in found if "value" in tags}
        groups = done_groups(found)
        if not groups:
            return []
        figure, axes = panels(1, len(groups), 4.0, 2.8, sharey=True)
        for place, (panel, variants) in enumerate(groups.items()):
            x = tuple(values[variant] for variant in variants)
            series = []
            for step, share in enumerate(SPARSITIES):
                means = [interval(_at(result["fidelity"], step) for result in own)[0] for own in variants.values()]
                series.append(Series(f"sparsity {column(share)}", ORDERED[step], x, tuple(means)))
            draw_curves(axes[0][place], series)
            axes[0][place].set_title(panel_title(panel, groups), fontsize=TEXT, loc="left")
            axes[0][place].set_xlabel(settings.get("axis", settings["vary"]), fontsize=TEXT)
        axes[0][0].set_ylabel("fidelity ↑", fontsize=TEXT)
        beside(axes[0][-1])
        caption = f"{settings['title']}. Means over the seeds; the table has their standard deviations."
        return [PaperFigure(name, caption, figure)]

    return draw


def _points(settings: EntrySettings, dataset: str) -> Mapping[float, float]:
    """What others report of RCExplainer: where it was really measured → the number."""
    return {at if one.sparsity is None else one.sparsity: one.value for at, one in _marks(settings, dataset)}


def _marks(settings: EntrySettings, dataset: str) -> list[tuple[float, Published]]:
    return [(float(at), one) for at, one in published(settings, dataset).get(OURS, {}).items()]


def _method_curves(
    name: str,
    caption: str,
    found: TaggedResults,
    x: Sequence[float],
    values: Callable[[JobResult], Values],
    axis_names: tuple[str, str],
    reported: Callable[[str], Mapping[float, float]],
    source: str = "the paper's",
) -> list[PaperFigure]:
    """Curves of all methods: a row for the paper's, for further ones, and for variants; ours and greedy in each."""
    groups = done_groups(found)
    bands = {
        panel: {
            method: [interval(_at(values(result), place) for result in results) for place in range(len(x))]
            for method, results in methods.items()
        }
        for panel, methods in groups.items()
    }
    drawn = {
        panel: {name for name, line in own.items() if not all(isnan(y) for y, _ in line)}
        for panel, own in bands.items()
    }
    groups = {panel: methods for panel, methods in groups.items() if drawn[panel]}  # no empty panels
    known = {name for names in drawn.values() for name in names}
    if not known:
        return []
    parts: tuple[tuple[str, Sequence[str]], ...] = (
        ("methods of the paper", PAPER_METHODS),
        ("further methods", FURTHER_METHODS),
        ("what noisy copies add", NOISE_VARIANTS),
    )
    rows = [part for part in parts if known & {*part[1]}] or [("", ())]
    figure, axes = panels(len(rows), len(groups), sharex=True, sharey="col")
    for row, (title, listed) in enumerate(rows):
        for place, panel in enumerate(groups):
            own = axes[row][place]
            draw_curves(
                own,
                [
                    Series(method_name(method), METHOD_PENS[method], tuple(x), *transposed(bands[panel][method]))
                    for method in (OURS, *listed, GREEDY)
                    if method in bands[panel] and method in known
                ],
            )
            points = reported(panel[0])
            if points:
                draw_points(own, Series(f"RCExplainer, {source}", PUBLISHED, tuple(points), tuple(points.values())))
            if row == 0:
                own.set_title(panel_title(panel, groups), fontsize=TEXT, loc="left")
            if row == len(rows) - 1:
                own.set_xlabel(axis_names[0], fontsize=TEXT)
        axes[row][0].set_ylabel(f"{axis_names[1]} ↑", fontsize=TEXT)
        row_legend(axes[row], title)
    return [PaperFigure(name, caption, figure)]


def _at(values: Values, place: int) -> float | None:
    return values[place] if place < len(values) else None
