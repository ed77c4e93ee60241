"""What a plan says after every deletion of some sequences, and how probable these are.

    P(u_t | u_1, …, u_{t−1}) = softmax over the units left of sharpness · f(· | u_1, …, u_{t−1})

with f of `core.deletion_plan`. Every sequence deletes from a copy of its own; several may be of one instance.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from rcexplainer.core.deletion_plan import DeletionPlan
from rcexplainer.core.plackett_luce import FLOOR, log_softmax
from rcexplainer.core.segments import gather_ranges, owners


@dataclass(frozen=True, eq=False)
class Sequences:
    """Units of instances in the order of their deletion, sequence after sequence.

    Attributes:
        units: [Σ lengths].
        lengths: [s].
        instance: [s] the instance of each sequence; several may be of one.
    """

    units: Tensor
    lengths: Tensor
    instance: Tensor

    @cached_property
    def owner(self) -> Tensor:
        """[Σ lengths] the sequence of each unit."""
        return torch.arange(len(self.lengths), device=self.units.device).repeat_interleave(self.lengths)

    def summed(self, values: Tensor) -> Tensor:
        """The sum of the values [Σ lengths] of each sequence, [s]."""
        return values.new_zeros(len(self.lengths)).index_add(0, self.owner, values)


@dataclass(frozen=True, eq=False)
class Course:
    """What a plan says after every deletion of some sequences.

    Attributes:
        plan: The plan.
        drawn: The sequences.
        logits: f(u | D) [Σ units], copy after copy of the instances, one for every deletion of every sequence.
        ptr: [Σ lengths + 1] where the units of each copy begin.
        gone: Positions in `logits` of the units that are gone from their copy.
    """

    plan: DeletionPlan
    drawn: Sequences
    logits: Tensor
    ptr: Tensor
    gone: Tensor

    @classmethod
    def of(cls, plan: DeletionPlan, drawn: Sequences) -> "Course":
        """Delete the units of the sequences one after the other."""
        units, sequence = drawn.units, drawn.owner
        start = (drawn.lengths.cumsum(0) - drawn.lengths)[sequence]
        instance = drawn.instance[sequence]  # one copy for each deletion: its instance without what is gone by then
        index, copy = gather_ranges(plan.ptr[instance], plan.ptr[instance + 1])
        before, own = gather_ranges(start, torch.arange(1, len(units) + 1, device=units.device))
        ptr = torch.cat([plan.ptr[:1], plan.ptr.diff()[instance].cumsum(0)])
        gone = units[before] + (ptr[:-1] - plan.ptr[instance])[own]
        return cls(plan, drawn, plan.expanded(instance, index, copy, gone), ptr, gone)

    def log_likelihood(self, sharpness: float) -> Tensor:
        """log P(u_t | u_1, …, u_{t−1}) of every unit of the sequences, P = softmax of sharpness · f(· | D).

        Args:
            sharpness: As they were drawn.

        Returns:
            [Σ lengths].
        """
        plan, drawn = self.plan, self.drawn
        # Nothing is gone before the first unit, whichever sequence it begins: its instance is looked at once.
        first = log_softmax(sharpness * plan.alone, owners(plan.ptr), len(plan.ptr) - 1).index_select(0, drawn.units)
        left = log_softmax(
            (sharpness * self.logits).index_fill(0, self.gone, FLOOR), owners(self.ptr), len(drawn.units)
        )
        # Each of the others was drawn from the copy that the unit before it has left.
        sequence = drawn.owner
        later = (sequence[1:] == sequence[:-1]).nonzero().squeeze(1) + 1
        place = self.ptr[later - 1] + drawn.units[later] - plan.ptr[drawn.instance[sequence[later]]]
        return first.index_copy(0, later, left.index_select(0, place))

    def after_last(self) -> tuple[Tensor, Tensor]:
        """f(u | D) of all units of every sequence's instance after its last deletion, and which of them are gone.

        Returns:
            [Σ units], sequence after sequence; boolean, the same.
        """
        plan, lengths = self.plan, self.drawn.lengths
        copy = (lengths.cumsum(0) - 1).clamp_min(0)
        start = torch.where(lengths > 0, len(plan.alone) + self.ptr[copy], plan.ptr[self.drawn.instance])
        index, _ = gather_ranges(start, start + plan.ptr.diff()[self.drawn.instance])
        logits = torch.cat([plan.alone, self.logits])
        gone = torch.zeros(len(logits), dtype=torch.bool, device=index.device)
        gone[len(plan.alone) + self.gone] = True
        return logits.index_select(0, index), gone[index]
