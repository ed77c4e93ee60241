"""Training the mask network: from settings to an objective, one training, and what to try after a collapse."""

import logging
from dataclasses import dataclass, replace
from math import inf, isfinite

import torch
from torch import Tensor
from tqdm.auto import tqdm

from rcexplainer.config import RCConfig
from rcexplainer.core.boundaries import Head
from rcexplainer.core.gates import GATES
from rcexplainer.core.losses import SIDES
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.objectives import (
    Masks,
    Objective,
    Terms,
    follow_effects,
    follow_order,
    keep_top,
    leave_region,
    seek_outcomes,
    sum_of,
)
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.core.training import DECAYS, Epoch, Schedule, Training
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import Seen
from rcexplainer.fit.fitted_ import make_net
from rcexplainer.fit.step import Taught
from rcexplainer.gnn.instances import node_inputs
from rcexplainer.gnn.split import SplitModel
from rcexplainer.gnn.trainer import seeded
from rcexplainer.saving.checkpoint import FitFile

log = logging.getLogger(__name__)

STABLE = 8  # of how many edges at the top of a ranking it is asked that they stay there, as in the paper's measure
SAMPLE = 512  # instances on which the inputs of the network are standardised


def make_masks(config: RCConfig) -> Masks:
    """What the settings say of masks."""
    return Masks(
        GATES[config.gate],
        weight=config.weight_regions,
        sparse=config.weight_sparse,
        discrete=config.weight_discrete,
        warmup=config.warmup,
        temperature=(config.temperature, config.temperature_end),
        target_size=config.target_size,
        press=config.press,
    )


def make_objective(config: RCConfig) -> Objective:
    """What the settings ask for, as a function."""
    parts: list[Objective] = []
    if config.weight_regions:
        parts.append(leave_region(make_masks(config), config.weight_same, SIDES[config.sides]))
    if config.weight_order:
        parts.append(follow_order(config.weight_order))
    if config.weight_effect:
        parts.append(follow_effects(config.weight_effect, config.effect_temperature))
    if config.weight_outcome:
        parts.append(seek_outcomes(config.weight_outcome, config.outcome_draws))
    if config.weight_stable and config.noise:
        parts.append(keep_top(config.weight_stable, STABLE))
    return sum_of(parts)


def margins_of(split: SplitModel) -> Head:
    """The head as boundaries read it: only differences between classes count."""
    return lambda x: split.log_probs(split.head(x))


def find_regions(split: SplitModel, known: Seen, config: RCConfig, seed: int, target: int | None = None) -> Regions:
    """Boundaries of the head and the regions they bound (Eq. 1–5); towards a class, only those between it and another
    one (Eq. 12, 13)."""
    if len(known.label.unique()) < 2:
        raise RCExplainerError(
            f"the model predicts class {int(known.label[0])} for all {len(known)} {split.task}s: there is no boundary "
            f"to cross; fit on {split.task}s of at least two predicted classes"
        )
    boundaries = sample_boundaries(
        margins_of(split),
        known.embedding,
        known.label,
        per_class=config.candidates_per_class,
        sampler=config.sampler,
        generator=torch.Generator().manual_seed(seed),
        target=target,
    )
    regions = Regions.fit(
        boundaries,
        known.embedding,
        known.label,
        epsilon=config.epsilon,
        scaled=config.scaled,
        tight=config.tight,
    )
    log.info("%s", regions)
    return regions


def safer(config: RCConfig) -> list[RCConfig]:
    """The settings, and what to try after them if they collapse: what can saturate or empty the masks goes first, at
    the end the paper's losses themselves; a ranking learnt from a search cannot collapse."""
    if config.on_collapse == "report":
        return [config]
    gentle = replace(config, scaled=True, score="share", gate="budget", temperature=1.0, temperature_end=1.0)
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
class Trained:
    """A mask network, what happened in its training, and how it failed if it did; of an averaged one, the best's."""

    net: EdgeMaskNet
    history: tuple[Epoch, ...]
    loss: float  # on the validation instances, of the weights that are kept; ∞ where it is no number
    collapse: str | None


def new_training(
    training: Taught, held: Taught, objective: Objective, generator: torch.Generator, seed: int, keep_last: bool
) -> Training[EdgeMaskNet]:
    """A new mask network and all that its training needs: iterated over, it is trained."""
    config, known = training.config, training.known
    with seeded(seed):
        batch, _ = known.instances[known.instances.everything[:SAMPLE]]
        done = known.instances.split.run(batch)
        net = make_net(node_inputs(done, batch, config.inputs), known.embedding, training.questions, config)

    def loss(ids: Tensor, share: float) -> Terms:
        return objective(training.step(net, ids, share, generator, training.reading))

    decay = DECAYS[config.decay]
    schedule = Schedule(config.epochs, config.lr, config.batch_size, config.patience, decay, keep_last)
    return Training(net, loss, lambda: held.loss(net, objective), known.instances.everything, generator, schedule)


def train_network(
    training: Taught,
    held: Taught,
    objective: Objective,
    generator: torch.Generator,
    seed: int,
    file: FitFile,
    name: str,
    progress: bool,
) -> Trained:
    """A mask network trained on some instances and stopped by others."""
    config, keep_last = training.config, training.config.keep == "last"
    run = new_training(training, held, objective, generator, seed, keep_last)
    start = run.validate()
    if (before := file.get(name)) is not None:
        run.restore(*before)
        log.info("going on after epoch %d", len(run.history))
    bar = tqdm(run, name, config.epochs, unit="epoch", initial=len(run.history), disable=not progress)
    for epoch in bar:
        bar.set_postfix(**{name: f"{value:.3f}" for name, value in epoch.terms.items()}, val=f"{epoch.val:.3f}")
        file.put(name, *run.state(), at_once=run.finished)
    lowest = min((epoch.val for epoch in run.history if isfinite(epoch.val)), default=inf)
    fell = isfinite(lowest) and lowest <= start
    diverged = None if fell else "the training diverged: its loss never fell below where it began"
    kept = run.history[-1].val if keep_last else lowest
    return Trained(run.net, tuple(run.history), kept if isfinite(kept) else inf, diverged or held.collapsed(run.net))
