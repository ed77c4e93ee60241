"""Drawings of graphs and explanations (extra `figures`). Everything here takes results and gives figures."""

from rcexplainer.viz.figure import Figure, page, save_figure
from rcexplainer.viz.graphs import draw_explanation, draw_graph, legend
from rcexplainer.viz.layout import stress_layout
from rcexplainer.viz.targets import target_grid

__all__ = [
    "Figure",
    "draw_explanation",
    "draw_graph",
    "legend",
    "page",
    "save_figure",
    "stress_layout",
    "target_grid",
]
