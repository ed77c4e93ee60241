"""How often counterfactuals survive noise, beside how often the graphs they come from keep their own class.

    flipped(p)    share of noisy copies of G without S that are still of another class than G (or of the target)
    original(p)   share of noisy copies of G that keep the class of G

over the explanations whose counterfactual S flips the prediction, at noise level p. A minimal counterfactual stands on
the decision boundary, where a little noise undoes it; one that holds is as stable as the graph itself. Copies are of
three kinds (`perturbation`):

    paper      the features of a share p of the nodes change, and about p·|E| / 2 node pairs, mostly to new edges
    strict     the same features, and exactly round(p·|E|) node pairs: half are deleted edges, half are new edges
    features   the same features, and no edge

Copy number k of a graph and of its counterfactual are drawn from the same random numbers: the same nodes get the same
features.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.arguments import clear_arguments
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.split import SplitModel
from rcexplainer.method.settings import whole
from rcexplainer.metrics.direction import BETTER, Direction
from rcexplainer.metrics.explained_model import ExplainedModel, split_of, without_failures
from rcexplainer.metrics.flips import flipping
from rcexplainer.metrics.noisy_copies import predicted_classes
from rcexplainer.metrics.perturbation import feature_rows, perturb, perturb_features
from rcexplainer.metrics.shares import checked_shares
from rcexplainer.short_repr import ShortRepr

FlipNoise = Literal["paper", "strict", "features"]
STABILITY_LEVELS = (0.05, 0.1)
NoisyCopy = Callable[[Data, float, np.random.Generator], Data]


@dataclass(frozen=True, repr=False)
class FlipStability(ShortRepr):
    """Means over noisy copies at each noise level; nan where no counterfactual flips."""

    better: ClassVar[Direction] = BETTER["flipped"]  # of flipped and original alike

    protocol: FlipNoise
    noise: tuple[float, ...]
    flipped: tuple[float, ...]  # [level]: share of the copies of counterfactuals that stay flipped, ↑
    original: tuple[float, ...]  # [level]: share of the copies of the originals that keep their class, ↑
    graphs: int  # explanations whose counterfactual flips
    copies: int  # of each graph at each level
    each_flipped: tuple[tuple[float, ...], ...] = field(default=(), repr=False)  # [level][graph], in their order
    each_original: tuple[tuple[float, ...], ...] = field(default=(), repr=False)


@clear_arguments()
def flip_stability(
    model: ExplainedModel,
    explanations: Sequence[Explanation | Failure],
    noise: Sequence[float] = STABILITY_LEVELS,
    *,
    protocol: FlipNoise = "paper",
    copies: int = 10,
    seed: int = 0,
) -> FlipStability:
    """Run the model on noisy copies of counterfactuals, and of the graphs they come from.

    Args:
        model: The GNN that was explained, or an explainer fitted for it.
        explanations: Explanations of graphs with counterfactuals; those that do not flip, and failures, are left out.
        noise: Noise levels, from 0 to 1.
        protocol: "paper", "strict" or "features".
        copies: Noisy copies of each graph at each level.
        seed: Random seed of the noise; a copy depends on it, the level, the graph and its position.

    Returns:
        The shares at each level.

    Raises:
        RCExplainerError: An argument is not valid, or explanations have no counterfactuals.
    """
    given = without_failures(explanations)
    split, noise = split_of(model, given), checked_shares("noise", noise, 0.1)
    _check(split, given, noise, protocol, copies, seed)
    turned = flipping(given)
    originals = [one.graph for one in turned]
    changed = [one.counterfactual.graph for one in turned if one.counterfactual is not None]
    source, target = (torch.tensor(column, dtype=torch.long) for column in _classes(turned))
    draw = noisy_copy(protocol, feature_rows(originals))
    flipped, kept = [], []
    for level in noise:
        after = _predictions(split, changed, level, draw, copies, seed)
        other = torch.where(target[:, None] < 0, after != source[:, None], after == target[:, None])
        flipped.append((other & (after >= 0)).double().mean(1))
        kept.append((_predictions(split, originals, level, draw, copies, seed) == source[:, None]).double().mean(1))
    return FlipStability(
        protocol,
        tuple(noise),
        tuple(float(one.mean()) for one in flipped),
        tuple(float(one.mean()) for one in kept),
        len(turned),
        copies,
        tuple(tuple(one.tolist()) for one in flipped),
        tuple(tuple(one.tolist()) for one in kept),
    )


def _classes(turned: list[Explanation]) -> tuple[list[int], list[int]]:
    """The predicted class of each graph, and the class its counterfactual was led to, −1 for any other."""
    found = [one.counterfactual for one in turned]
    targets = [-1 if one is None or one.target is None else one.target for one in found]
    return [one.prediction for one in turned], targets


def noisy_copy(protocol: FlipNoise, rows: Tensor) -> NoisyCopy:
    """Draws a copy: (graph, noise level, random numbers) → copy."""
    if protocol == "features":
        return partial(perturb_features, rows=rows)
    return partial(perturb, protocol=protocol, rows=rows)


def drawn_copies(graphs: Sequence[Data], level: float, draw: NoisyCopy, copies: int, seed: int) -> list[Data]:
    """Draw noisy copies of graphs: all copies of the first, then all of the second, and so on.

    Args:
        graphs: The graphs.
        level: The noise level.
        draw: Draws a copy.
        copies: Copies of each graph.
        seed: Random seed; a copy depends on it, the level, the position of its graph and its number.
    """
    step = round(level * 1e9)  # the noise itself, not its position, so that a level is the same in any list
    return [
        draw(graph, level, np.random.default_rng([seed, step, place, number]))
        for place, graph in enumerate(graphs)
        for number in range(copies)
    ]


def _predictions(
    split: SplitModel, graphs: list[Data], level: float, draw: NoisyCopy, copies: int, seed: int
) -> Tensor:
    """[graphs, copies] the classes predicted for noisy copies; −1 for a copy on which the model raises."""
    with split.scope:
        labels = predicted_classes(split, drawn_copies(graphs, level, draw, copies, seed))
    return torch.tensor(labels, dtype=torch.long).reshape(len(graphs), copies)


def _check(
    split: SplitModel, given: list[Explanation], noise: Sequence[float], protocol: str, copies: int, seed: int
) -> None:
    """Refuse arguments that are not valid."""
    if split.task != "graph":
        raise RCExplainerError(
            f"flip_stability is defined for graphs, the explanations are of {split.task}s; for counterfactuals farther "
            "from the boundary explain with confidence=0.8, and look at counterfactual.distance"
        )
    if protocol not in get_args(FlipNoise):
        raise RCExplainerError(f"protocol must be one of {', '.join(get_args(FlipNoise))}, got {protocol!r}")
    if not noise:
        raise RCExplainerError(f"noise takes one or more shares from 0 to 1, got {noise!r}")
    whole("copies", copies)
    whole("seed", seed, least=0)
    if missing := sum(one.counterfactual is None for one in given):
        raise RCExplainerError(
            f'{missing} of {len(given)} explanations have no counterfactual: explain with search="prefix" or "greedy"'
        )
