"""The explanations of several methods for the same instances, as a grid of drawings.

    column        an instance, always in the same layout
    first row     its motif alone
    black         the edges that the method chose
    a blue band   the edges of the motif: black on a band is a hit, a band alone a miss, black alone a false positive
    a ring        the explained node, or the two nodes of the explained link

The input is plain lists and numbers, such as the result of a job of `reproduce`.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import torch
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError, require
from rcexplainer.short_repr import ShortRepr, short_repr
from rcexplainer.viz.figure import Figure, subplots
from rcexplainer.viz.graphs import NO_MOTIF_STYLE, OUTLINE, draw_graph
from rcexplainer.viz.layout import Places, stress_layout

BAND = "#9CC4EA"
CHOSEN_SCORE, OTHER_SCORE = 1.0, 0.0  # drawn black and wide, or grey and thin

Ends = tuple[int, int]  # the two nodes of an edge


@dataclass(frozen=True, repr=False)
class Shown(ShortRepr):
    """One explanation of one instance, in one cell of the grid.

    Attributes:
        nodes: The nodes to draw, by their numbers in the instance.
        edges: The edges to draw.
        motif: The edges of the motif.
        chosen: The edges that the method chose.
        roots: The explained nodes; empty for a graph.
        labels: Texts of nodes, such as elements; empty for dots.
        flips: Whether deleting the chosen edges flips the prediction.
        motif_flips: Whether deleting the motif flips the prediction.
        whole: Number of nodes of the whole instance, which may have more than are drawn.
    """

    nodes: tuple[int, ...]
    edges: tuple[Ends, ...]
    motif: frozenset[Ends]
    chosen: frozenset[Ends]
    roots: tuple[int, ...]
    labels: Mapping[int, str]
    flips: bool
    motif_flips: bool
    whole: int

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> "Shown":
        """Read a stored result.

        Args:
            result: What `paper.qualitative.explain_one` returns.

        Returns:
            The cell.
        """
        edges = tuple((int(one), int(other)) for one, other in result["edges"])
        motif, chosen = (
            frozenset(edge for edge, flag in zip(edges, result[name], strict=True) if flag)
            for name in ("motif", "chosen")
        )
        labels = dict(zip(result["nodes"], result["labels"] or (), strict=False))
        return cls(
            tuple(result["nodes"]),
            edges,
            motif,
            chosen,
            tuple(result["roots"]),
            labels,
            result["flips"],
            result["motif_flips"],
            result["of"]["nodes"],
        )


@dataclass(frozen=True, eq=False)
class Drawing:
    """Nodes and edges with their layout, which all cells of a column share.

    Attributes:
        nodes: Their numbers in the instance, ascending.
        edges: The edges, by these numbers.
        graph: The same as a graph, with nodes numbered from 0.
        places: [nodes, 2] their positions.
    """

    nodes: tuple[int, ...]
    edges: tuple[Ends, ...]
    graph: Data
    places: Places

    @classmethod
    def of(cls, nodes: Collection[int], edges: Collection[Ends]) -> "Drawing":
        """Lay out nodes and edges.

        Args:
            nodes: Their numbers in the instance.
            edges: The edges, by these numbers.

        Returns:
            The drawing.
        """
        known, pairs = tuple(sorted(nodes)), tuple(sorted(edges))
        number = {node: place for place, node in enumerate(known)}
        ends = [[number[one], number[other]] for one, other in pairs]
        graph = Data(edge_index=torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t(), num_nodes=len(known))
        return cls(known, pairs, graph, stress_layout(graph.edge_index, len(known)))


def explanation_grid(cells: Mapping[tuple[str, str], Shown]) -> Figure:
    """Draw the choices of several methods for several instances.

    Args:
        cells: `cells[instance, method]` by name; missing ones leave their cell empty.

    Returns:
        The figure: a column for each instance, its motif in the first row, then a row for each method.

    Raises:
        RCExplainerError: There is no cell, or one cannot be drawn.
    """
    if not isinstance(cells, Mapping) or not cells:
        raise RCExplainerError(
            f"explanation_grid needs cells[instance, method], at least one, got {short_repr(cells) or 'none'}"
        )
    for key, one in cells.items():
        _check_cell(key, one)
    columns, rows = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    figure, axes = subplots(1 + len(rows), len(columns), size=2.7)
    for across, name in enumerate(columns):
        own = {row: cells[name, row] for row in rows if (name, row) in cells}
        for line in axes:
            line[across].set_axis_off()
        first, whole = next(iter(own.values())), union_drawing(list(own.values()))
        alone = Drawing.of({node for edge in first.motif for node in edge}, first.motif)
        draw_choice(axes[0][across], first, alone, first.motif)
        axes[0][across].set_title(_head(name, first, len(whole.nodes)), fontsize=10)
        for down, row in enumerate(rows, 1):
            if row in own:
                draw_choice(axes[down][across], own[row], whole, own[row].chosen)
                axes[down][across].set_title(_title(row, own[row]), fontsize=9)
    _legend(figure, any(one.roots for one in cells.values()), 2 * len(columns))
    return figure


def _check_cell(key: object, one: object) -> None:
    """Refuse a cell whose name is no pair, or whose edges do not fit its nodes."""
    if not isinstance(key, tuple) or len(key) != 2 or not all(isinstance(name, str) for name in key):
        raise RCExplainerError(f"a cell is named by two texts, (instance, method), got {short_repr(key)}")
    if not isinstance(one, Shown):
        raise RCExplainerError(f"the cell {key} must be a Shown, got {type(one).__name__}")
    for name, kind in (("nodes", Sequence), ("edges", Sequence), ("motif", Set), ("chosen", Set), ("roots", Sequence)):
        if not isinstance(getattr(one, name), kind):
            raise RCExplainerError(f"{name} of the cell {key} cannot be {short_repr(getattr(one, name))}")
    pairs = (*one.edges, *one.motif, *one.chosen)
    numbers = [*one.nodes, *one.roots, *(node for pair in pairs if isinstance(pair, tuple) for node in pair)]
    if not all(isinstance(node, Integral) for node in (*numbers, one.whole)):
        raise RCExplainerError(f"nodes of the cell {key}, and their number, must be whole numbers")
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise RCExplainerError(f"edges of the cell {key} must be pairs of nodes, got {short_repr(one.edges)}")
    if strange := {node for pair in one.edges for node in pair} - set(one.nodes):
        raise RCExplainerError(f"the cell {key} has an edge to node {min(strange)}, which is not among its nodes")
    if not isinstance(one.labels, Mapping):
        raise RCExplainerError(
            f"labels of the cell {key} must be a dict of texts by node, got {short_repr(one.labels)}"
        )


def union_drawing(shown: Sequence[Shown]) -> Drawing:
    """Lay out everything that the cells of one instance show.

    Args:
        shown: The explanations of the instance by different methods.

    Returns:
        One drawing with all their nodes and edges.
    """
    return Drawing.of(
        {node for one in shown for node in one.nodes},
        {edge for one in shown for edge in one.edges},
    )


def draw_choice(axes: Any, one: Shown, drawing: Drawing, chosen: Collection[Ends]) -> None:
    """Draw the chosen edges in black, with a band behind the edges of the motif.

    Args:
        axes: matplotlib axes.
        one: The explanation.
        drawing: The nodes and edges to draw.
        chosen: The edges to draw in black.
    """
    number = {node: place for place, node in enumerate(drawing.nodes)}
    for edge in drawing.edges:
        if edge in one.motif:
            ends = drawing.places[[number[node] for node in edge]]
            axes.plot(*ends.T, color=BAND, linewidth=9.0, solid_capstyle="round", zorder=0)
    draw_graph(
        axes,
        drawing.graph,
        torch.tensor([CHOSEN_SCORE if edge in chosen else OTHER_SCORE for edge in drawing.edges]),
        motif=torch.tensor([edge in one.motif for edge in drawing.edges]),
        layout=drawing.places,
        roots=[number[root] for root in one.roots if root in number],
        labels=[one.labels.get(node, "") for node in drawing.nodes] if one.labels else None,
    )


def _head(name: str, one: Shown, drawn: int) -> str:
    """The title of a column."""
    part = f", {drawn} of {one.whole} nodes drawn" if drawn < one.whole else ""
    return f"{name}{part}\nmotif: {_edges(len(one.motif))}, {_outcome(one.motif_flips)}"


def _title(row: str, one: Shown) -> str:
    """The title of a cell."""
    return f"{row}\n{len(one.chosen & one.motif)} of {_edges(len(one.motif))}, {_outcome(one.flips)}"


def _edges(count: int) -> str:
    """A number of edges in words."""
    return "1 edge" if count == 1 else f"{count} edges"


def _outcome(flips: bool) -> str:
    """The outcome of a deletion in words."""
    return "deleting flips" if flips else "deleting does not flip"


def _legend(figure: Figure, roots: bool, across: int) -> None:
    """Add a legend with up to `across` columns."""
    line = require("matplotlib.lines", "figures").Line2D
    handles = [
        line([], [], color="black", linewidth=4.0, label="chosen"),
        line([], [], color=BAND, linewidth=8.0, label="motif"),
        line([], [], color=NO_MOTIF_STYLE.colour, linewidth=1.2, label="other edge"),
    ]
    if roots:
        ring = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": OUTLINE}
        handles.append(line([], [], linestyle="none", marker="o", label="asked about", **ring))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=min(across, len(handles)), frameon=False, fontsize=10
    )
