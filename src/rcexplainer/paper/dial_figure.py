"""The figure of the dial: fidelity as a ratio to greedy deletion's against model runs, all methods in one picture."""

from collections.abc import Sequence

from rcexplainer.benchmark.results import OURS, mean
from rcexplainer.paper.dial_curve import DialPoint, dial_curve
from rcexplainer.paper.figure_style import (
    BANDS,
    GREEDY,
    METHOD_PENS,
    PaperFigure,
    interval,
    method_name,
    row_legend,
    transposed,
)
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults, done_groups
from rcexplainer.viz.charts import INK, PENS, TEXT, Pen, Series, draw_curves, draw_points, panels


def dial_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """A panel for each dataset and predicted class: RCExplainer's curve, and a mark for every other method.

    Networks on which not all methods were run are left to the tables.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The figure; none before greedy deletion's results are there.
    """
    curves = {
        dataset: dial_curve(methods)
        for (dataset, model), methods in done_groups(found).items()
        if model == settings["model"] and GREEDY in methods  # on other networks nothing is refined
    }
    shown = [(dataset, name) for dataset, points in curves.items() for name in _classes(points)]
    if not shown:
        return []
    figure, axes = panels(1, len(shown), 3.0, 3.2, sharey=True)
    for place, (dataset, name) in enumerate(shown):
        own = axes[0][place]
        ours = [point for point in curves[dataset] if point.method == OURS and name in point.ratio]
        ours.sort(key=lambda point: mean(point.runs[name]))
        if ours:
            bands = transposed([interval(point.ratio[name]) for point in ours])
            runs = tuple(mean(point.runs[name]) for point in ours)
            draw_curves(own, [Series(method_name(OURS), METHOD_PENS[OURS], runs, *bands)])
        for point in curves[dataset]:
            if point.method != OURS and name in point.ratio:
                at = (mean(point.runs[name]),), (mean(point.ratio[name]),)
                draw_points(own, Series(method_name(point.method), _mark(point.method), *at))
        own.set_xscale("log")
        own.set_title(f"{dataset}, {name}", fontsize=TEXT, loc="left")
        own.set_xlabel("model runs for each graph", fontsize=TEXT)
    axes[0][0].set_ylabel("fidelity ÷ greedy deletion's ↑", fontsize=TEXT)
    row_legend(axes[0], "")
    caption = (
        "Fidelity, summed over the sparsities .95 to .75, as a ratio to greedy deletion's, against the model runs it "
        "costs, counted, held-out graphs of each predicted class, ↑. The line: RCExplainer's own order, and its "
        f"ranking refined by real deletions. {BANDS}"
    )
    return [PaperFigure("dial", caption, figure)]


def _classes(points: Sequence[DialPoint]) -> list[str]:
    return list(dict.fromkeys(name for point in points for name in point.ratio))


def _mark(method: str) -> Pen:
    """A method's pen; hollow marks for every second row of them, as two rows share their pens elsewhere."""
    pen = METHOD_PENS.get(method, Pen(INK, "o"))
    if method == GREEDY:
        return Pen(INK, "D", hollow=True)
    first = list(METHOD_PENS).index(method) - 2 < len(PENS) - 1 if method in METHOD_PENS else False
    return Pen(pen.colour, pen.marker, hollow=not first)
