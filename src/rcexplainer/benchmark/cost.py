"""What a method costs on one network: seconds to fit, for one instance alone, and for each of many in one call.

On one thread. At least ALONE_LEAST instances are explained alone, and more while that takes less than ALONE_SECONDS, up
to ALONE_MOST; then all of them in one call.
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

ALONE_LEAST, ALONE_MOST, ALONE_SECONDS = 5, 50, 5.0


@dataclass(frozen=True)
class Timed:
    """What one method costs on one network, in seconds."""

    method: str
    seed: int
    timed: int = 0  # instances explained alone, the first of them cold
    cold: float = NAN
    seconds: float = NAN  # one instance alone, median
    seconds_mean: float = NAN
    seconds_std: float = NAN
    seconds_p95: float = NAN
    batched: float = NAN  # per instance, all in one call
    batch: int = 0  # instances of this call
    fit: float = NAN
    threads: int = 1
    skipped: str = ""  # why there are no times


def clock(case: Case, name: str, *, most: int | None = None, progress: bool = True) -> Timed:
    """Fit one method and take its times, all on one thread.

    Args:
        case: The network and the instances.
        name: A method of `METHODS`.
        most: Instances explained in one call; None: all held-out ones.
        progress: Show a progress bar while fitting.

    Returns:
        The times, or the reason why the method cannot explain this network.

    Raises:
        MissingExtraError: The method needs a package that is not installed.
    """
    with one_thread():
        try:
            fitted, fit = clocked(partial(METHODS[name].fit, case, progress))
        except MissingExtraError:
            raise
        except RCExplainerError as error:
            return Timed(name, case.seed, skipped=str(error))
        return clock_fitted(case, name, fitted, fit, most)


def clock_fitted(case: Case, name: str, fitted: FittedExplainer, fit: float, most: int | None) -> Timed:
    """The times of a fitted method.

    Args:
        case: The network and the instances.
        name: The name of the method.
        fitted: The method.
        fit: Seconds that fitting took.
        most: Instances explained in one call; None: all held-out ones.
    """
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
    """One torch thread inside, so that times do not depend on idle cores; as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _alone(case: Case, fitted: FittedExplainer, places: Sequence[int]) -> list[float]:
    """Seconds for each of some instances alone; the first warms up."""
    singles: list[float] = []
    for place in places[: ALONE_MOST + 1]:
        if len(singles) > ALONE_LEAST and sum(singles) > ALONE_SECONDS:
            break
        singles.append(clocked(partial(case.explain, fitted, [place], "none"))[1])
    return singles


def clocked(run: Callable[[], T]) -> tuple[T, float]:
    """The result of a function, and the seconds it took."""
    started = time.perf_counter()
    return run(), time.perf_counter() - started


def milliseconds(seconds: float) -> str:
    """Seconds as a short text in milliseconds; – for nan."""
    return "–" if seconds != seconds else f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"
