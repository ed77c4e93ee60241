"""Two references that delete edges, and the random floor. None of them is trained.

    Random           a random number for every unit
    Occlusion        p(c | G) − p(c | G without u): the effect of each unit on its own; its size, either way, is a
                     second reading
    GreedyDeletion   units in the order in which deleting them, one after the other, lowers p(c) most

c is the predicted class.
"""

from typing import Unpack

import numpy as np
import torch
from torch import Tensor

from rcexplainer.baselines.random_numbers import generators
from rcexplainer.core.search import greedy
from rcexplainer.core.segments import ranks
from rcexplainer.gnn.effects import lost_probability, single_deletions, single_effects, size_of_change
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method
from rcexplainer.method.settings import CommonSettings, number, whole
from rcexplainer.method.unit_readings import UnitReadings


class Random(Method):
    """Random scores, which depend on the edges of the graph and the seed alone.

    Args:
        seed: Random seed.
        **common: `task`, `target_class`, `hops` and `connected`, as for every method.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    def __init__(self, seed: int = 0, **common: Unpack[CommonSettings]) -> None:
        super().__init__(**common)
        self.seed = whole("seed", seed, least=0)

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        units = instances.units
        draws = [
            random.random(count)
            for random, count in zip(generators(units, self.seed), units.counts.tolist(), strict=True)
        ]
        return torch.from_numpy(np.concatenate(draws)).to(units.owner.device, torch.float)


class Occlusion(Method):
    """The drop in p(c) when a unit alone is deleted; its relevance is the size of the change of all log-probabilities.

    Its settings are those of every method: `task`, `target_class`, `hops` and `connected`.
    """

    def scores(self, instances: Instances, labels: Tensor) -> UnitReadings:
        before, after = single_deletions(instances)
        drop = lost_probability(before, after, labels[instances.units.owner])
        size = size_of_change(before, after)
        return UnitReadings((drop + 1) / 2, size / (1 + size))  # a drop lies in [−1, 1], a score in [0, 1]


class GreedyDeletion(Method):
    """Greedy deletion: every step runs the model once for each candidate.

    Args:
        depth: Share of the units that is ordered; the others follow, ranked by their effect alone.
        candidates: How many units are tried, those with the largest effect alone; None: all, which is slow for large
            computation graphs.
        **common: `task`, `target_class`, `hops` and `connected`, as for every method.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    def __init__(self, depth: float = 0.3, candidates: int | None = None, **common: Unpack[CommonSettings]) -> None:
        super().__init__(**common)
        self.depth = number("depth", depth, lambda given: 0 < given <= 1, "a share of the units in (0, 1]")
        self.candidates = None if candidates is None else whole("candidates", candidates)

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        units = instances.units
        effect = single_effects(instances, labels)

        def confidence(instance: Tensor, removed: Tensor) -> Tensor:
            return instances.log_probs(instance, removed).gather(1, labels[instance, None]).squeeze(1)

        steps = (units.counts * self.depth).ceil().long()
        allowed = torch.ones(len(units), dtype=torch.bool, device=units.owner.device)
        if self.candidates is not None:
            allowed = ranks(effect, units.owner, units.ptr) < self.candidates
        order = greedy(units.ptr, confidence, allowed, steps).units
        # The first unit scores 1, the second ½, …; units that were not reached come after the last of them.
        scores = (effect + 1) / 2 / (2 + steps[units.owner])
        place = torch.arange(order.size(1), device=order.device).expand_as(order)
        found = order >= 0
        scores[order[found]] = 1 / (1 + place[found].to(scores.dtype))
        return scores
