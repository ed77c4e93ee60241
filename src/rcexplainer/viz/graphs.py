"""Drawings of one graph, with or without an explanation, that are readable in black and white.

    width and darkness of a line    the edge's score
    dashes                          edges that the counterfactual deletes
    shape and colour of nodes       the kind of motif they belong to; small dots belong to none
    a ring                          the explained node, or the two nodes of the explained link

Every unordered pair of nodes is drawn once. `axes` is matplotlib's; nothing here opens a window or keeps state.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError, require
from rcexplainer.explanation import Explanation
from rcexplainer.method.settings import check_texts
from rcexplainer.short_repr import short_repr
from rcexplainer.viz.layout import Places, check_edges, stress_layout
from rcexplainer.viz.pairs import Pairs, find_pairs
from rcexplainer.viz.palette import DELETED, INK, line_grey

OUTLINE = INK
FARTHEST = 1e9  # positions beyond cannot be drawn: matplotlib multiplies them


@dataclass(frozen=True)
class MotifStyle:
    """How the nodes of one kind of motif are drawn.

    Attributes:
        marker: matplotlib's marker.
        colour: Fill colour.
        size: Area, chosen so that all markers look equally large.
    """

    marker: str
    colour: str
    size: float


# Shapes differ without colour, and the colours are distinguishable with colour-vision deficiency.
MOTIF_STYLES = (
    MotifStyle("s", "#3B82C4", 44),
    MotifStyle("h", "#F2B134", 62),
    MotifStyle("D", "#2F9E77", 36),
    MotifStyle("^", "#B86FB8", 54),
    MotifStyle("v", "#8C6D4F", 54),
)
NO_MOTIF_STYLE = MotifStyle("o", "#9A9A9A", 12)


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
    """Draw a graph.

    Args:
        axes: matplotlib axes.
        graph: The graph.
        edge_scores: [num_edges] in [0, 1]; without them all edges look alike, except that motifs are coloured.
        removed: [num_edges] bool; edges to draw dashed.
        motif: [num_edges] bool, or the kind of motif with −1 outside.
        layout: [num_nodes, 2] node positions; `stress_layout` if left out.
        roots: Nodes to draw a ring around.
        labels: A short text for each node, such as its element, instead of a dot.

    Returns:
        The node positions, to draw the graph again in the same layout.

    Raises:
        RCExplainerError: If an argument does not fit the graph.
    """
    if not hasattr(axes, "scatter"):
        raise RCExplainerError(
            f"axes must be matplotlib's, such as rc.viz.subplots(1, 1) makes, got {type(axes).__name__}"
        )
    nodes = _node_count(graph)
    check_edges(graph.edge_index, nodes)
    pairs = find_pairs(graph.edge_index, edge_scores, removed, motif)
    if edge_scores is not None and not bool(((edge_scores >= 0) & (edge_scores <= 1)).all()):
        raise RCExplainerError("edge_scores must be in [0, 1]; rescale them")
    places = stress_layout(graph.edge_index, nodes) if layout is None else _places(layout, nodes)
    if labels is not None and (not isinstance(labels, Collection) or len(labels) != nodes):
        found = len(labels) if isinstance(labels, Collection) else type(labels).__name__
        raise RCExplainerError(f"labels must have one text for each of {nodes} nodes, got {found}")
    if not isinstance(roots, Sequence) or not all(isinstance(root, Integral) and 0 <= root < nodes for root in roots):
        raise RCExplainerError(f"roots must be a list of nodes from 0 to {nodes - 1}, got {roots!r}")
    _draw_lines(axes, pairs, places)
    _draw_nodes(axes, pairs, places, labels)
    for root in roots:
        axes.scatter(*places[root], s=150, facecolors="none", edgecolors=OUTLINE, linewidths=1.6, zorder=5)
    axes.set_aspect("equal", adjustable="datalim")  # keeps the axes in place, so that titles are aligned
    axes.margins(0.08)
    axes.set_axis_off()
    return places


def _node_count(graph: object) -> int:
    """The nodes of a graph that is to be drawn."""
    if not isinstance(graph, Data):
        raise RCExplainerError(f"graph must be a PyG Data, got {type(graph).__name__}")
    try:
        return graph.num_nodes or 0
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
        raise RCExplainerError(f"the graph does not say how many nodes it has ({error}): set num_nodes") from error


def _places(layout: object, nodes: int) -> Places:
    """Positions that the user gave."""
    try:
        places = np.asarray(layout, dtype=np.float64)
    except (RuntimeError, TypeError, ValueError) as error:
        raise RCExplainerError(f"layout must be numbers of the shape ({nodes}, 2): {error}") from error
    if places.shape != (nodes, 2):
        raise RCExplainerError(f"layout must have the shape ({nodes}, 2), one (x, y) per node, got {places.shape}")
    if not bool((np.abs(places) < FARTHEST).all()):
        raise RCExplainerError(f"layout has positions that are NaN or farther out than {FARTHEST:g}")
    return places


def draw_explanation(
    axes: Any,
    one: Explanation,
    motif: Tensor | None = None,
    layout: Places | None = None,
    labels: Sequence[str] | None = None,
) -> Places:
    """Draw an explanation: its scores and the edges that its counterfactual deletes.

    For nodes and links the computation graph is drawn, with a ring around the explained nodes. Scores are stretched
    from the lowest to the highest of this graph, since their levels differ between methods and classes.

    Args:
        axes: matplotlib axes.
        one: The explanation.
        motif: The ground truth of the whole graph's edges, such as `graph.edge_motif`.
        layout: [num_nodes, 2] node positions; `stress_layout` if left out.
        labels: A short text for each node, instead of a dot.

    Returns:
        The node positions.

    Raises:
        RCExplainerError: If an argument does not fit the graph.
    """
    if not isinstance(one, Explanation):
        raise RCExplainerError(f"an Explanation is drawn, got {type(one).__name__}; draw_graph draws graphs")
    if motif is not None and (not isinstance(motif, Tensor) or motif.shape != (one.graph.num_edges,)):
        found = tuple(motif.shape) if isinstance(motif, Tensor) else type(motif).__name__
        raise RCExplainerError(f"motif must have one value for each of {one.graph.num_edges} edges, got {found}")
    graph = one.instance
    removed = None if one.counterfactual is None else one.within(one.counterfactual.removed)
    known = None if motif is None else one.within(motif)
    return draw_graph(axes, graph, stretched(one.scores), removed, known, layout, _roots(one), labels)


def stretched(scores: Tensor) -> Tensor:
    """Rescale scores to 0 (lowest) … 1 (highest); all become ½ if they do not differ.

    Args:
        scores: [num_edges].

    Returns:
        [num_edges] in [0, 1].
    """
    if not len(scores) or float(scores.max() - scores.min()) < 1e-9:
        return torch.full_like(scores, 0.5)
    return (scores - scores.min()) / (scores.max() - scores.min())


def legend(figure: Any, kinds: Sequence[str] = (), scores: bool = True, roots: bool = False) -> None:
    """Add a legend below the drawings.

    Args:
        figure: The figure.
        kinds: The names of the kinds of motifs drawn.
        scores: Whether the drawings show scores.
        roots: Whether the drawings have rings.

    Raises:
        RCExplainerError: It is no figure, or the names are no list of texts.
    """
    if not callable(getattr(figure, "legend", None)):
        raise RCExplainerError(f"legend takes a figure, such as rc.viz.subplots makes, got {short_repr(figure)}")
    check_texts("kinds", kinds)
    line = require("matplotlib.lines", "figures").Line2D
    handles = [
        line([], [], color=look.colour, marker=look.marker, markeredgecolor=OUTLINE, label=name, markersize=6)
        for name, look in zip(kinds, MOTIF_STYLES, strict=False)
    ]
    if scores:
        handles += [
            line([], [], color=line_grey(1.0), linewidth=_width(1.0), label="highest score"),
            line([], [], color=line_grey(0.0), linewidth=_width(0.0), label="lowest score"),
            line([], [], color=DELETED, linewidth=2.0, linestyle=(0, (2, 1)), label="deleted"),
        ]
    if roots:
        ring = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": OUTLINE}
        handles.append(line([], [], linestyle="none", marker="o", label="asked about", **ring))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)


def _draw_lines(axes: Any, pairs: Pairs, places: Places) -> None:
    """Draw the edges."""
    lines = places[pairs.ends.t().numpy()]  # [pairs, 2 ends, 2]
    order = range(len(lines)) if pairs.scores is None else pairs.scores.argsort().tolist()  # dark ones on top
    for place in order:
        kind, gone = int(pairs.kind[place]), bool(pairs.removed[place])
        if pairs.scores is None:
            colour, width = (
                (MOTIF_STYLES[kind % len(MOTIF_STYLES)].colour, 2.6) if kind >= 0 else (NO_MOTIF_STYLE.colour, 1.0)
            )
        else:
            score = float(pairs.scores[place])
            colour, width = line_grey(score), _width(score)
        if gone:
            colour, width = DELETED, max(width, 1.8)
        style = (0, (1.6, 0.8)) if gone else "-"
        axes.plot(*lines[place].T, color=colour, linewidth=width, linestyle=style, solid_capstyle="round", zorder=1)


def _draw_nodes(axes: Any, pairs: Pairs, places: Places, labels: Sequence[str] | None) -> None:
    """Draw the nodes or their labels."""
    kind = np.full(len(places), -1)
    inside = pairs.kind >= 0
    kind[pairs.ends[:, inside].numpy()] = pairs.kind[inside].numpy()
    for value in np.unique(kind):
        look, own = (NO_MOTIF_STYLE if value < 0 else MOTIF_STYLES[value % len(MOTIF_STYLES)]), places[kind == value]
        edge = {"edgecolors": OUTLINE, "linewidths": 0.7} if value >= 0 else {"edgecolors": "none"}
        if labels is None:
            axes.scatter(*own.T, s=look.size, marker=look.marker, color=look.colour, zorder=3, **edge)
    for (x, y), text in zip(places, labels or (), strict=False):
        box = {"boxstyle": "circle,pad=0.12", "facecolor": "white", "edgecolor": "none"}
        axes.text(x, y, text, ha="center", va="center", fontsize=7, zorder=4, bbox=box)


def _width(score: float) -> float:
    """Line width in points."""
    return 0.8 + 3.4 * score


def _roots(one: Explanation) -> list[int]:
    """The explained nodes, by their numbers in the computation graph."""
    if one.index is None:
        return []
    found = one.instance.root_index if isinstance(one.index, int) else one.instance.edge_label_index
    return found.flatten().tolist()
