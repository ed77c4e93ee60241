"""A search as teacher: the order in which greedy deletion leaves the region, and the effect of each unit alone."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from rcexplainer.config import RCConfig
from rcexplainer.core.regions import Regions
from rcexplainer.core.search import greedy, prefer
from rcexplainer.core.segments import gather_ranges, ranks, split_by_cost
from rcexplainer.fit.data import InstanceSet, margin
from rcexplainer.gnn.effects import single_effects
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import Pass
from rcexplainer.saving.checkpoint import FitFile

log = logging.getLogger(__name__)

SEARCH_PAIRS = 1 << 20  # all single deletions of a graph are run at once: the square of its units is what that costs
DEPTH = 0.3  # how far the search deletes, as a share of the units
STEPS = 32  # and how many units at most
CANDIDATES = 8  # units among which it chooses: those with the largest effect when deleted alone
SEARCHED, SEARCHED_LEAST = 0.25, 256  # share of the instances that is searched, and at least how many
SEARCHED_UNITS = 1024  # units of an instance that is searched, at most
TOLERANCE = 0.01  # outside the region, units this close in probability are ordered by their effect alone


@dataclass(frozen=True)
class Lessons:
    """What a search found out about some instances."""

    order: Tensor  # π [n, K] positions within each instance in the order of deletion, −1 after the last one
    effect: Tensor  # e [units] the effect of deleting this unit alone
    taught: Tensor | None = None  # [n] the instances that were searched; None: all of them

    @classmethod
    def none(cls, data: InstanceSet) -> "Lessons":
        """No search was made."""
        units = data.instances.units
        return cls(units.owner.new_empty(len(data), 0), data.embedding.new_zeros(len(units)))

    @classmethod
    def joined(cls, parts: Sequence["Lessons"]) -> "Lessons":
        """The lessons of several sets, one after the other."""
        width = max(part.order.size(1) for part in parts)
        orders = [nn.functional.pad(part.order, (0, width - part.order.size(1)), value=-1) for part in parts]
        taught = None
        if any(part.taught is not None for part in parts):
            taught = torch.cat(
                [part.order.new_ones(len(part.order)).bool() if part.taught is None else part.taught for part in parts]
            )
        return cls(torch.cat(orders), torch.cat([part.effect for part in parts]), taught)


@dataclass(frozen=True)
class Goal:
    """Where a search leads: `distance(what `read` takes from the model, positions)` is the distance to it, [n],
    negative beyond."""

    read: Callable[[Pass], Tensor]
    distance: Callable[[Tensor, Tensor], Tensor]


def out_of_region(data: InstanceSet, regions: Regions, region: Tensor) -> Goal:
    """Across the nearest boundary of the instance's region."""
    return Goal(lambda done: done.embedding, lambda left, ids: regions.distances(left, region[ids]).amin(1))


def out_of_class(data: InstanceSet, regions: Regions, region: Tensor) -> Goal:
    """To where another class, or the target, has the larger logit; boundaries play no part."""
    split = data.instances.split
    return Goal(
        lambda done: split.log_probs(done.output),
        lambda left, ids: margin(left, data.label[ids], data.target[ids]),
    )


GOALS: dict[str, Callable[[InstanceSet, Regions, Tensor], Goal]] = {"region": out_of_region, "margin": out_of_class}


def teach(
    data: InstanceSet,
    regions: Regions,
    region: Tensor,
    config: RCConfig,
    file: FitFile,
    name: str,
    progress: bool = False,
) -> Lessons:
    """What a search teaches about these instances, if the settings use it; taken from the checkpoint where it is there.

    Args:
        data: The instances.
        regions: The decision regions.
        region: [n] the region of each instance.
        config: The settings.
        file: The checkpoint of the fit.
        name: Under which the lessons are kept there.
        progress: Whether to show a progress bar.
    """
    if not (config.weight_order or config.weight_effect):
        return Lessons.none(data)
    if (before := file.get(name)) is not None:
        return Lessons(**{key: value.to(data.label.device) for key, value in before[0].items()})
    searched = searched_instances(data.instances.units.counts.cpu())
    if not len(searched):
        log.warning("no search: all %d instances have more than %d edges", len(data), SEARCHED_UNITS)
        return replace(Lessons.none(data), taught=torch.zeros_like(data.label, dtype=torch.bool))
    lessons = search(data, GOALS[config.teacher](data, regions, region), progress, searched=searched)
    tensors = {"order": lessons.order, "effect": lessons.effect, "taught": lessons.taught}
    file.put(name, {key: value for key, value in tensors.items() if value is not None})
    return lessons


def searched_instances(counts: Tensor) -> Tensor:
    """[k] a random share of the instances, in ascending order: enough to guide a network that learns from outcomes.

    Deleting every unit of a large instance alone would cost the square of its size, so large ones are left out.

    Args:
        counts: [n] the units of each instance.
    """
    order = torch.randperm(len(counts), generator=torch.Generator().manual_seed(0))
    small = order[counts[order] <= SEARCHED_UNITS]
    return small[: max(SEARCHED_LEAST, int(SEARCHED * len(counts)))].sort().values


def search(
    data: InstanceSet,
    goal: Goal,
    progress: bool = False,
    tolerance: float = TOLERANCE,
    searched: Tensor | None = None,
) -> Lessons:
    """Greedy deletion towards the goal, batched over instances.

    Args:
        data: The instances.
        goal: Where the search leads.
        progress: Whether to show a progress bar.
        tolerance: Difference in probability up to which options count as tied.
        searched: [k] the instances to search, ascending; None: all of them.
    """
    instances, everything = data.instances, data.instances.everything
    chosen = everything if searched is None else searched.to(everything.device)
    lessons: list[Lessons] = []
    pieces = split_by_cost(chosen, instances.units.counts[chosen] ** 2, SEARCH_PAIRS)
    for ids in tqdm(pieces, desc="search", unit="batch", disable=not progress):
        part = instances.some(ids)
        ptr, owner = part.units.ptr, part.units.owner

        def distance(copies: Tensor, removed: Tensor, ids: Tensor = ids, part: Instances = part) -> Tensor:
            return goal.distance(part.without(copies, removed, goal.read), ids[copies])

        effect = single_effects(part, data.label[ids], data.target[ids])
        steps = (part.units.counts * DEPTH).ceil().long().clamp_max(STEPS)
        allowed = ranks(effect, owner, ptr) < CANDIDATES
        found = greedy(ptr, distance, allowed, steps, choose=prefer(effect, tolerance)).units
        lessons.append(Lessons(torch.where(found < 0, -1, found - ptr[:-1, None]), effect))
    made = Lessons.joined(lessons)
    if len(chosen) == len(data):
        return made
    rows, _ = gather_ranges(instances.units.ptr[chosen], instances.units.ptr[chosen + 1])
    order = made.order.new_full((len(data), made.order.size(1)), -1).index_copy(0, chosen, made.order)
    effect = made.effect.new_zeros(len(instances.units)).index_copy(0, rows, made.effect)
    return Lessons(order, effect, torch.zeros_like(everything, dtype=torch.bool).index_fill(0, chosen, True))
