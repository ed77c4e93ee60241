"""Draws docs/figures/explanation.svg: the first held-out molecule that the README's example predicts positive.

    python tools/readme_picture.py

It runs the code of the README (seed 0), so the picture shows what a reader gets.
"""

import re
from pathlib import Path

import torch

import rcexplainer as rc
from rcexplainer.viz import draw_graph, save_figure

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "figures" / "explanation.svg"


def readme_example() -> dict:
    """The names that the first Python block of the README defines."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], names)
    return names


def draw(one: rc.Explanation, node_names: tuple[str, ...]) -> Path:
    """The molecule with its scores, and the counterfactual, in the same places."""
    import matplotlib.pyplot as plt

    labels = [node_names[kind] for kind in one.graph.x.argmax(1).tolist()]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
    found = one.counterfactual
    places = draw_graph(left, one.graph, one.edge_scores, found.removed, labels=labels)
    draw_graph(right, found.graph, layout=places, labels=labels)
    for axes, graph_says, probabilities in (
        (left, one.prediction, one.probabilities),
        (right, found.prediction, found.probabilities),
    ):
        axes.set_title(f"{one.class_names[graph_says]} ({float(probabilities[graph_says]):.2f})", fontsize=13)
    left.text(0.5, -0.05, "dark: high score; dashed: to be deleted", transform=left.transAxes, ha="center", fontsize=9)
    count = len(one.removed_units)
    bonds = "one bond" if count == 1 else f"{count} bonds"
    right.text(0.5, -0.05, f"without {bonds}, verified", transform=right.transAxes, ha="center", fontsize=9)
    OUT.parent.mkdir(exist_ok=True)
    return save_figure(figure, OUT)


if __name__ == "__main__":
    torch.set_num_threads(1)
    names = readme_example()
    print(names["explanation"], draw(names["explanation"], names["data"].node_names))
