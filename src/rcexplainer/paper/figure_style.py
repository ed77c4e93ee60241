"""What the figures of all entries have in common: names and pens of the methods, intervals over seeds, titles, legends.

A panel for each dataset and network; our curve is the boldest, greedy deletion the dashed reference, hollow marks are
what the paper reports. Bands and whiskers are 95 % intervals of the mean over the seeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from rcexplainer.benchmark.intervals import band
from rcexplainer.benchmark.results import OURS
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.result_groups import Panel
from rcexplainer.viz.charts import BOLD, PENS, REFERENCE, TEXT, Pen, beside
from rcexplainer.viz.figure import Figure

GREEDY = "greedy"
PAPER_METHODS = ("gnnexplainer", "pgexplainer", "pgmexplainer", "subgraphx", "cfgnnexplainer", "rcexplainer-noldb")
FURTHER_METHODS = ("occlusion", "cf2", "gradient", "gradcam", "integrated-gradients", "attention", "random")
NOISE_VARIANTS = (  # of the entry `robustness`, beside RCExplainer
    "rcexplainer, without noisy copies",
    "rcexplainer-noldb, with stability",
    "pgexplainer, with stability",
)
METHOD_PENS: dict[str, Pen] = {
    OURS: BOLD,
    GREEDY: REFERENCE,
    **{
        name: pen
        for names in (PAPER_METHODS, FURTHER_METHODS, NOISE_VARIANTS)
        for name, pen in zip(names, PENS, strict=False)
    },
}
METHOD_NAMES = {
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
    "rcexplainer, without noisy copies": "RCExplainer, without noisy copies",
    "rcexplainer-noldb, with stability": "RCExp-NoLDB, with stability",
    "pgexplainer, with stability": "PGExplainer, with stability",
}
PUBLISHED = Pen("#000000", "D", hollow=True)
BANDS = "Bands: 95 % intervals of the mean over the seeds, clipped where they exceed all values by far."
WHISKERS = BANDS.replace("Bands", "Whiskers") + " Hollow marks: the paper's."


@dataclass(frozen=True)
class PaperFigure:
    """A figure of an entry.

    Attributes:
        name: The name of its files.
        caption: What it shows.
        figure: The drawing.
    """

    name: str
    caption: str
    figure: Figure


def method_name(name: str) -> str:
    """A method as its authors write it."""
    return METHOD_NAMES.get(name, name)


def interval(values: Iterable[float | None]) -> tuple[float, float]:
    """Mean and half-width of its 95 % interval, over the values that could be measured."""
    return band([nan if value is None else value for value in values])


def mean_of(results: Sequence[JobResult], name: str) -> float:
    """The mean of one number over results."""
    return interval(result[name] for result in results)[0]


def transposed(bands: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Means and half-widths apart."""
    return tuple(centre for centre, _ in bands), tuple(half for _, half in bands)


def union(groups: Iterable[Mapping[str, Any]]) -> list[str]:
    """All names of several mappings, each once, in order."""
    return list(dict.fromkeys(name for own in groups for name in own))


def panel_title(panel: Panel, panels: Iterable[Panel]) -> str:
    """The dataset, and the network where there are several."""
    return panel[0] if len({model for _, model in panels}) == 1 else f"{panel[0]}, {panel[1]}"


def row_legend(row: Any, title: str) -> None:
    """A legend beside the last panel of a row, of all that is drawn in any of them; ours first, the reference last."""
    shown = {text: handle for own in row for handle, text in zip(*own.get_legend_handles_labels(), strict=True)}
    order = [method_name(name) for name in METHOD_PENS if name != GREEDY] + [method_name(GREEDY)]
    texts = sorted(shown, key=lambda text: order.index(text) if text in order else len(order))
    beside(row[-1], title, [shown[text] for text in texts], texts)


def legend_below(figure: Figure, axes: Any) -> None:
    """A legend below the figure, of what is drawn in one panel."""
    handles, texts = axes.get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=len(texts), frameon=False, fontsize=TEXT)
