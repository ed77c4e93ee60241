"""How the networks of benchmarks are trained.

ours      the settings of `accuracy.training_settings`, chosen for each dataset; in node sets a copy without edges is
          part of the training
plain     the same with cross-entropy on the labelled instances alone, as users train theirs
authors   as the paper's authors trained theirs: graphs of at most 100 nodes, Adam with a constant rate of .001, batches
          of 20, 300 epochs, gradients clipped at 2, Xavier's first weights, no weight decay, the last weights
authors-long  the same for 1,000 epochs: until ‖w₁ − w₀‖ of the head is about the 58 that their notebook prints
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rcexplainer.benchmark.accuracy import training_settings
from rcexplainer.datasets import GraphDataset, task_of
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import TrainConfig
from rcexplainer.gnn.trainer import DEFAULT_TRAINING


@dataclass(frozen=True)
class Recipe:
    """How networks are trained.

    Attributes:
        settings: Name of a dataset → the settings of the training.
        data: Dataset → the part of it that is used at all.
    """

    settings: Callable[[str], TrainConfig]
    data: Callable[[GraphDataset], GraphDataset] = lambda data: data


def _ours(dataset: str) -> TrainConfig:
    return training_settings(dataset) or DEFAULT_TRAINING[task_of(dataset)]


def _plain(dataset: str) -> TrainConfig:
    return replace(_ours(dataset), without_edges=())


AUTHORS_TRAINING = TrainConfig(
    epochs=300, lr=0.001, batch_size=20, patience=None, decay="constant", clip=2.0, xavier=True
)
AUTHORS_NODES = 100  # larger graphs are left out

RECIPES: dict[str, Recipe] = {
    "ours": Recipe(_ours),
    "plain": Recipe(_plain),
    "authors": Recipe(lambda _: AUTHORS_TRAINING, lambda data: data.at_most(AUTHORS_NODES)),
    "authors-long": Recipe(lambda _: replace(AUTHORS_TRAINING, epochs=1000), lambda data: data.at_most(AUTHORS_NODES)),
}


def usual_recipe(dataset: str) -> str:
    """The recipe of `evaluate`: plain for node sets, ours for others."""
    return "plain" if task_of(dataset) == "node" else "ours"


def recipe_of(name: str) -> Recipe:
    """A recipe by its name.

    Args:
        name: A key of `RECIPES`.

    Raises:
        RCExplainerError: There is no such recipe.
    """
    if name not in RECIPES:
        raise RCExplainerError(f"unknown recipe {name!r}; known: {', '.join(RECIPES)}")
    return RECIPES[name]
