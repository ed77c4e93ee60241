"""What a counterfactual search looks for: copies of an instance, with units removed, that the model puts elsewhere.

    flip(copy)   argmax P(copy) ≠ source,   or   = target if there is one
    drop(copy)   log P(source | copy),      or   log P(source | copy) − log P(target | copy)

With a confidence c, the model must also be that sure of the other class, and searches go down to there:

    flip(copy)   as above, and max P(copy) ≥ c
    drop(copy)   − max over k ≠ source of log P(k | copy),      or   − log P(target | copy)
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import torch
from torch import Tensor

from rcexplainer.core.budget import Meter
from rcexplainer.core.search import Evaluate
from rcexplainer.core.segments import first_minimum, split_by_cost
from rcexplainer.errors import RCExplainerError

PIECE_UNITS = 1 << 21  # units of the copies that are made at a time
TIMED_UNITS = 1 << 15  # the same where time is short: the clock is read between pieces


@dataclass(frozen=True, eq=False)
class FlipQuery:
    """What is searched for: away from the class `source`, to any other class or to `target`.

    Attributes:
        ptr: [n + 1] where the units of each instance begin.
        log_probs: Gives log P [v, C] of v copies with units removed.
        source: [n] the predicted class of each instance.
        target: The class to reach; None for any class but `source`.
        max_share: The share of an instance's units that may be removed.
        before: log P [n, C] of the instances as they are; None: the model is run to find out.
        meter: Counts and bounds the runs of the search; None: no bound.
        confidence: The probability that the other class must have at least; None: it need only be the largest.
    """

    ptr: Tensor
    log_probs: Evaluate
    source: Tensor
    target: int | None = None
    max_share: float = 0.5
    before: Tensor | None = None
    meter: Meter | None = None
    confidence: float | None = None

    def start(self) -> Tensor:
        """log P [n, C] of the instances with nothing removed."""
        if self.before is not None:
            return self.before
        everyone = torch.arange(len(self.source), device=self.source.device)
        return self.log_probs(everyone, torch.zeros(int(self.ptr[-1]), dtype=torch.bool, device=self.ptr.device))

    def answers(self, instance: Tensor, removed: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """Run copies, as far as the budget goes.

        Args:
            instance: [v] the instance of each copy, the copies of one instance next to each other.
            removed: Positions of copies [k] → the units removed from these, copy after copy.

        Returns:
            The positions of the copies that were run [k], and log P [k, C].
        """
        rows = torch.arange(len(instance), device=instance.device)
        limit = TIMED_UNITS if self.meter is not None and self.meter.timed else PIECE_UNITS
        ran, found = [rows[:0]], list[Tensor]()
        for piece in split_by_cost(rows, self.ptr.diff()[instance], limit):
            allowed = piece if self.meter is None else piece[self.meter.granted(instance[piece])]
            if len(allowed):
                ran.append(allowed)
                found.append(self.log_probs(instance[allowed], removed(allowed)))
        nothing = torch.empty(0, 1 + (self.target or 0), device=rows.device)
        return torch.cat(ran), torch.cat(found) if found else nothing

    def flips(self, log_probs: Tensor, instance: Tensor) -> Tensor:
        """Which copies are of the class searched for.

        Args:
            log_probs: [v, C] of the copies.
            instance: [v] the instance of each copy.

        Returns:
            [v] bool; False where the model returned NaN.
        """
        return turned(log_probs, self.source[instance], self.target, self.confidence)

    def drop(self, log_probs: Tensor, instance: Tensor) -> Tensor:
        """How far the copies are from flipping; smaller is closer.

        Args:
            log_probs: [v, C] of the copies.
            instance: [v] the instance of each copy.

        Returns:
            [v] as at the top of this page; +∞ where the model returned NaN.
        """
        source = self.source[instance, None]
        if self.confidence is None:
            here = log_probs.gather(1, source).squeeze(1)
            value = here if self.target is None else here - log_probs[:, self.target]
        else:
            others = log_probs.scatter(1, source, -torch.inf)
            value = -(others.amax(1) if self.target is None else log_probs[:, self.target])
        return value.nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=-torch.inf)

    def max_units(self) -> Tensor:
        """[n] how many units of each instance may be removed: `max_share` of them, and at least one."""
        counts = self.ptr.diff()
        return torch.minimum((counts * self.max_share).floor().long().clamp_min(1), counts)


@dataclass(frozen=True, eq=False)
class Removal:
    """What a search returns for all instances.

    Attributes:
        removed: [units] bool.
        flipped: [n] bool, as seen by the search. It is no claim yet: only `verify` makes one.
        minimal: [n] bool; the search has run the model with each single unit put back, and none of these copies flips.
            None: it has not looked.
    """

    removed: Tensor
    flipped: Tensor
    minimal: Tensor | None = None


def turned(log_probs: Tensor, source: Tensor, target: int | None, confidence: float | None) -> Tensor:
    """Which copies are of the class searched for.

    Args:
        log_probs: [v, C] of the copies.
        source: [v] the class predicted for each instance as it is.
        target: The class to reach; None for any class but `source`.
        confidence: The probability that this class must have at least; None: it need only be the largest.

    Returns:
        [v] bool; False where the model returned NaN.
    """
    predicted = log_probs.argmax(1)
    found = predicted != source if target is None else predicted == target
    if confidence is not None:
        # As doubles: single precision would round the confidence, and results compare with the number itself.
        found = found & (log_probs.exp().double().amax(1) >= confidence)
    return found & ~log_probs.isnan().any(1)  # argmax takes NaN for the largest value


def checked_confidence(confidence: float | None, num_classes: int) -> float | None:
    """The confidence as a float, or None.

    Args:
        confidence: As it was given.
        num_classes: C.

    Raises:
        RCExplainerError: It is not a share between 1 / C, which the most probable class always has, and 1.
    """
    if confidence is None:
        return None
    if not isinstance(confidence, Real) or isinstance(confidence, bool) or not 1 / num_classes < confidence < 1:
        raise RCExplainerError(
            f"confidence must be a probability above {1 / num_classes:.3g} (what the most probable of {num_classes} "
            f"classes always has) and below 1, such as 0.8, or None, got {confidence!r}"
        )
    return float(confidence)


def first_best(flips: Tensor, value: Tensor, instance: Tensor, num_instances: int) -> Tensor:
    """[n] the position of each instance's best copy, −1 for none: flips first, then the smallest value, then the first.

    flips [v] bool, value [v], instance [v].
    """
    any_flip = torch.zeros(num_instances, dtype=torch.bool, device=flips.device)
    any_flip[instance[flips]] = True
    rivals = (flips == any_flip[instance]).nonzero().squeeze(1)  # where one flips, only flips compete
    best = first_minimum(value[rivals], instance[rivals], num_instances)
    found = best >= 0
    best[found] = rivals[best[found]]
    return best
