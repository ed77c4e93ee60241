"""A table of drawings: what several methods say about the same instances.

    column        an instance, always in the same places
    first row     its motif alone
    black         the edges that the method chose
    a blue band   the edges of the motif: black on a band was found, a band alone was missed, black alone is wrong
    a ring        the node, or the two nodes, that are asked about

What is drawn is the result of a job of `reproduce`: plain lists and numbers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch_geometric.data import Data

from rcexplainer.errors import require
from rcexplainer.viz.figure import Figure, page
from rcexplainer.viz.graphs import OUTLINE, PLAIN, draw_graph
from rcexplainer.viz.layout import Places, stress_layout

BAND = "#9CC4EA"
CHOSEN, OTHER = 1.0, 0.0  # as scores: black and wide, grey and thin

Pair = tuple[int, int]


@dataclass(frozen=True)
class Shown:
    """One explanation of one instance; nodes by their own numbers."""

    nodes: tuple[int, ...]
    edges: tuple[Pair, ...]
    motif: frozenset[Pair]
    chosen: frozenset[Pair]
    roots: tuple[int, ...]
    labels: Mapping[int, str]  # of nodes, such as elements; empty where they have none
    flips: bool  # without the chosen edges
    motif_flips: bool  # without the motif
    whole: int  # nodes of the whole instance, of which `nodes` may be a part

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> "Shown":
        """From a result of `reproduce.qualitative.explain_one`."""
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
    """Nodes and edges with their places, which all cells of a column share."""

    nodes: tuple[int, ...]
    edges: tuple[Pair, ...]
    graph: Data
    places: Places

    @classmethod
    def of(cls, nodes: Collection[int], edges: Collection[Pair]) -> "Drawing":
        known, pairs = tuple(sorted(nodes)), tuple(sorted(edges))
        number = {node: place for place, node in enumerate(known)}
        ends = [[number[one], number[other]] for one, other in pairs]
        graph = Data(edge_index=torch.tensor(ends).reshape(-1, 2).t(), num_nodes=len(known))
        return cls(known, pairs, graph, stress_layout(graph.edge_index, len(known)))


def explanation_grid(cells: Mapping[tuple[str, str], Shown]) -> Figure:
    """`cells[column, row]`: an instance's name and a method's; what is missing stays empty."""
    columns, rows = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    figure, axes = page(1 + len(rows), len(columns), size=2.7)
    for across, name in enumerate(columns):
        own = {row: cells[name, row] for row in rows if (name, row) in cells}
        for line in axes:
            line[across].set_axis_off()
        first, whole = next(iter(own.values())), together(list(own.values()))
        alone = Drawing.of({node for edge in first.motif for node in edge}, first.motif)
        draw_choice(axes[0][across], first, alone, first.motif)
        axes[0][across].set_title(_head(name, first, len(whole.nodes)), fontsize=10)
        for down, row in enumerate(rows, 1):
            if row in own:
                draw_choice(axes[down][across], own[row], whole, own[row].chosen)
                axes[down][across].set_title(_title(row, own[row]), fontsize=9)
    _legend(figure, any(one.roots for one in cells.values()), 2 * len(columns))
    return figure


def together(shown: Sequence[Shown]) -> Drawing:
    """All that is drawn of an instance: methods choose different edges of it."""
    return Drawing.of(
        {node for one in shown for node in one.nodes},
        {edge for one in shown for edge in one.edges},
    )


def draw_choice(axes: Any, one: Shown, drawing: Drawing, chosen: Collection[Pair]) -> None:
    """The chosen edges in black, the motif's with a band."""
    number = {node: place for place, node in enumerate(drawing.nodes)}
    for edge in drawing.edges:
        if edge in one.motif:
            ends = drawing.places[[number[node] for node in edge]]
            axes.plot(*ends.T, color=BAND, linewidth=9.0, solid_capstyle="round", zorder=0)
    draw_graph(
        axes,
        drawing.graph,
        torch.tensor([CHOSEN if edge in chosen else OTHER for edge in drawing.edges]),
        motif=torch.tensor([edge in one.motif for edge in drawing.edges]),
        layout=drawing.places,
        roots=[number[root] for root in one.roots if root in number],
        labels=[one.labels.get(node, "") for node in drawing.nodes] if one.labels else None,
    )


def _head(name: str, one: Shown, drawn: int) -> str:
    part = f", {drawn} of {one.whole} nodes drawn" if drawn < one.whole else ""
    return f"{name}{part}\nmotif: {_edges(len(one.motif))}, {_outcome(one.motif_flips)}"


def _title(row: str, one: Shown) -> str:
    return f"{row}\n{len(one.chosen & one.motif)} of {_edges(len(one.motif))}, {_outcome(one.flips)}"


def _edges(count: int) -> str:
    return "1 edge" if count == 1 else f"{count} edges"


def _outcome(flips: bool) -> str:
    return "deleting flips" if flips else "deleting does not flip"


def _legend(figure: Figure, roots: bool, across: int) -> None:
    line = require("matplotlib.lines", "figures").Line2D
    handles = [
        line([], [], color="black", linewidth=4.0, label="chosen"),
        line([], [], color=BAND, linewidth=8.0, label="motif"),
        line([], [], color=PLAIN.colour, linewidth=1.2, label="other edge"),
    ]
    if roots:
        ring = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": OUTLINE}
        handles.append(line([], [], linestyle="none", marker="o", label="asked about", **ring))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=min(across, len(handles)), frameon=False, fontsize=10
    )
