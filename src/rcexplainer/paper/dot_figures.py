"""Figures with bars, dots and squares: times, motifs, the ablation, the case study."""

from dataclasses import replace
from math import isnan, nan

from rcexplainer.benchmark.results import OURS, column
from rcexplainer.paper.figure_style import (
    PUBLISHED,
    WHISKERS,
    PaperFigure,
    interval,
    legend_below,
    mean_of,
    method_name,
    panel_title,
    transposed,
    union,
)
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.motif_networks import how_many, using_motif
from rcexplainer.paper.recovery_tables import by_reading
from rcexplainer.paper.result_groups import (
    SUMMED_SPARSITIES,
    EntrySettings,
    MethodResults,
    Panel,
    TaggedResults,
    done_groups,
    reported,
    without_networks,
)
from rcexplainer.paper.time_tables import duration
from rcexplainer.viz.category_charts import Level, draw_bars, draw_dots, draw_square
from rcexplainer.viz.charts import PENS, TEXT, Pen, panels
from rcexplainer.viz.figure import Figure


def time_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """Bars of seconds, the fastest method first, beside the paper's."""
    groups = done_groups(found)
    if not groups:
        return []
    most = max(len(methods) for methods in groups.values())
    figure, axes = panels(1, len(groups), 5.6, 0.9 + 0.27 * most)
    for place, (panel, methods) in enumerate(groups.items()):
        known = reported(settings, panel[0])
        levels = sorted(
            (
                Level(f"{method_name(name)}, {duration(alone)}", values, bold=name == OURS)
                for name, results in methods.items()
                if not isnan(alone := mean_of(results, "seconds"))
                for values in [(alone, mean_of(results, "batched"), known.get(name, nan))]
            ),
            key=lambda one: one.values[0],
        )
        own = axes[0][place]
        draw_bars(own, levels)
        rest = [replace(one, values=one.values[1:]) for one in levels]
        pens = (Pen("#0072B2", "o", hollow=True), replace(PUBLISHED, colour="#D55E00"))
        draw_dots(own, rest, pens, ("here, in a batch", "the paper, one graph"))
        own.set_title(panel_title(panel, groups), fontsize=TEXT, loc="left")
        own.set_xlabel("seconds for one explanation, ↓", fontsize=TEXT)
        own.grid(axis="y", visible=False)
        own.margins(x=0.12)
    legend_below(figure, axes[0][0])
    caption = "Time for the scores of one explanation, ↓. Bars: one graph alone, median, mean over the seeds."
    return [PaperFigure("time", caption, figure)]


def node_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """AUC and accuracy of the motif on every dataset, of networks that rely on it, beside the paper's."""
    groups = done_groups(using_motif(settings, found))
    if not groups:
        return []
    few = "".join(
        f" {panel_title(panel, groups)}: {text}, only these count." for panel, text in how_many(settings, found).items()
    )
    caption = f"Scores against the motif of the explained node, on motifs no method was fitted on. {WHISKERS}{few}"
    return [PaperFigure("nodes-edgeless", caption, _motif_dots(settings, groups, {"auc": "AUC ↑"}))]


def recovery_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """Live AUC and accuracy of the motif on every dataset by both readings, beside the paper's."""
    groups = done_groups(by_reading(found, "everyone"))
    if not groups:
        return []
    caption = (
        "Scores, and relevance where a method has it, against the motif of the explained node, on motifs no method was "
        f"fitted on; AUC over edges that can matter, the paper's over all. {WHISKERS}"
    )
    return [PaperFigure("nodes", caption, _motif_dots(settings, groups, {"live_auc": "live AUC ↑"}))]


def _motif_dots(settings: EntrySettings, groups: dict[Panel, MethodResults], first: dict[str, str]) -> Figure:
    """A row of panels for the field of `first`, by its title, and one for the accuracy; a column for each dataset."""
    methods = union(groups.values())
    figure, axes = panels(2, len(groups), 2.1 if len(groups) > 1 else 4.5, 0.8 + 0.19 * len(methods), sharey=True)
    for row, (field, title) in enumerate((first | {"accuracy": "accuracy ↑"}).items()):
        for place, (panel, own) in enumerate(groups.items()):
            known = reported(settings, panel[0])
            levels = []
            for name in methods:
                centre, half = interval(result[field] for result in own.get(name, ()))
                paper = known.get(name, (nan, nan))[row]
                values = (centre, paper if isinstance(paper, float) else nan)
                levels.append(Level(method_name(name), values, (half, nan), bold=name == OURS))
            draw_dots(axes[row][place], levels, (Pen("#0072B2", "o"), PUBLISHED), ("measured here", "the paper"))
            axes[row][place].set_xlabel(title, fontsize=TEXT)
            if row == 0:
                axes[row][place].set_title(panel_title(panel, groups), fontsize=TEXT, loc="left")
    legend_below(figure, axes[0][0])
    return figure


def ablation_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """Sum of fidelities and robustness of every variant, with every network."""
    groups = done_groups(found)
    if not groups:
        return []
    datasets = list(dict.fromkeys(dataset for dataset, _ in groups))
    models = list(dict.fromkeys(model for _, model in groups))
    variants = union(groups.values())
    pens = (Pen("#0072B2", "o"), Pen("#D55E00", "s", hollow=True), *PENS[2:])[: len(models)]
    measures = [(f"Σ fidelity, {column(SUMMED_SPARSITIES[0])} to {column(SUMMED_SPARSITIES[-1])} ↑", _sum)]
    measures += [
        (f"AUC at {100 * level:.0f} % noise, the paper's ↑", _first_auc) for level in settings.get("noise", ())[:1]
    ]
    figure, axes = panels(len(datasets), len(measures), 3.6, 0.8 + 0.22 * len(variants), sharey=True)
    for row, dataset in enumerate(datasets):
        for place, (title, value) in enumerate(measures):
            levels = []
            for name in variants:
                bands = [interval(map(value, groups.get((dataset, model), {}).get(name, ()))) for model in models]
                levels.append(Level(method_name(name), *transposed(bands), bold=name == "default"))
            draw_dots(axes[row][place], levels, pens, models, apart=0.3)
            axes[row][place].set_xlabel(title, fontsize=TEXT)
        axes[row][0].set_title(dataset, fontsize=TEXT, loc="left")
    legend_below(figure, axes[0][0])
    caption = "What each part adds. Whiskers: 95 % intervals of the mean over the seeds."
    return [PaperFigure("ablation", caption, figure)]


def case_square(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """The case study as a square: the predicted class by row, the other class by column."""
    pairs = [pair for _, result in without_networks(found) for pair in result["pairs"]]
    classes = list(dict.fromkeys(pair["own"] for pair in pairs))
    if not pairs:
        return []

    def cell(own: str, other: str) -> tuple[float, str]:
        ones = [pair for pair in pairs if (pair["own"], pair["other"]) == (own, other)]
        if not ones:
            return nan, "—"
        telling, shared = (mean_of(ones, name) for name in ("auc", "auc_shared"))
        return telling, f"{ones[0]['telling']} {telling:.2f}\n(shared {ones[0]['shared']} {shared:.2f})"

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
    return [PaperFigure("case-study", caption, figure)]


def _sum(result: JobResult) -> float | None:
    values = result["fidelity"][: len(SUMMED_SPARSITIES)]
    return None if not values or None in values else sum(values)


def _first_auc(result: JobResult) -> float | None:
    robust = result.get("robust")
    return robust["auc"][0][0] if robust and robust["auc"] else None
