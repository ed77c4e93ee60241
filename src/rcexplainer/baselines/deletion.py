"""The floor and the references: random order, single-edge occlusion, greedy deletion.

    Random           a random number for every unit
    Occlusion        p(c | G) − p(c | G without u): how much each unit matters on its own
    GreedyDeletion   units in the order in which deleting them one after the other lowers p(c) most

c is the predicted class. None of them is trained: `fit` only looks at the model.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rcexplainer.baselines.chance import generators
from rcexplainer.core.search import greedy
from rcexplainer.core.segments import ranks
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.instances import Instances, single_effects
from rcexplainer.method.base import Method


class Random(Method):
    """The same numbers for the same graph, alone and in any batch: they follow from its edges and the seed."""

    def __init__(self, seed: int = 0, **common: Any) -> None:
        super().__init__(**common)
        self.seed = seed

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        units = instances.units
        draws = [
            random.random(count)
            for random, count in zip(generators(units, self.seed), units.counts.tolist(), strict=True)
        ]
        return torch.from_numpy(np.concatenate(draws)).to(units.owner.device, torch.float)


class Occlusion(Method):
    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return (single_effects(instances, labels) + 1) / 2  # a drop lies in [−1, 1], a score in [0, 1]


class GreedyDeletion(Method):
    """`depth`: the share of the units that is ordered; the others follow, by what they do on their own.

    `candidates`: of each instance only so many units are tried, the best on their own. Greedy deletion asks the model
    about every one of them at every step, so that large computation graphs would take for ever.
    """

    def __init__(self, depth: float = 0.3, candidates: int | None = None, **common: Any) -> None:
        super().__init__(**common)
        if not 0 < depth <= 1 or (candidates is not None and candidates < 1):
            raise RCExplainerError(f"a depth in (0, 1] and candidates ≥ 1 are needed, got {depth!r} and {candidates!r}")
        self.depth, self.candidates = depth, candidates

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
        # The first is 1, the second ½, …; what was not reached comes after the last of them.
        scores = (effect + 1) / 2 / (2 + steps[units.owner])
        place = torch.arange(order.size(1), device=order.device).expand_as(order)
        found = order >= 0
        scores[order[found]] = 1 / (1 + place[found].to(scores.dtype))
        return scores
