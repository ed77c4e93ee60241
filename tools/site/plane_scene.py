"""What the figures of docs/concepts.md share: a network with embeddings in a plane, its explainers, how it is drawn."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import rcexplainer as rc
from rcexplainer.explainer import FittedRCExplainer

sys.path.insert(0, str(Path(__file__).parent))
from plane_world import PlaneWorld, train

TINTS = ("#DCE9F5", "#FBE7D3", "#DDF0E4")  # grounds of the three classes
DOTS = ("#0060A8", "#C46A00", "#00795C")
MARKS = ("o", "s", "^")  # a class is a shape as well as a colour
SHOWN_CLASS = 1  # cycle+clique: between the two others, so that its region has two boundaries
# The paper's losses (Eq. 7) alone. λ and β were chosen so that the figure shows both terms at work: with β = .01 these
# masks keep nearly every edge, with .07 too few to stay inside.
LITERAL = {
    "weight_regions": 1.0,
    "weight_same": 0.7,
    "weight_sparse": 0.04,
    "target_size": 0.0,
    "sides": "softplus",
    "gate": "concrete",
    "weight_order": 0.0,
    "weight_effect": 0.0,
    "weight_outcome": 0.0,
    "weight_stable": 0.0,
    "noise": 0.0,
    "on_collapse": "report",
}


@dataclass(frozen=True, eq=False)
class Scene:
    """What all figures share.

    Attributes:
        world: The network and its embeddings.
        fitted: The default explainer.
        plain: The same without noisy copies in its training.
        literal: One that is trained with the paper's losses alone.
        shown: A held-out graph of the class in the middle, explained.
        walked: The held-out graph whose counterfactual deletes the most edges, explained.
    """

    world: PlaneWorld
    fitted: FittedRCExplainer
    plain: FittedRCExplainer
    literal: FittedRCExplainer
    shown: rc.Explanation
    walked: rc.Explanation


def make_scene(graphs: int, train_epochs: int, epochs: int) -> Scene:
    """Train the network and fit the explainers.

    Args:
        graphs: Size of the dataset.
        train_epochs: Epochs of the network.
        epochs: Epochs of the explainers.

    Returns:
        The scene.
    """
    world = train(graphs, train_epochs)

    def fit(**settings: Any) -> FittedRCExplainer:
        explainer = rc.RCExplainer(epochs=epochs, **settings)
        return explainer.fit(world.model, world.graphs, head="head", class_names=world.class_names, progress=False)

    fitted = fit()
    found = [one for one in fitted.explain(world.held, search="greedy") if one.counterfactual.flipped]
    walked = max(found, key=lambda one: len(one.removed_units))
    shown = next(one for one in found if one.prediction == SHOWN_CLASS)
    return Scene(world, fitted, fit(weight_stable=0.0, noise=0.0), fit(**LITERAL), shown, walked)


def frame(points: Tensor) -> tuple[Tensor, Tensor]:
    """The corners of a view that holds all points [n, 2]."""
    low, high = points.min(0).values, points.max(0).values
    room = 0.18 * (high - low)
    return low - room, high + room


def ground(axes: Any, scene: Scene, points: Tensor) -> None:
    """Tint the plane by the class that the head predicts there, and draw the embeddings of the training graphs."""
    low, high = frame(points)
    across, up = (torch.linspace(float(low[i]), float(high[i]), 260) for i in range(2))
    grid = torch.cartesian_prod(across, up)
    with torch.no_grad():
        label = scene.world.model.head(grid).argmax(1).reshape(260, 260).T
    axes.contourf(across.numpy(), up.numpy(), label.numpy(), levels=[-0.5, 0.5, 1.5, 2.5], colors=TINTS)
    for number, name in enumerate(scene.world.class_names):
        own = scene.world.points[scene.world.predictions == number].numpy()
        axes.scatter(own[:, 0], own[:, 1], s=9, c=DOTS[number], marker=MARKS[number], alpha=0.6, lw=0, label=name)
    (left, bottom), (right, top) = low.tolist(), high.tolist()
    axes.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[])


def line(axes: Any, weight: Tensor, bias: Tensor, **look: Any) -> None:
    """Draw wᵀx + b = 0 across the view."""
    normal = weight / weight.norm()
    foot = -bias / weight.norm() * normal
    along = torch.stack([-normal[1], normal[0]]) * 1e3
    ends = torch.stack([foot - along, foot + along]).numpy()
    axes.plot(ends[:, 0], ends[:, 1], scalex=False, scaley=False, **look)


def legend(axes: Any) -> None:
    """A legend below the drawing."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncol=2, fontsize=8, frameon=False)
