"""The two readings of a unit that a scoring function may return.

    scores      does losing the unit change the answer? The counterfactual reading: evidence for the prediction is high
    relevance   does the unit matter at all, either way? Evidence against the prediction is as high as evidence for it

A method that has the first reading alone returns a plain tensor.
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class UnitReadings:
    """Both readings of the units of some instances.

    Attributes:
        scores: [units] in [0, 1], the counterfactual reading.
        relevance: [units] in [0, 1]; None if the method has no such reading.
    """

    scores: Tensor
    relevance: Tensor | None = None


def as_readings(found: Tensor | UnitReadings) -> UnitReadings:
    """What a scoring function returned, with both readings named.

    Args:
        found: Scores [units], or both readings.
    """
    return found if isinstance(found, UnitReadings) else UnitReadings(found)
