"""The training diagram: embeddings among the regions, the terms of the loss, and the masks over the epochs.

    left, above    training graphs and regions in a plane, with the path of each example: the kept graph (solid, ends
                   in ●) should stay in its region, the remainder (dashed, ends in ×) should leave it; a white end is on
                   the wrong side, as measured in the whole space, not in the plane
    left, below    the terms of the loss, and the shares of held-out graphs on the right sides
    right          a row for each example, a column for each epoch: width and darkness of an edge are its mask

The input is the result of a job of `reproduce`: plain lists and numbers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from rcexplainer.errors import require
from rcexplainer.viz.figure import Figure
from rcexplainer.viz.graphs import MOTIF_STYLES, OUTLINE, draw_graph
from rcexplainer.viz.layout import Places, stress_layout

ROOM = 0.08  # around the points, as a share of their extent
DASHED: Any = (0, (3, 1.5))
STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def training_page(result: dict[str, Any]) -> Figure:
    """Draw the whole diagram.

    Args:
        result: What `paper.training_diagram.training_run` returns.

    Returns:
        The figure.
    """
    examples = result["examples"]
    columns = max(len(one["masks"]) for one in examples)
    rows = len(examples)
    figure = require("matplotlib.figure", "figures").Figure((15.0, 2.4 * max(rows, 2) + 0.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.3), wspace=0.03)
    upper, lower = left.subfigures(2, 1, height_ratios=(2.0, 1.0))
    draw_plane(upper.subplots(), result)
    losses, sides = lower.subplots(1, 2)
    draw_terms(losses, result["epochs"])
    draw_shares(sides, result["epochs"])
    for line, one in zip(right.subplots(rows, columns, squeeze=False), examples, strict=True):
        draw_masks(list(line), one, result["classes"])
    return figure


def draw_plane(axes: Any, result: dict[str, Any]) -> None:
    """Draw embeddings, regions and the paths of the examples.

    Args:
        axes: matplotlib axes.
        result: The result of the training.
    """
    places, label = np.array(result["points"]["place"]), np.array(result["points"]["class"])
    ways = [np.array([step["place"] for step in one[side]]) for one in result["examples"] for side in ("kept", "left")]
    low, high = _extent(np.concatenate([places, *ways]))
    for value, name in enumerate(result["classes"]):
        look, own = MOTIF_STYLES[value % len(MOTIF_STYLES)], places[label == value]
        small = {"s": 0.35 * look.size, "marker": look.marker, "alpha": 0.45, "linewidths": 0}
        axes.scatter(*own.T, color=look.colour, label=name, **small)
    for one in result["regions"]:
        corners = region_corners(one["lines"], low, high)
        if len(corners):
            axes.fill(
                *corners.T,
                color=MOTIF_STYLES[one["class"] % len(MOTIF_STYLES)].colour,
                alpha=0.10,
                linewidth=0,
                zorder=0,
            )
            axes.fill(*corners.T, fill=False, edgecolor=OUTLINE, linewidth=1.1, zorder=1)
    for one in result["examples"]:
        colour = MOTIF_STYLES[one["class"] % len(MOTIF_STYLES)].colour
        for side, aim, style, marker in (("kept", True, "-", "o"), ("left", False, DASHED, "X")):
            way = np.array([step["place"] for step in one[side]])
            axes.plot(*way.T, color="white", linewidth=3.6, zorder=3)
            axes.plot(*way.T, color=_darker(colour), linewidth=1.7, linestyle=style, zorder=4)
            face = colour if one[side][-1]["inside"] == aim else "white"
            axes.scatter(*way[-1], s=90, marker=marker, color=face, edgecolors=OUTLINE, linewidths=1.1, zorder=6)
        axes.scatter(*one["whole"]["place"], s=130, marker="*", color=colour, edgecolors=OUTLINE, zorder=5)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_xlabel("first direction of the boundaries' plane", fontsize=9)
    axes.set_ylabel("second", fontsize=9)
    axes.tick_params(labelsize=8)
    _plane_legend(axes)


def draw_terms(axes: Any, epochs: Sequence[dict[str, Any]]) -> None:
    """Draw every term of the loss over the epochs.

    Args:
        axes: matplotlib axes.
        epochs: The record of each epoch.
    """
    trained = [row for row in epochs if row["terms"]]
    names = list(trained[0]["terms"]) if trained else []
    for place, name in enumerate(names):
        values = [row["terms"][name] for row in trained]
        if any(values):
            shade, style = str(round(0.7 * place / max(1, len(names) - 1), 2)), STYLES[place % len(STYLES)]
            axes.plot([row["epoch"] for row in trained], values, color=shade, linestyle=style, label=name)
    axes.set_ylim(0, 1.5 * axes.get_ylim()[1])  # room for the legend
    _plain(axes, "loss terms, training graphs")


def draw_shares(axes: Any, epochs: Sequence[dict[str, Any]]) -> None:
    """Draw the shares of held-out graphs on the right sides over the epochs.

    Args:
        axes: matplotlib axes.
        epochs: The record of each epoch.
    """
    numbers = [row["epoch"] for row in epochs]
    for key, name, style in (("kept_inside", "kept inside", "-"), ("left_outside", "remainder outside", "--")):
        axes.plot(numbers, [row[key] for row in epochs], color=OUTLINE, linestyle=style, label=name)
    axes.set_ylim(0, 1.25)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    _plain(axes, "share of held-out graphs")


def draw_masks(line: Sequence[Any], one: dict[str, Any], classes: Sequence[str]) -> None:
    """Draw the mask of one graph at several epochs, in the same layout.

    Args:
        line: matplotlib axes, one for each epoch shown.
        one: The example.
        classes: The name of each class.
    """
    edges = torch.tensor(one["edges"]).reshape(-1, 2).t()
    graph = Data(edge_index=edges, num_nodes=one["nodes"])
    motif = torch.where(torch.tensor(one["motif"]) < 0, -1, one["class"])  # styled like its class in the plane
    layout = stress_layout(edges, one["nodes"])
    for axes in line:
        axes.set_axis_off()
    for axes, shown in zip(line, one["masks"], strict=False):
        draw_graph(axes, graph, torch.tensor(shown["mask"]), motif=motif, layout=layout)
        kept, left = (one[side][shown["epoch"]]["inside"] for side in ("kept", "left"))
        name = "" if shown["epoch"] else f"{classes[one['class']]}\n"
        axes.set_title(f"{name}{_after(shown['epoch'])}\nkept {_side(kept)}, rest {_side(left)}", fontsize=9)


def region_corners(lines: Sequence[Sequence[float]], low: Places, high: Places) -> Places:
    """Find the part of a box where a u + b v + c ≥ 0 for all lines, by cutting it with one line after the other.

    Args:
        lines: (a, b, c) of each line.
        low: [2] the lower left corner of the box.
        high: [2] the upper right corner.

    Returns:
        [corners, 2] of that part, none if it is empty.
    """
    corners = [
        np.array(corner) for corner in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1]))
    ]
    for a, b, c in lines:
        left: list[Places] = []
        for here, there in zip(corners, corners[1:] + corners[:1], strict=True):
            value, other = (a * point[0] + b * point[1] + c for point in (here, there))
            if value >= 0:
                left.append(here)
            if value * other < 0:
                left.append(here + value / (value - other) * (there - here))
        corners = left
    return np.array(corners).reshape(-1, 2)


def _extent(points: Places) -> tuple[Places, Places]:
    """The corners of the box around the points, with some room."""
    low, high = points.min(0), points.max(0)
    room = ROOM * np.maximum(high - low, 1e-6)
    return low - room, high + room


def _after(epochs: int) -> str:
    """An epoch in words."""
    return "before training" if not epochs else "after 1 epoch" if epochs == 1 else f"after {epochs} epochs"


def _side(inside: bool) -> str:
    """A side in words."""
    return "inside" if inside else "outside"


def _darker(colour: str) -> tuple[float, ...]:
    """The colour with less light."""
    red, green, blue = require("matplotlib.colors", "figures").to_rgb(colour)
    return 0.65 * red, 0.65 * green, 0.65 * blue


def _plain(axes: Any, title: str) -> None:
    """Title, axis labels and legend of a small chart."""
    axes.set_title(title, fontsize=9)
    axes.set_xlabel("epoch", fontsize=9)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, ncols=2, loc="upper right", bbox_to_anchor=(1.0, 1.02))


def _plane_legend(axes: Any) -> None:
    """The legend of the plane."""
    line = require("matplotlib.lines", "figures").Line2D
    handles = axes.get_legend_handles_labels()[0]
    extra = [
        line([], [], color=OUTLINE, linewidth=1.0, label="edge of a region"),
        line(
            [], [], linestyle="none", marker="*", markersize=11, color="white", markeredgecolor=OUTLINE, label="graph"
        ),
        line([], [], color=OUTLINE, marker="o", linewidth=1.7, label="kept by the mask"),
        line([], [], color=OUTLINE, marker="X", linewidth=1.7, linestyle=DASHED, label="remainder"),
        line([], [], linestyle="none", marker="X", color="white", markeredgecolor=OUTLINE, label="not on its side"),
    ]
    axes.legend(handles=handles + extra, fontsize=8, ncols=2, framealpha=0.9)
