"""What a method costs on one network: seconds to fit, for one instance alone, and for each of many at once.

On one thread. One by one at least TIMED instances, and on while that takes less than TIMING seconds, up to OFTEN; then
all of them in a batch.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import torch

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.measures import NAN
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics.timing import summary

T = TypeVar("T")

TIMED, OFTEN, TIMING = 5, 50, 5.0


@dataclass(frozen=True)
class Timed:
    """What one method costs on one network."""

    method: str
    seed: int
    timed: int = 0  # instances explained alone, the first of them cold
    cold: float = NAN
    seconds: float = NAN  # one instance alone, median
    seconds_mean: float = NAN
    seconds_std: float = NAN
    seconds_p95: float = NAN
    batched: float = NAN  # each, all together
    batch: int = 0  # how many these were
    fit: float = NAN
    threads: int = 1
    skipped: str = ""  # why there is nothing


def clock(case: Case, name: str, *, most: int | None = None, progress: bool = True) -> Timed:
    """Fit one method and take its times, all on one thread; as `measure`, it raises where an extra is missing."""
    with one_thread():
        try:
            fitted, fit = clocked(partial(METHODS[name].fit, case, progress))
        except MissingExtraError:
            raise
        except RCExplainerError as error:
            return Timed(name, case.seed, skipped=str(error))
        return timed(case, name, fitted, fit, most)


def timed(case: Case, name: str, fitted: FittedExplainer, fit: float, most: int | None) -> Timed:
    """The times of a method whose fit took `fit` seconds: some instances alone, then `most` of them at once."""
    places = case.some(most)
    if not places:
        return Timed(name, case.seed, fit=fit, skipped="there is no held-out instance to explain")
    with one_thread():
        singles = _alone(case, fitted, places)
        shown, seconds = clocked(partial(case.explain, fitted, places, "none"))
    if not shown:
        return Timed(name, case.seed, fit=fit, skipped="it could explain none of the instances")
    times = summary(singles, seconds / len(places))
    return Timed(
        method=name,
        seed=case.seed,
        timed=times.graphs,
        cold=times.cold,
        seconds=times.median if times.graphs > 1 else times.cold,
        seconds_mean=times.mean,
        seconds_std=times.std,
        seconds_p95=times.p95,
        batched=times.batched,
        batch=len(places),
        fit=fit,
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """Times do not depend on how many cores are free; afterwards there are as many threads as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _alone(case: Case, fitted: FittedExplainer, places: Sequence[int]) -> list[float]:
    """Seconds for each of some instances by itself; the first warms up."""
    singles: list[float] = []
    for place in places[: OFTEN + 1]:
        if len(singles) > TIMED and sum(singles) > TIMING:
            break
        singles.append(clocked(partial(case.explain, fitted, [place], "none"))[1])
    return singles


def clocked(run: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and the seconds it took."""
    started = time.perf_counter()
    return run(), time.perf_counter() - started
