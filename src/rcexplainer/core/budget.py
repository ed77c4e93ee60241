"""What a search may cost: model runs for each instance, or seconds.

    budget = 3000           a search runs at most 3,000 copies of each instance
    budget = Seconds(2.5)   refinement and search end after 2.5 s an instance; such a result cannot be repeated exactly
    budget = inf            no bound

A search asks before it runs copies (`Meter.granted`). What is not granted is not run: the search ends with the best it
has, and the instance is marked as exhausted. The clock is read between runs of copies, so a search may last one run
longer. What follows the search is not counted: the last word on its result and the checks that it holds alone.

A `Deadline` is a budget for a whole call, such as a request to a server: everything that runs the model ends with it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, isnan
from numbers import Integral, Real

import torch
from torch import Tensor

from rcexplainer.errors import RCExplainerError

MOST_RUNS = 2**40  # of a refinement: more than any takes, and they can be counted in whole numbers of 64 bits
DEFAULT_RUNS = 3000  # more than any search of a molecule needs; one around a hub ends there


@dataclass(frozen=True)
class Seconds:
    """A budget in seconds for each instance; several instances that are searched together share the sum of theirs.

    Results depend on the speed of the machine: for repeatable ones give a number of model runs.
    """

    seconds: float

    def __post_init__(self) -> None:
        real = isinstance(self.seconds, Real) and not isinstance(self.seconds, bool) and not isnan(self.seconds)
        if not real or self.seconds <= 0:
            raise RCExplainerError(f"Seconds takes a number above 0, got {self.seconds!r}")


@dataclass(frozen=True)
class Deadline:
    """A budget that ends at a moment of `time.monotonic()`, however many instances share the time.

    Attributes:
        search: When refinement and search end with the best they have.
        end: When runs of the model end: an instance that has no result by then gets a `TimeUpError`.
    """

    search: float
    end: float = inf


Budget = float | Seconds | Deadline | None  # None: DEFAULT_RUNS


def checked_budget(budget: Budget) -> float | Seconds | Deadline:
    """The budget, or the default.

    Raises:
        RCExplainerError: It is neither a whole number ≥ 1 nor infinite nor `Seconds`.
    """
    if budget is None:
        return DEFAULT_RUNS
    if isinstance(budget, Seconds | Deadline) or budget == inf:
        return budget
    if not isinstance(budget, Integral) or isinstance(budget, bool) or int(budget) < 1:
        raise RCExplainerError(
            "budget must be a whole number ≥ 1 (model runs for each instance), math.inf, or rc.Seconds(x), got "
            f"{budget!r}"
        )
    return int(budget)


def checked_runs(refine: int | None) -> int | None:
    """The model runs that each instance's ranking may cost, at most `MOST_RUNS`; None: none.

    Raises:
        RCExplainerError: It is not a whole number ≥ 1.
    """
    if refine is not None and (not isinstance(refine, Integral) or isinstance(refine, bool) or int(refine) < 1):
        raise RCExplainerError(
            "refine must be a whole number ≥ 1 (model runs for each instance), or None to leave the ranking as it is, "
            f"got {refine!r}"
        )
    return None if refine is None else min(int(refine), MOST_RUNS)


class Meter:
    """Counts the runs that a search has spent on each instance, and reads the clock.

    Args:
        number: n, the instances that are searched together.
        budget: What each of them may cost.
        device: Where the instances are.
    """

    def __init__(self, number: int, budget: float | Seconds | Deadline, device: torch.device) -> None:
        self.spent = torch.zeros(number, dtype=torch.long, device=device)
        self.late = torch.zeros(number, dtype=torch.bool, device=device)  # runs were refused because the time was up
        self._overspent = torch.zeros(number, dtype=torch.bool, device=device)
        self._limit = inf if isinstance(budget, Seconds | Deadline) else budget
        self._share = 1.0
        self._end = self._until = _end(budget, number)

    @property
    def timed(self) -> bool:
        """Whether the time is bounded."""
        return self._end < inf

    @property
    def exhausted(self) -> Tensor:
        """[n] bool; runs of the instance were refused."""
        return self._overspent | self.late

    def stage(self, runs: int) -> "Meter":
        """A meter for what comes before the search, with runs of its own and the time of this one.

        Args:
            runs: Model runs for each instance.

        Returns:
            A meter whose refusals for want of time count here too. Inside `share` it has that part of the time.
        """
        other = Meter(len(self.spent), runs, self.spent.device)
        other._end = other._until = self._until
        other.late = self.late
        return other

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Inside this context only a part of all runs, or of the time left, is granted: the rest is for later."""
        now = time.monotonic()
        self._share, self._until = part, now + part * (self._end - now)
        try:
            yield
        finally:
            self._share, self._until = 1.0, self._end

    def granted(self, instance: Tensor) -> Tensor:
        """Which copies may be run; those are counted as spent.

        Args:
            instance: [v] the instance of each copy, the copies of one instance next to each other.

        Returns:
            [v] bool.
        """
        asked = torch.bincount(instance, minlength=len(self.spent))
        limit = self._limit * self._share
        if time.monotonic() > self._until:
            self.late |= asked > 0
            return torch.zeros_like(instance, dtype=torch.bool)
        total = self.spent + asked
        if limit == inf or not bool((total > limit).any()):
            self.spent = total
            return torch.ones_like(instance, dtype=torch.bool)
        first = torch.ones_like(instance, dtype=torch.bool)
        first[1:] = instance[1:] != instance[:-1]
        here = torch.arange(len(instance), device=instance.device)
        begun = here[first][first.cumsum(0) - 1]  # where the copies of the same instance begin
        allowed = here - begun < (limit - self.spent)[instance]
        self._overspent |= (total > limit) & (asked > 0)
        self.spent = self.spent + torch.bincount(instance[allowed], minlength=len(self.spent))
        return allowed


def _end(budget: float | Seconds | Deadline, number: int) -> float:
    """The moment at which a search of this many instances, begun now, ends."""
    if isinstance(budget, Deadline):
        return budget.search
    return time.monotonic() + number * budget.seconds if isinstance(budget, Seconds) else inf
