"""Drawing one graph, with or without an explanation, so that it can be read in black and white.

    width and darkness of a line    the edge's score
    dashes                          edges that the counterfactual deletes
    shape and colour of nodes       the kind of motif they belong to; small dots belong to none
    a ring                          the node, or the two nodes, that are asked about

Every unordered pair of nodes is drawn once. `axes` is matplotlib's; nothing here opens a window or keeps a state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError, require
from rcexplainer.explanation import Explanation
from rcexplainer.viz.layout import Places, stress_layout

DELETED = "#C43C00"
OUTLINE = "#202020"


@dataclass(frozen=True)
class Look:
    """How the nodes of one kind of motif are drawn."""

    marker: str
    colour: str
    size: float  # the area that makes the shapes look alike in size


# Shapes are told apart without colour; the colours also by people who see few of them.
LOOKS = (
    Look("s", "#3B82C4", 44),
    Look("h", "#F2B134", 62),
    Look("D", "#2F9E77", 36),
    Look("^", "#B86FB8", 54),
    Look("v", "#8C6D4F", 54),
)
PLAIN = Look("o", "#9A9A9A", 12)


@dataclass(frozen=True)
class Pairs:
    """The lines of a drawing: unordered pairs of different nodes, with what is known of any edge between them."""

    ends: Tensor  # [2, pairs]
    scores: Tensor | None  # [pairs]
    removed: Tensor  # [pairs]
    kind: Tensor  # [pairs], −1 outside motifs


def draw_graph(
    axes: Any,
    graph: Data,
    edge_scores: Tensor | None = None,
    removed: Tensor | None = None,
    motif: Tensor | None = None,
    layout: Places | None = None,
    roots: Sequence[int] = (),
    labels: Sequence[str] | None = None,
) -> Places:
    """Draw the graph and give back where the nodes are, so that it can be drawn again in the same places.

    edge_scores   [num_edges] in [0, 1]; left out, all edges are alike, those of a motif in its colour
    removed       [num_edges] boolean
    motif         [num_edges] boolean, or the kind of motif with −1 outside
    layout        [num_nodes, 2]; left out, `stress_layout`
    labels        a short text for each node, such as its element, in place of a dot
    """
    nodes = int(graph.num_nodes or 0)
    pairs = _pairs(graph, edge_scores, removed, motif)
    places = stress_layout(graph.edge_index, nodes) if layout is None else np.asarray(layout, dtype=np.float64)
    if places.shape != (nodes, 2):
        raise RCExplainerError(f"a layout has one place (x, y) for each of {nodes} nodes, got the shape {places.shape}")
    if labels is not None and len(labels) != nodes:
        raise RCExplainerError(f"labels must hold one text for each of {nodes} nodes, got {len(labels)}")
    _draw_lines(axes, pairs, places)
    _draw_nodes(axes, pairs, places, labels)
    for root in roots:
        axes.scatter(*places[root], s=150, facecolors="none", edgecolors=OUTLINE, linewidths=1.6, zorder=5)
    axes.set_aspect("equal", adjustable="datalim")  # the frame keeps its place, so that titles stand in line
    axes.margins(0.08)
    axes.set_axis_off()
    return places


def draw_explanation(
    axes: Any,
    one: Explanation,
    motif: Tensor | None = None,
    layout: Places | None = None,
    labels: Sequence[str] | None = None,
) -> Places:
    """Draw what was explained: of nodes and links their computation graph, with a ring around them.

    Scores are stretched from the lowest to the highest of this graph, since levels differ between methods and
    questions. `motif` is of the whole graph's edges, as in `graph.edge_motif`.
    """
    graph = one.instance
    removed = None if one.counterfactual is None else one.within(one.counterfactual.removed)
    known = None if motif is None else one.within(motif)
    return draw_graph(axes, graph, stretched(one.scores), removed, known, layout, _roots(one), labels)


def stretched(scores: Tensor) -> Tensor:
    """From 0, the lowest, to 1, the highest; all ½ where they do not differ."""
    if not len(scores) or float(scores.max() - scores.min()) < 1e-9:
        return torch.full_like(scores, 0.5)
    return (scores - scores.min()) / (scores.max() - scores.min())


def legend(figure: Any, kinds: Sequence[str] = (), scores: bool = True, roots: bool = False) -> None:
    """Say below the drawings what the lines and shapes mean; `kinds` names the motifs."""
    line = require("matplotlib.lines", "figures").Line2D
    handles = [
        line([], [], color=look.colour, marker=look.marker, markeredgecolor=OUTLINE, label=name, markersize=6)
        for name, look in zip(kinds, LOOKS, strict=False)
    ]
    if scores:
        handles += [
            line([], [], color=_shade(1.0), linewidth=_width(1.0), label="highest score"),
            line([], [], color=_shade(0.0), linewidth=_width(0.0), label="lowest score"),
            line([], [], color=DELETED, linewidth=2.0, linestyle=(0, (2, 1)), label="deleted"),
        ]
    if roots:
        ring = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": OUTLINE}
        handles.append(line([], [], linestyle="none", marker="o", label="asked about", **ring))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)


def _pairs(graph: Data, scores: Tensor | None, removed: Tensor | None, motif: Tensor | None) -> Pairs:
    """Both directions of an edge are one line; what holds of one of them holds of the line."""
    columns = graph.num_edges
    for name, values in (("edge_scores", scores), ("removed", removed), ("motif", motif)):
        if values is not None and values.shape != (columns,):
            raise RCExplainerError(f"{name} must have one value for each of {columns} edges, got {tuple(values.shape)}")
    proper = graph.edge_index[0] != graph.edge_index[1]
    ends, line = graph.edge_index[:, proper].sort(0).values.unique(dim=1, return_inverse=True)

    def highest(values: Tensor, least: float) -> Tensor:
        found = torch.full((ends.size(1),), least)
        return found.scatter_reduce(0, line, values[proper].float(), "amax")

    kind = torch.full((columns,), -1) if motif is None else motif.long() - (1 if motif.dtype == torch.bool else 0)
    gone = torch.zeros(columns) if removed is None else removed
    return Pairs(
        ends,
        None if scores is None else highest(scores.detach(), 0.0),
        highest(gone, 0.0) > 0,
        highest(kind, -1.0).long(),
    )


def _draw_lines(axes: Any, pairs: Pairs, places: Places) -> None:
    lines = places[pairs.ends.t().numpy()]  # [pairs, 2 ends, 2]
    order = range(len(lines)) if pairs.scores is None else pairs.scores.argsort().tolist()  # dark ones on top
    for place in order:
        kind, gone = int(pairs.kind[place]), bool(pairs.removed[place])
        if pairs.scores is None:
            colour, width = (LOOKS[kind % len(LOOKS)].colour, 2.6) if kind >= 0 else (PLAIN.colour, 1.0)
        else:
            score = float(pairs.scores[place])
            colour, width = _shade(score), _width(score)
        if gone:
            colour, width = DELETED, max(width, 1.8)
        style = (0, (1.6, 0.8)) if gone else "-"
        axes.plot(*lines[place].T, color=colour, linewidth=width, linestyle=style, solid_capstyle="round", zorder=1)


def _draw_nodes(axes: Any, pairs: Pairs, places: Places, labels: Sequence[str] | None) -> None:
    kind = np.full(len(places), -1)
    inside = pairs.kind >= 0
    kind[pairs.ends[:, inside].numpy()] = pairs.kind[inside].numpy()
    for value in np.unique(kind):
        look, own = (PLAIN if value < 0 else LOOKS[value % len(LOOKS)]), places[kind == value]
        edge = {"edgecolors": OUTLINE, "linewidths": 0.7} if value >= 0 else {"edgecolors": "none"}
        if labels is None:
            axes.scatter(*own.T, s=look.size, marker=look.marker, color=look.colour, zorder=3, **edge)
    for (x, y), text in zip(places, labels or (), strict=False):
        box = {"boxstyle": "circle,pad=0.12", "facecolor": "white", "edgecolor": "none"}
        axes.text(x, y, text, ha="center", va="center", fontsize=7, zorder=4, bbox=box)


def _width(score: float) -> float:
    return 0.8 + 3.4 * score


def _shade(score: float) -> str:
    """From light grey to black."""
    return str(round(0.78 * (1 - score), 3))


def _roots(one: Explanation) -> list[int]:
    """The nodes that are asked about, as they are numbered in the computation graph."""
    if one.index is None:
        return []
    found = one.instance.root_index if isinstance(one.index, int) else one.instance.edge_label_index
    return found.flatten().tolist()
