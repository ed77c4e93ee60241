"""Drawings of graphs and explanations with matplotlib (extra `figures`).

explanation.draw("explanation.svg")                       the same as rc.viz.draw(explanation, "explanation.svg")
rc.viz.compare({"greedy": one, "occlusion": other}, "methods.pdf")

figure, axes = rc.viz.subplots(1, 2)
rc.viz.draw_explanation(axes[0][0], explanation)
rc.viz.draw_graph(axes[0][1], explanation.counterfactual.graph)
rc.viz.legend(figure)
rc.viz.save_figure(figure, "explanation.svg")

draw                               an explanation: scores, counterfactual, probabilities; a molecule where it is one
compare                            one instance explained by several methods, in one layout
subplots, save_figure              a figure without a window, and its file (.svg, .png, .pdf)
draw_graph, draw_explanation       one drawing on matplotlib axes
legend                             the meaning of lines and shapes, below the drawings
target_grid                        one graph per class, explained towards every other class
explanation_grid                   the choices of several methods for the same instances, with the ground truth
stress_layout                      node positions, to draw a graph several times alike
page                               one HTML file with many explanations, to share; needs no matplotlib
"""

from rcexplainer.viz.comparison import compare
from rcexplainer.viz.explanation_figure import draw, notebook_svg
from rcexplainer.viz.figure import Figure, save_figure, subplots
from rcexplainer.viz.graphs import draw_explanation, draw_graph, legend
from rcexplainer.viz.layout import stress_layout
from rcexplainer.viz.method_grid import Shown, explanation_grid
from rcexplainer.viz.page.page_file import page
from rcexplainer.viz.targets import target_grid

__all__ = [
    "Figure",
    "Shown",
    "compare",
    "draw",
    "draw_explanation",
    "draw_graph",
    "explanation_grid",
    "legend",
    "notebook_svg",
    "page",
    "save_figure",
    "stress_layout",
    "subplots",
    "target_grid",
]
