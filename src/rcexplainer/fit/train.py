"""Boundaries and regions from predictions, and the training of the mask network: restarts, ensemble, rescue."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import inf, isfinite

import torch
from torch import Tensor
from tqdm.auto import tqdm

from rcexplainer.config import RCConfig
from rcexplainer.core.boundaries import Head, LinearBoundaries
from rcexplainer.core.mask_net import EdgeMaskNet, mean_of
from rcexplainer.core.objectives import Objective, Terms
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.core.training import Epoch, Schedule, Training, constant, cosine
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import Predictions
from rcexplainer.fit.network import make_net, mean_logits
from rcexplainer.fit.objective import PRESS
from rcexplainer.fit.step import TrainingSet
from rcexplainer.gnn.instances import node_inputs
from rcexplainer.gnn.seed import seeded
from rcexplainer.gnn.split import SplitModel
from rcexplainer.saving.checkpoint import FitFile

log = logging.getLogger(__name__)

STANDARDISED_ON = 512  # instances on which the inputs of the network are standardised
ENSEMBLE = 6  # restarts that are averaged, at most
WIDEN = 2.0  # every second pair of restarts may keep this many times as many edges
MakeObjective = Callable[[RCConfig, float], Objective]  # (settings, initial factor of β) → objective


def class_margins(split: SplitModel) -> Head:
    """The head as log-probabilities: only differences between classes matter to boundaries."""
    return lambda x: split.log_probs(split.head(x))


def find_boundaries(
    split: SplitModel, seen: Predictions, config: RCConfig, seed: int, target: int | None = None
) -> LinearBoundaries:
    """Linear decision boundaries of the head (Eq. 2, 3); with a target only those between it and others (Eq. 12, 13).

    Raises:
        RCExplainerError: The model predicts one class for everything.
    """
    if len(seen.label.unique()) < 2:
        raise RCExplainerError(
            f"the model predicts class {int(seen.label[0])} for all {len(seen)} {split.task}s: there is no boundary to "
            f"cross; fit on {split.task}s of at least two predicted classes"
        )
    return sample_boundaries(
        class_margins(split),
        seen.embedding,
        seen.label,
        per_class=config.candidates_per_class,
        sampler=config.sampler,
        generator=torch.Generator().manual_seed(seed),
        target=target,
    )


def find_regions(boundaries: LinearBoundaries, seen: Predictions, config: RCConfig) -> Regions:
    """The decision regions they bound (Eq. 1, 4, 5)."""
    regions = Regions.fit(
        boundaries,
        seen.embedding,
        seen.label,
        epsilon=config.epsilon,
        scaled=config.scaled,
        tight=config.tight,
    )
    log.info("%s", regions)
    return regions


def safer(config: RCConfig) -> list[RCConfig]:
    """The settings, and what to try if they collapse.

    First everything that can saturate or empty the masks goes, then the paper's losses themselves: a ranking learnt
    from a search cannot collapse.
    """
    if config.on_collapse == "report":
        return [config]
    gentle = replace(config, scaled=True, gate="budget", temperature=(1.0, 1.0))
    gentle = replace(gentle, weight_sparse=0.0, weight_discrete=0.0, lr=min(config.lr, 0.008), restarts=1)
    taught = replace(
        gentle,
        weight_regions=0.0,
        weight_order=1.0,
        weight_effect=0.0,
        weight_outcome=0.0,
        noise=0.0,
        weight_stable=0.0,
        lr=min(config.lr, 1e-3),
    )
    return list(dict.fromkeys([config, gentle, taught]))


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A mask network, the history of its training, how it collapsed if it did; an ensemble has its best member's."""

    net: EdgeMaskNet
    history: tuple[Epoch, ...]
    loss: float  # on the validation instances, of the weights that are kept; ∞ if it is not finite
    collapse: str | None
    target_size: float = 0.0


def new_training(
    training: TrainingSet,
    validation: TrainingSet,
    objective: Objective,
    generator: torch.Generator,
    seed: int,
    keep_last: bool,
) -> Training[EdgeMaskNet]:
    """A new mask network and its training, which is iterated over epoch by epoch.

    Args:
        training: What it is trained on.
        validation: What stops it.
        objective: What it minimises.
        generator: Random numbers of the training.
        seed: Draws the first weights.
        keep_last: Keep the weights of the last epoch rather than of the best.
    """
    config, data = training.config, training.data
    with seeded(seed):
        batch, _ = data.instances[data.instances.everything[:STANDARDISED_ON]]
        done = data.instances.split.run(batch)
        net = make_net(node_inputs(done, batch, config.inputs), data.embedding, training.rows, config)

    def loss(ids: Tensor, share: float) -> Terms:
        return objective(training.step(net, ids, share, generator, training.reading))

    schedule = Schedule(
        config.epochs,
        config.lr,
        config.batch_size,
        config.patience or config.epochs,
        constant if config.patience is None else cosine,
        keep_last,
    )
    return Training(net, loss, lambda: validation.loss(net, objective), data.instances.everything, generator, schedule)


def train_network(
    run: Training[EdgeMaskNet], validation: TrainingSet, file: FitFile, name: str, progress: bool
) -> TrainedNetwork:
    """One training, from its checkpoint if there is one.

    Args:
        run: The training.
        validation: Decides whether the network has collapsed.
        file: The checkpoint of the fit.
        name: Of the training there and on the progress bar.
        progress: Whether to show a progress bar.
    """
    start = run.validate()
    if (before := file.get(name)) is not None:
        run.restore(*before)
        log.info("continuing after epoch %d", len(run.history))
    bar = tqdm(run, name, run.schedule.epochs, unit="epoch", initial=len(run.history), disable=not progress)
    for epoch in bar:
        bar.set_postfix(**{term: f"{value:.3f}" for term, value in epoch.terms.items()}, val=f"{epoch.val:.3f}")
        file.put(name, *run.state(), at_once=run.finished)
    lowest = min((epoch.val for epoch in run.history if isfinite(epoch.val)), default=inf)
    fell = isfinite(lowest) and lowest <= start
    diverged = None if fell else "the training diverged: its loss never fell below where it began"
    kept = run.history[-1].val if run.schedule.keep_last else lowest
    collapse = diverged or validation.collapse(run.net)
    return TrainedNetwork(run.net, tuple(run.history), kept if isfinite(kept) else inf, collapse)


def restart_settings(config: RCConfig, units: float) -> list[tuple[RCConfig, float]]:
    """The settings of every restart, and the factor of β it begins with.

    Some restarts converge to the wrong edges, or keep all of them, so they are not all alike: every second one begins
    with a larger size penalty, and every second pair may keep more edges. Few edges show which the network cannot do
    without, more edges which others belong to them; what all agree on comes first in their mean.

    Args:
        config: The settings.
        units: Mean number of units of an instance: a target size beyond it would penalise nothing.
    """
    wide = config.target_size * WIDEN
    return [
        (
            replace(config, target_size=wide if number // 2 % 2 and wide < units else config.target_size),
            PRESS if number % 2 else 1.0,
        )
        for number in range(config.restarts)
    ]


def train_ensemble(
    training: TrainingSet,
    validation: TrainingSet,
    objective: MakeObjective,
    *,
    generator: torch.Generator,
    seed: int,
    file: FitFile,
    name: str = "mask network",
    progress: bool = True,
) -> TrainedNetwork:
    """Train every restart, and average the best.

    Args:
        training: What the networks are trained on.
        validation: What stops and ranks them.
        objective: Makes the objective of a restart.
        generator: Random numbers, shared by all restarts.
        seed: Draws the first weights.
        file: The checkpoint of the fit.
        name: Of the trainings there and on the progress bars.
        progress: Whether to show progress bars.
    """
    config = training.config
    units = float(training.data.instances.units.counts.double().mean())
    trained: list[TrainedNetwork] = []
    for number, (own, press) in enumerate(restart_settings(config, units)):
        last = config.patience is None
        run = new_training(training, validation, objective(own, press), generator, seed + number, keep_last=last)
        title = name if not number else f"{name}, start {number + 1}"
        one = train_network(run, validation, file, title, progress)
        trained.append(replace(one, target_size=own.target_size))
    best = best_restarts(trained, ENSEMBLE)
    return replace(best[0], net=mean_of([one.net for one in best], mean_logits(config)))


def best_restarts(trained: Sequence[TrainedNetwork], limit: int) -> list[TrainedNetwork]:
    """The best restarts, best first, alternating between target sizes: losses compare only where as many edges are
    allowed. A collapsed network is kept only if all have collapsed."""
    sound = [one for one in trained if one.collapse is None]
    if not sound:
        return [min(trained, key=lambda one: one.loss)]
    ranked = [
        sorted((one for one in sound if one.target_size == size), key=lambda one: one.loss)
        for size in sorted({one.target_size for one in sound})
    ]
    return [one for place in zip_longest(*ranked) for one in place if one is not None][:limit]
