"""One instance, explained by several methods, in one figure and one layout."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from textwrap import fill

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError, require
from rcexplainer.explanation import EdgeReading, Explanation, Failure
from rcexplainer.saving.files import named_file
from rcexplainer.viz.drawing_options import DrawingOptions
from rcexplainer.viz.drawing_style import DrawingStyle, lay_out
from rcexplainer.viz.explanation_figure import close, frame, titles, write_drawing
from rcexplainer.viz.figure import Figure, figure_kind
from rcexplainer.viz.palette import FAILED
from rcexplainer.viz.probability_bars import draw_probabilities, shown_classes
from rcexplainer.viz.search_outcome import outcome, prediction_text, shortened

METHODS_ACROSS = 4  # methods in a row
METHOD_PANEL, CLASS_HEIGHT = 2.9, 0.34  # inches of a panel, and of the bars of one class


def compare(
    explanations_by_method: Mapping[str, Explanation | Failure],
    path: str | Path | None = None,
    *,
    reading: EdgeReading = "scores",
    style: DrawingStyle = "auto",
    node_names: Sequence[str] = (),
    edge_names: Sequence[str] = (),
    numbers: bool | None = None,
) -> Figure:
    """Draw the explanations of one instance by several methods side by side.

    Args:
        explanations_by_method: The explanation of each method by its name; a `Failure` leaves an empty panel.
        path: A file that ends in .svg, .png or .pdf; None: nothing is written.
        reading: "scores", or "relevance" where every method has it.
        style: As for `draw`.
        node_names: As for `draw`.
        edge_names: As for `draw`.
        numbers: As for `draw`.

    Returns:
        matplotlib's figure, or the path of the file.

    Raises:
        RCExplainerError: There is nothing to compare, the explanations are of different instances, or an argument is
            unknown.
        MissingExtraError: matplotlib is not installed.
    """
    file = None if path is None else named_file(path, "compare(explanations_by_method, path)")
    if file is not None:
        figure_kind(file)
    if not isinstance(explanations_by_method, Mapping):
        raise RCExplainerError(
            f"compare takes {{method name: explanation, …}}, got {type(explanations_by_method).__name__}"
        )
    good = {name: one for name, one in explanations_by_method.items() if isinstance(one, Explanation)}
    check_same_instance(good)
    drawing = lay_out(list(good.values()), style, DrawingOptions(reading, node_names, edge_names, numbers))
    rows = ceil(len(explanations_by_method) / METHODS_ACROSS)
    columns = ceil(len(explanations_by_method) / rows)  # five are three and two, not four and one
    bar = CLASS_HEIGHT * (0.6 + max(len(shown_classes(one)) for one in good.values()))
    size = (max(columns * METHOD_PANEL, 5.0), rows * (METHOD_PANEL + bar + 0.5) + 0.5)
    figure = require("matplotlib.figure", "figures").Figure(size, layout="constrained")
    grid = figure.subplots(2 * rows, columns, squeeze=False, height_ratios=[METHOD_PANEL, bar] * rows)
    for axes in grid.flat:
        axes.set_axis_off()
    for place, (name, one) in enumerate(explanations_by_method.items()):
        panel, bars = grid[2 * (place // columns)][place % columns], grid[2 * (place // columns) + 1][place % columns]
        if isinstance(one, Failure):
            titles(panel, shortened(name), "could not be explained\n")
            text = fill(shortened(str(one.error), 200), 34)
            panel.text(0.5, 0.5, text, transform=panel.transAxes, ha="center", va="center", color=FAILED)
            continue
        ended = outcome(one, drawing.noun)
        panel.set_axis_on()
        frame(panel, ended)
        drawing.draw_scores(panel, one)
        titles(panel, shortened(name), f"{ended.headline}\n{fill(ended.detail, 40)}", ended.colour)
        draw_probabilities(bars, one)
    first = next(iter(good.values()))
    said = f"Predicted {prediction_text(first, first.prediction, first.probabilities)}."
    close(figure, drawing, list(good.values()), [said, *drawing.notes])
    return figure if file is None else write_drawing(figure, file)


def check_same_instance(explanations: Mapping[str, Explanation]) -> None:
    """Refuse explanations that cannot share a layout.

    Args:
        explanations: The explanations by the names of their methods.

    Raises:
        RCExplainerError: There are none, or they are of different instances.
    """
    if not explanations:
        raise RCExplainerError("compare needs at least one explanation: pass {method name: explanation, …}")
    (first_name, first), *others = explanations.items()
    for name, one in others:
        if not _same_graph(one.graph, first.graph) or one.index != first.index:
            raise RCExplainerError(
                f"compare draws one instance, but {first_name!r} and {name!r} explain different ones; "
                "call it once for each instance"
            )


def _same_graph(one: Data, other: Data) -> bool:
    """Whether two graphs have the same nodes, features and edges; molecules of one skeleton differ in their atoms."""
    if one is other:
        return True
    x, y = one.get("x"), other.get("x")
    features = torch.equal(x, y) if isinstance(x, Tensor) and isinstance(y, Tensor) else x is y
    return features and one.num_nodes == other.num_nodes and torch.equal(one.edge_index, other.edge_index)
