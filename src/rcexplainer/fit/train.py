"""Boundaries and regions from predictions, and the training of the mask network: restarts, ensemble, rescue."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from math import inf, isfinite
from typing import Any

import torch
from torch import Tensor
from tqdm.auto import tqdm

from rcexplainer.config import RCConfig
from rcexplainer.core.mask_net import EdgeMaskNet, mean_of, member_of, stack_of
from rcexplainer.core.objectives import Objective, Terms
from rcexplainer.core.training import Epoch, Training
from rcexplainer.fit.network import make_net, mean_logits
from rcexplainer.fit.objective import Restarts
from rcexplainer.fit.schedule import make_schedule, stack_size
from rcexplainer.fit.step import TrainingSet
from rcexplainer.gnn.seed import seeded
from rcexplainer.saving.checkpoint import FitFile

log = logging.getLogger(__name__)

STANDARDISED_ON = 512  # instances on which the inputs of the network are standardised
ENSEMBLE = 6  # restarts that are averaged, at most
WIDEN = 2.0  # every second pair of restarts may keep this many times as many edges
PRESS = 5.0  # pressed restarts begin with this many times β, which falls to β
MakeObjective = Callable[[RCConfig, Restarts], Objective]


def safer(config: RCConfig) -> list[RCConfig]:
    """The settings, and what to try if they collapse.

    First everything that can saturate or empty the masks goes, then the paper's losses themselves: a ranking learnt
    from a search cannot collapse.
    """
    if config.on_collapse == "report":
        return [config]
    network = "concat" if config.network == "directed" else config.network  # budgets are of edges, not of directions
    gentle = replace(config, scaled=True, network=network, gate="budget", temperature=(1.0, 1.0))
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
    seeds: Sequence[int],
    keep_last: bool,
) -> Training[EdgeMaskNet]:
    """A stack of new mask networks and their training, which is iterated over epoch by epoch.

    Args:
        training: What they are trained on.
        validation: What stops them.
        objective: What they minimise.
        generator: Random numbers of the training.
        seeds: Draw the first weights of each.
        keep_last: Keep the weights of the last epoch rather than of the best.
    """
    config, data = training.config, training.data
    some = training.mini_batch(standardised_on(len(data)).to(data.label.device))
    nodes = training.unchanged(some).nodes
    nets: list[EdgeMaskNet] = []
    for seed in seeds:
        with seeded(seed):
            nets.append(make_net(nodes, data.embedding, training.rows, config))
    stack = stack_of(nets)

    def loss(ids: Tensor, share: float) -> Terms:
        return objective(training.step(stack, ids, share, generator, training.reading))

    schedule = make_schedule(config, training, keep_last)
    held_out = partial(validation.loss, stack, objective)
    return Training(stack, loss, held_out, training.everything, generator, schedule, len(seeds))


def standardised_on(number: int) -> Tensor:
    """[k] a random sample of the instances: datasets may be sorted by class."""
    order = torch.randperm(number, generator=torch.Generator().manual_seed(0))
    return order[:STANDARDISED_ON].sort().values


def train_stack(
    run: Training[EdgeMaskNet],
    validation: TrainingSet,
    restarts: Restarts,
    file: FitFile,
    name: str,
    progress: bool,
) -> list[TrainedNetwork]:
    """The networks of one stack, from its checkpoint if there is one.

    Args:
        run: The training.
        validation: Decides whether a network has collapsed.
        restarts: How the networks differ.
        file: The checkpoint of the fit.
        name: Of the training there and on the progress bar.
        progress: Whether to show a progress bar.
    """
    starts = torch.as_tensor(run.validate()).tolist()
    run_to_the_end(run, file, name, progress)
    return [
        trained_network(member_of(run.net, place), history, start, validation, run.schedule.keep_last, size)
        for place, (history, start, size) in enumerate(zip(run.histories, starts, restarts.target_size, strict=True))
    ]


def run_to_the_end(run: Training[Any], file: FitFile, name: str, progress: bool) -> None:
    """Run a training, from its checkpoint if there is one.

    Args:
        run: The training.
        file: The checkpoint of the fit.
        name: Of the training there and on the progress bar.
        progress: Whether to show a progress bar.
    """
    if (before := file.get(name)) is not None:
        run.restore(*before)
        log.info("%s continues after epoch %d", name, len(run.history))
    bar = tqdm(run, name, run.schedule.epochs, unit="epoch", initial=len(run.history), disable=not progress)
    for epoch in bar:
        numbers = epoch.terms | ({"val": epoch.val} if isfinite(epoch.val) else {})
        bar.set_postfix(**{term: f"{value:.3f}" for term, value in numbers.items()})
        file.put(name, *run.state(), at_once=run.finished)


def trained_network(
    net: EdgeMaskNet, history: list[Epoch], start: float, validation: TrainingSet, keep_last: bool, target_size: float
) -> TrainedNetwork:
    """A network after its training, and whether it has collapsed.

    Args:
        net: The network, with the weights that are kept.
        history: Its training.
        start: Its validation loss before.
        validation: Decides whether it has collapsed.
        keep_last: Whether the weights are those of the last epoch rather than of the best.
        target_size: Size of a mask up to which it was not penalised.
    """
    lowest = min((epoch.val for epoch in history if isfinite(epoch.val)), default=inf)
    fell = isfinite(lowest) and lowest <= start
    diverged = None if fell else "the training diverged: its loss never fell below where it began"
    kept = history[-1].val if keep_last else lowest
    collapse = diverged or validation.collapse(net)
    return TrainedNetwork(net, tuple(history), kept if isfinite(kept) else inf, collapse, target_size)


def restart_settings(config: RCConfig, units: float) -> Restarts:
    """How the restarts differ.

    Some restarts converge to the wrong edges, or keep all of them, so they are not all alike: every second one begins
    with a larger size penalty, and every second pair may keep more edges. Few edges show which the network cannot do
    without, more edges which others belong to them; what all agree on comes first in their mean.

    Args:
        config: The settings.
        units: Mean number of units of an instance: a target size beyond it would penalise nothing.
    """
    wide = config.target_size * WIDEN
    numbers = range(config.restarts)
    return Restarts(
        tuple(PRESS if number % 2 else 1.0 for number in numbers),
        tuple(wide if number // 2 % 2 and wide < units else config.target_size for number in numbers),
    )


def train_ensemble(
    training: TrainingSet,
    validation: TrainingSet,
    objective: MakeObjective,
    *,
    seed: int,
    file: FitFile,
    name: str = "mask network",
    progress: bool = True,
) -> TrainedNetwork:
    """Train every restart, as many side by side as the device can take, and average the best.

    Args:
        training: What the networks are trained on.
        validation: What stops and ranks them.
        objective: Makes the objective of restarts that are trained side by side.
        seed: Draws the first weights and all random numbers of the training.
        file: The checkpoint of the fit.
        name: Of the trainings there and on the progress bars.
        progress: Whether to show progress bars.
    """
    config, device = training.config, training.data.label.device
    restarts = restart_settings(config, float(training.data.instances.units.counts.double().mean()))
    last = config.patience is None
    schedule = make_schedule(config, training, keep_last=last)
    size = stack_size(training, schedule.batch_size)
    trained: list[TrainedNetwork] = []
    for start in range(0, len(restarts), size):
        some = restarts.some(start, start + size)
        seeds = [seed + start + number for number in range(len(some))]
        generator = torch.Generator(device).manual_seed(seeds[0])
        run = new_training(training, validation, objective(config, some), generator, seeds, keep_last=last)
        title = name if not start else f"{name}, start {start + 1}"
        trained += train_stack(run, validation, some, file, title, progress)
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
