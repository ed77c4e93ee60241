"""The relevance network: a second gate on the same inputs, taught by really deleting single units.

It reads what the mask network reads of the same forward pass, and is trained apart from it: scores are the same with
and without it. Deleting single units of large instances is dear, so a bounded sample of them is tried.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from tqdm.auto import tqdm

from rcexplainer.config import RCConfig
from rcexplainer.core.calibration import Calibration
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.namespace import named, part
from rcexplainer.core.relevance import calibrate_relevance, combined, relative_size, relevance_loss
from rcexplainer.core.segments import gather_ranges
from rcexplainer.core.training import cosine
from rcexplainer.core.units import Units
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.network import AS_THEY_ARE, make_net, restored_net
from rcexplainer.gnn.effects import single_deletions, size_of_change
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.node_inputs import node_inputs
from rcexplainer.gnn.seed import seeded

log = logging.getLogger(__name__)

INSTANCES, LARGEST = 512, 1 << 16  # instances that are tried, at most, and edges of the largest
ALL_EDGES = 1 << 19  # edges of all of them
COPIED_EDGES = 1 << 24  # edges of all copies that the model is run on
UNITS, FEWEST_UNITS = 128, 4  # of an instance, at most and, if it has as many, at least
STEPS, LEARNING_RATE = 150, 0.01


@dataclass(frozen=True, eq=False)
class Relevance:
    """What a fitted explainer knows about relevance."""

    net: EdgeMaskNet  # its logits g_θ; an output row for each predicted class
    calibration: Calibration  # of 2 score + σ(g_θ)

    def __call__(self, scores: Tensor, logits: Tensor) -> Tensor:
        """[units] in (0, 1).

        Args:
            scores: [units] of the mask network.
            logits: g_θ [units].
        """
        return self.calibration(combined(scores, logits), torch.zeros_like(scores, dtype=torch.long))

    def state(self) -> dict[str, Tensor]:
        """Everything it consists of, by name."""
        cut = {"threshold": self.calibration.threshold, "scale": self.calibration.scale}
        return named("net", self.net.state_dict()) | named("calibration", cut)


def restored_relevance(state: dict[str, Tensor] | None, num_classes: int, config: RCConfig) -> Relevance | None:
    """What `Relevance.state` returned, as it was; None if the explainer had no second reading.

    Args:
        state: Its tensors; none: there was none.
        num_classes: C.
        config: The settings.

    Raises:
        RuntimeError: The weights are those of another network.
    """
    if not state:
        return None
    net = restored_net(part("net", state), 1, num_classes, config)
    cut = part("calibration", state)
    return Relevance(net, Calibration(cut["threshold"], cut["scale"]))


@dataclass(frozen=True, eq=False)
class _Lesson:
    """Some instances as the network reads them, and how much single units of theirs matter."""

    nodes: Tensor
    embedding: Tensor
    label: Tensor
    units: Units
    tried: Tensor  # [k] the units that were deleted
    size: Tensor  # [k] r
    scores: Tensor  # [k] of the mask network

    def logits(self, net: EdgeMaskNet) -> Tensor:
        """g_θ of the units that were tried."""
        all_of_them = net(self.nodes, self.embedding, self.label, self.units.pair, self.units.owner)
        return cast(Tensor, all_of_them.index_select(0, self.tried))


UnitScores = Callable[[Instances, Tensor], Tensor]  # (instances, predicted classes) → [units]


def no_scores(instances: Instances, labels: Tensor) -> Tensor:
    """Scores where none are needed."""
    return torch.zeros(len(instances.units), device=labels.device)


def has_relevance(config: RCConfig) -> bool:
    """Whether there is a second reading: the paper's own forms have none."""
    return config.network not in AS_THEY_ARE


@torch.no_grad()
def _lessons(
    data: InstanceSet, config: RCConfig, generator: torch.Generator, scores: UnitScores = no_scores
) -> list[_Lesson]:
    """Delete single units of a sample of the instances."""
    chosen = tried_instances(data.instances, generator)
    if not len(chosen):
        return []
    some = data.some(chosen.to(data.label.device))
    lessons: list[_Lesson] = []
    for ids in some.instances.chunks(some.instances.everything):
        these = some.instances.some(ids)
        batch, units = these[these.everything]
        tried = tried_units(these, len(chosen), generator)
        done = these.split.run(batch)
        size = relative_size(size_of_change(*single_deletions(these, tried)))
        inputs, label = node_inputs(done, batch, config.inputs), some.label[ids]
        own = scores(these, label).index_select(0, tried)
        lessons.append(_Lesson(inputs, done.embedding, label, units, tried, size.to(inputs.dtype), own))
    return [lesson for lesson in lessons if len(lesson.tried)]


def tried_instances(instances: Instances, generator: torch.Generator) -> Tensor:
    """A random sample of the instances, in their order: not too large each, and not too large together."""
    edges = instances.store.edge_ptr.diff().cpu()
    order = torch.randperm(len(edges), generator=generator)
    order = order[edges[order] <= LARGEST][:INSTANCES]
    return order[edges[order].cumsum(0) <= ALL_EDGES].sort().values


def tried_units(instances: Instances, number: int, generator: torch.Generator) -> Tensor:
    """A random sample of the units of each instance, as many as its share of all copied edges allows.

    Args:
        instances: The instances.
        number: How many instances there are in all.
        generator: Draws the units.
    """
    counts, edges = instances.units.counts, instances.store.edge_ptr.diff().to(instances.units.counts.device)
    most = (COPIED_EDGES // (number * edges.clamp_min(1))).clamp(FEWEST_UNITS, UNITS).minimum(counts)
    shuffled = torch.rand(len(instances.units), generator=generator).to(counts.device)
    order = torch.argsort(shuffled + instances.units.owner)  # instance after instance, in random order within each
    places, _ = gather_ranges(instances.units.ptr[:-1], instances.units.ptr[:-1] + most)
    return order[places].sort().values


def fit_relevance(
    training: InstanceSet,
    validation: InstanceSet,
    config: RCConfig,
    scores: UnitScores,
    seed: int,
    progress: bool = False,
) -> Relevance | None:
    """Train the relevance network on training instances, and calibrate it on validation instances.

    Args:
        training: The instances to learn from.
        validation: The instances on which the cut at ½ is chosen.
        config: The settings.
        scores: The scores of instances with these predicted classes.
        seed: Draws first weights, instances and units.
        progress: Whether to show a progress bar.

    Returns:
        None if the settings have no second reading, or no instance is small enough to try.
    """
    net = learn_relevance(training, config, seed, progress)
    if net is None:
        return None
    with torch.no_grad():
        held_out = _lessons(validation, config, torch.Generator().manual_seed(seed), scores)
        values = [combined(lesson.scores, lesson.logits(net)) for lesson in held_out]
        if not values:
            return Relevance(net, calibrate_relevance(training.embedding.new_empty(0), training.embedding.new_empty(0)))
        return Relevance(net, calibrate_relevance(torch.cat(values), torch.cat([one.size for one in held_out])))


def learn_relevance(training: InstanceSet, config: RCConfig, seed: int, progress: bool = False) -> EdgeMaskNet | None:
    """Train the relevance network.

    Args:
        training: The instances to learn from.
        config: The settings.
        seed: Draws first weights, instances and units.
        progress: Whether to show a progress bar.

    Returns:
        The network; None if the settings have no second reading, or no instance is small enough to try.
    """
    if not has_relevance(config):
        return None
    lessons = _lessons(training, config, torch.Generator().manual_seed(seed))
    if not lessons:
        log.warning("no relevance: all %d instances have more than %d edges", len(training), LARGEST)
        return None
    with seeded(seed):
        nodes = torch.cat([lesson.nodes for lesson in lessons])
        net = make_net(nodes, training.embedding, training.instances.split.num_classes, config)
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE, fused=True)
    for step in tqdm(range(STEPS), desc="relevance", unit="step", disable=not progress):
        lesson = lessons[step % len(lessons)]
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * cosine(step / STEPS)
        with torch.enable_grad():
            optimizer.zero_grad()
            relevance_loss(lesson.logits(net), lesson.size).backward()
        optimizer.step()
    return net.eval()
