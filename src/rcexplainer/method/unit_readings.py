"""What a scoring function may return: one or two readings of every unit, and a plan of deletions.

    scores      does losing the unit change the answer? The counterfactual reading: evidence for the prediction is high
    relevance   does the unit matter at all, either way? Evidence against the prediction is as high as evidence for it

A method that has the first reading alone returns a plain tensor. Units are deleted in the order of the scores, unless
there is a plan, which knows at every step what is gone.
"""

from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from rcexplainer.core.deletion_plan import DeletionPlan


@dataclass(frozen=True, eq=False)
class UnitReadings:
    """The readings of the units of some instances.

    Attributes:
        scores: [units] in [0, 1], the counterfactual reading.
        relevance: [units] in [0, 1]; None if the method has no such reading.
        plan: Deletions one after the other; None: in the order of the scores.
        path: [n, steps] units that the plan begins with, −1 after the last; None: it chooses all of them.
    """

    scores: Tensor
    relevance: Tensor | None = None
    plan: DeletionPlan | None = None
    path: Tensor | None = None

    @cached_property
    def order(self) -> Tensor | None:
        """[units] the place of each unit in the order of deletion; None: by the scores."""
        return None if self.plan is None else self.plan.order(self.path)

    @property
    def rankings(self) -> tuple[Tensor, ...]:
        """Each [units], the first to delete has the highest value; the order of the plan comes before the scores'."""
        return (self.scores,) if self.order is None else (-self.order.double(), self.scores)


def as_readings(found: Tensor | UnitReadings) -> UnitReadings:
    """What a scoring function returned, with both readings named.

    Args:
        found: Scores [units], or both readings.
    """
    return found if isinstance(found, UnitReadings) else UnitReadings(found)
