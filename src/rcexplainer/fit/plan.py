"""The plan network: trained after the mask network, from where that is, on deletions one after the other.

Its loss is that of `core.next_deletion`: the outcomes of its own deletions, which are really made. Scores are the same
with and without it. It has no part in the stability under noise: which of two equal edges goes first is a matter of
chance, whatever is learnt. Where its order is no better on the validation instances than that of the scores, there is
none.
"""

import logging
from collections import defaultdict
from functools import cache, partial
from math import ceil, nan
from typing import cast

import torch
from torch import Tensor

from rcexplainer.core.deletion_plan import DeletionPlan, most_steps
from rcexplainer.core.mask_gates import MeanGate, NeighbourGate
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.next_deletion import next_deletion_loss
from rcexplainer.core.objectives import Terms
from rcexplainer.core.outcomes import drawn_sizes
from rcexplainer.core.plan_net import PlanGate, PlanNet, plan_from
from rcexplainer.core.segments import ranks
from rcexplainer.core.training import Schedule, Training, cosine
from rcexplainer.fit.masked_runs import MaskedRuns, MiniBatch
from rcexplainer.fit.network import HIDDEN
from rcexplainer.fit.objective import DRAWS
from rcexplainer.fit.schedule import AVERAGING, make_schedule
from rcexplainer.fit.step import TrainingSet
from rcexplainer.fit.train import run_to_the_end
from rcexplainer.gnn.seed import seeded
from rcexplainer.saving.checkpoint import FitFile

log = logging.getLogger(__name__)

NAME = "plan"
TRAINING_SHARE = 0.5  # of the mask network's epochs
TRIED = 4  # deletions that are compared with each other, after each of the drawn ones
MOST_STEPS = 16  # deletions in a row, in training
MOST_VISITS = 1 << 14  # steps times units, at most: for a large instance a sequence is shorter
BATCH_VISITS = defaultdict(lambda: 1 << 22, cpu=1 << 19)  # the same of all sequences of a step: memory, by device
JUDGED = (0.05, 0.10, 0.15, 0.20, 0.25)  # shares of the units whose deletion tells whether the plan is the better order


def fit_plan(
    training: TrainingSet, validation: TrainingSet, net: EdgeMaskNet, seed: int, file: FitFile, progress: bool = False
) -> PlanNet | None:
    """Train the plan network.

    Args:
        training: The instances to learn from.
        validation: The instances on which it has to be better than the scores.
        net: The mask network.
        seed: Draws first weights and all random numbers of the training.
        file: The checkpoint of the fit.
        progress: Whether to show a progress bar.

    Returns:
        None if the settings have no plan, or it is no better than the order of the scores.
    """
    gate = net.gate.gates[0] if isinstance(net.gate, MeanGate) else net.gate
    graphs = training.data.instances.split.task == "graph"
    if not graphs or not training.config.planned or not isinstance(gate, NeighbourGate):
        return None
    with seeded(seed):
        plan_net = plan_from(net, gate)
    run_to_the_end(_training(plan_net, training, seed), file, NAME, progress)
    logits, owner = validation.logits(net)
    own = validation.outcome_of(ranks(logits, owner, validation.data.instances.units.ptr), JUDGED)
    planned = validation.outcome_of(_order_of(plan_net, validation), JUDGED)
    log.info("mean outcome on validation instances: %.3f by the plan, %.3f by the scores", planned, own)
    return plan_net if better(planned, own) else None


def better(planned: float, own: float) -> bool:
    """Whether a plan is worth keeping: its mean outcome against that of the scores' order."""
    return planned > own


def _training(plan_net: PlanNet, training: TrainingSet, seed: int) -> Training[PlanNet]:
    config, device = training.config, training.data.label.device
    given = make_schedule(config, training, keep_last=False)
    epochs = ceil(TRAINING_SHARE * config.epochs)
    schedule = Schedule(
        epochs, given.lr, given.batch_size, epochs, cosine, keep_last=True, steps=given.steps, averaging=AVERAGING
    )
    generator = torch.Generator(device).manual_seed(seed)

    def loss(ids: Tensor, progress: float) -> Terms:
        return _terms(plan_net, training, ids, generator)

    # The last weights are kept, and judged when they are there: no epoch needs a loss on validation instances.
    return Training(plan_net, loss, lambda: nan, training.everything, generator, schedule)


def plan_of(net: PlanNet, training: TrainingSet, some: MiniBatch) -> DeletionPlan:
    """What the network plans for a mini-batch."""
    reading, units = training.unchanged(some), some.units
    terms = net.terms(reading.nodes, reading.embedding, training.row[some.ids], units.pair, units.owner)
    return DeletionPlan(terms, units.pair, units.ptr, some.batch.ptr)


def _terms(net: PlanNet, training: TrainingSet, ids: Tensor, generator: torch.Generator) -> Terms:
    """The loss of a mini-batch."""
    some = training.mini_batch(ids)
    plan, counts = plan_of(net, training, some), some.units.counts
    together = max(1, BATCH_VISITS[counts.device.type] // (DRAWS * max(1, int(counts.sum()))))
    most = most_steps(counts, min(MOST_STEPS, together), MOST_VISITS)
    kept = drawn_sizes(counts, generator, plan.terms.logit).minimum(most)
    copies = cache(partial(training.mini_batch, ids))  # the same number of them is run several times
    runs = MaskedRuns(training.data, training.surface, some, copies, 1)
    return {"outcome": next_deletion_loss(plan, kept, runs.outcome, DRAWS, TRIED, generator).mean()}


@torch.no_grad()
def _order_of(net: PlanNet, instances: TrainingSet) -> Tensor:
    """[units] of all instances, their places in the plan."""
    return torch.cat([plan_of(net, instances, instances.mini_batch(ids)).order() for ids in instances.pieces])


def restored_plan(state: dict[str, Tensor] | None, net: EdgeMaskNet, rows: int) -> PlanNet | None:
    """A plan network with saved weights; None if the explainer had none.

    Args:
        state: Its `state_dict`; none: there was none.
        net: The mask network, which reads the same inputs.
        rows: Number of output rows.

    Raises:
        RuntimeError: The weights are those of another network.
    """
    if not state:
        return None
    widths = len(cast(Tensor, net.node_mean)), len(cast(Tensor, net.instance_mean))
    plan = PlanNet(PlanGate(*widths, rows, HIDDEN), *widths).to(cast(Tensor, net.node_mean))
    plan.load_state_dict(state)
    return plan.eval()
