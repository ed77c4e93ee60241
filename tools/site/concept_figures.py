"""Draws the figures of docs/concepts.md from a network whose embeddings are points in a plane (`plane_world`).

    python tools/site/concept_figures.py                 writes docs/figures/concept-*.svg
    python tools/site/concept_figures.py --out FOLDER    elsewhere

Nothing in them is sketched: boundaries, region, masks, deletions and noise are those of the fitted explainers.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

import rcexplainer as rc
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.metrics.perturbation import feature_rows, perturb
from rcexplainer.viz.figure import save_figure, subplots
from rcexplainer.viz.layout import stress_layout

sys.path.insert(0, str(Path(__file__).parent))
from plane_scene import Scene, frame, ground, legend, line, make_scene
from plane_world import embeddings

OUT = Path(__file__).resolve().parents[2] / "docs" / "figures"
NOISE = (0.0, 0.05, 0.1, 0.2, 0.3)


def boundaries(scene: Scene) -> Any:
    """The head's classes, and the linear boundaries that are sampled from its gradients."""
    figure, ((left, right),) = subplots(1, 2, 4.2)
    with scene.fitted.split.scope:
        sampled = sample_boundaries(scene.world.model.head, scene.world.points, scene.world.predictions, per_class=6)
    for axes, title in ((left, "what the head predicts in the plane"), (right, f"{len(sampled)} sampled boundaries")):
        ground(axes, scene, scene.world.points)
        axes.set_title(title, fontsize=10)
    for weight, bias in zip(sampled.weight.detach(), sampled.bias.detach(), strict=True):
        line(right, weight, bias, color="#202020", lw=0.9)
    legend(left)
    return figure


def region(scene: Scene) -> Any:
    """The region that the greedy cover chose for the class of the shown graph."""
    figure, ((axes,),) = subplots(1, 1, 5.2)
    ground(axes, scene, scene.world.points)
    regions = scene.fitted.regions
    number = next(n for n, one in enumerate(regions.regions) if one.label == scene.shown.prediction)
    chosen = regions.regions[number]
    low, high = frame(scene.world.points)
    across, up = (torch.linspace(float(low[i]), float(high[i]), 400) for i in range(2))
    inside = torch.ones(400, 400, dtype=torch.bool)
    grid = torch.cartesian_prod(across, up)
    for row, sign in zip(chosen.rows.tolist(), chosen.signs.tolist(), strict=True):
        plane = regions.boundaries.select(torch.tensor([row]))
        inside &= (sign * plane(grid) > 0).reshape(400, 400).T
        line(axes, plane.weight[0], plane.bias[0], color="#202020", lw=1.3)
    axes.contourf(across.numpy(), up.numpy(), inside.float().numpy(), levels=[0.5, 1.5], hatches=["///"], colors="none")
    axes.set_title(
        f"a region of {scene.world.class_names[chosen.label]}: {len(chosen.rows)} boundaries,\n"
        f"{chosen.covered} graphs covered, {chosen.intruders} of other classes inside",
        fontsize=10,
    )
    legend(axes)
    return figure


def network(scene: Scene) -> Any:
    """The mask network's answer for one graph, and for every edge of the held-out graphs, motif or not."""
    figure, ((left, right),) = subplots(1, 2, 4.2)
    one = scene.shown
    place = torch.as_tensor(stress_layout(one.graph.edge_index, one.graph.num_nodes), dtype=torch.float)
    for unit, score in enumerate(one.unit_scores.tolist()):
        ends = place[one.units.pair[:, unit]].numpy()
        left.plot(ends[:, 0], ends[:, 1], color=str(round(0.8 * (1 - score), 3)), lw=0.8 + 5 * score, zorder=1)
    left.scatter(*place.T.numpy(), s=22, c="white", edgecolors="#202020", zorder=2)
    left.set(xticks=[], yticks=[], aspect="equal")
    left.set_title("one score for each edge of a graph", fontsize=10)
    results = scene.fitted.explain(scene.world.held, search="none")
    scores = torch.cat([result.edge_scores for result in results])
    motif = torch.cat([result.graph.edge_motif for result in results])
    for mask, look in (
        (motif, {"color": "#00795C", "label": "edges of a motif"}),
        (~motif, {"color": "#9A9A9A", "label": "other edges"}),
    ):
        right.hist(scores[mask].numpy(), bins=24, range=(0, 1), density=True, alpha=0.75, **look)
    right.axvline(0.5, color="#202020", lw=0.8, ls=":")
    right.set(xlabel="score", yticks=[])
    right.set_title("all edges of the held-out graphs", fontsize=10)
    right.legend(fontsize=8, frameon=False)
    return figure


def losses(scene: Scene) -> Any:
    """Held-out graphs of one class: with the edges above one half alone, and without them, really deleted."""
    figure, ((axes,),) = subplots(1, 1, 5.2)
    results = scene.literal.explain(scene.world.held, search="none")
    own = [one for one in results if one.prediction == scene.shown.prediction][:10]
    before = embeddings(scene.world.model, [one.graph for one in own])
    kept = embeddings(scene.world.model, [rc.gnn.delete_edges(one.graph, ~one.edges) for one in own])
    left = embeddings(scene.world.model, [rc.gnn.delete_edges(one.graph, one.edges) for one in own])
    ground(axes, scene, torch.cat([scene.world.points, kept, left]))
    for ends, colour, text in (
        (left, "#C43C00", "the remainder, to leave"),
        (kept, "#0060A8", "the kept part, to stay"),
    ):
        for start, end in zip(before, ends, strict=True):
            axes.annotate("", end.tolist(), start.tolist(), arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.1})
        axes.plot([], [], color=colour, label=text)
    with torch.no_grad():
        stays, gone = (scene.world.model.head(x).argmax(1) == scene.shown.prediction for x in (kept, left))
    share = sum(float(one.edges.float().mean()) for one in own) / len(own)
    name = scene.world.class_names[scene.shown.prediction]
    axes.set_title(
        f"{len(own)} held-out graphs of {name}, {share:.0%} of the edges kept:\n"
        f"{int(stays.sum())} kept parts stay, {int((~gone).sum())} remainders leave",
        fontsize=10,
    )
    legend(axes)
    return figure


def deletion(scene: Scene) -> Any:
    """The way of one graph through the plane as its edges are really deleted, and the model's answers on the way."""
    figure, ((left, right),) = subplots(1, 2, 4.2)
    one, model = scene.walked, scene.world.model
    order = one.unit_scores.argsort(descending=True, stable=True)
    steps = [one.graph]
    for number in range(1, min(len(order), 12)):
        gone = torch.isin(one.units.of_edge, order[:number])
        steps.append(rc.gnn.delete_edges(one.graph, gone))
    way = embeddings(model, steps)
    with torch.no_grad():
        probability = model.head(way).softmax(1)[:, one.prediction]
        flips = model.head(way).argmax(1) != one.prediction
    ground(left, scene, torch.cat([scene.world.points, way]))
    left.plot(*way.T.numpy(), color="#202020", lw=1, marker=".", ms=5)
    left.scatter(*way[0].tolist(), s=60, facecolors="none", edgecolors="#202020", zorder=3)
    left.set_title("edges deleted in the order of their scores", fontsize=10)
    right.plot(probability.numpy(), color="#202020", lw=1.2)
    right.scatter(
        flips.nonzero().flatten().tolist(), probability[flips].tolist(), s=26, c="#C43C00", label="another class"
    )
    right.scatter(
        (~flips).nonzero().flatten().tolist(),
        probability[~flips].tolist(),
        s=26,
        c="#0060A8",
        marker="s",
        label="the same class",
    )
    right.axvline(len(one.removed_units), color="#202020", ls=":", lw=0.9)
    right.set(xlabel="edges really deleted", ylim=(-0.03, 1.03))
    right.set_title(
        f"p({scene.world.class_names[one.prediction]}); the counterfactual deletes {len(one.removed_units)}",
        fontsize=10,
    )
    right.legend(fontsize=8, frameon=False)
    return figure


def noise(scene: Scene, copies: int) -> Any:
    """Noisy copies of a graph, and the top edges of explainers with and without such copies in their training."""
    figure, ((left, right),) = subplots(1, 2, 4.2)
    graph, draws = scene.shown.graph, np.random.default_rng(0)
    rows = feature_rows(scene.world.graphs)
    noisy = [perturb(graph, 0.1, draws, rows=rows) for _ in range(40)]
    where = embeddings(scene.world.model, noisy)
    ground(left, scene, torch.cat([scene.world.points, where]))
    left.scatter(*where.T.numpy(), s=14, c="#202020", marker="x", lw=0.8, label="noisy copies, 10 %")
    left.scatter(
        *embeddings(scene.world.model, [graph])[0].tolist(), s=70, facecolors="none", edgecolors="#C43C00", lw=1.6
    )
    left.set_title("one graph (ring) under noise", fontsize=10)
    legend(left)
    looks = {"default": (scene.fitted, "#0060A8", "o"), "without noisy copies": (scene.plain, "#C43C00", "s")}
    for name, (fitted, colour, mark) in looks.items():
        found = rc.metrics.robustness(fitted, scene.world.held, NOISE, protocol="strict", copies=copies)
        right.plot(
            [100 * level for level in NOISE], [row[0] for row in found.auc], color=colour, marker=mark, label=name
        )
    right.set(xlabel="strict noise, %", ylim=(0.5, 1.01))
    right.set_title("AUC of the clean top 8 edges", fontsize=10)
    right.legend(fontsize=8, frameon=False)
    return figure


def main(out: Path, graphs: int = 300, train_epochs: int = 150, epochs: int = 40, copies: int = 5) -> list[Path]:
    """Write the figures.

    Args:
        out: The folder.
        graphs: Size of the dataset.
        train_epochs: Epochs of the network.
        epochs: Epochs of the explainers.
        copies: Noisy copies of each held-out graph.

    Returns:
        The files.
    """
    torch.set_num_threads(1)
    scene = make_scene(graphs, train_epochs, epochs)
    print(f"accuracy on held-out graphs {scene.world.accuracy:.2f}; drawn: {scene.shown}")
    figures = {
        "boundaries": boundaries(scene),
        "region": region(scene),
        "network": network(scene),
        "losses": losses(scene),
        "deletion": deletion(scene),
        "noise": noise(scene, copies),
    }
    out.mkdir(parents=True, exist_ok=True)
    return [save_figure(figure, out / f"concept-{name}.svg") for name, figure in figures.items()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    print(*main(parser.parse_args().out), sep="\n")
