"""Running jobs: those without a result, in several processes, each result kept as soon as it is there."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from rcexplainer.experiments.reproduce.store import Job, Store

Work = Callable[[Job, Path], dict[str, Any]]  # a job and the folder of trained networks → its result


@dataclass(frozen=True)
class Failed:
    """A job that raised; the others went on."""

    job: Job
    error: str


def run_jobs(
    jobs: Sequence[Job], store: Store, work: Work, *, workers: int = 1, progress: bool = True
) -> tuple[Failed, ...]:
    """Run what is not done yet: networks before what needs them, and what takes times at last, one by one."""
    unique = list(dict.fromkeys(jobs))
    failed: list[Failed] = []
    with tqdm(total=len(unique), desc="jobs", unit="job", disable=not progress) as bar:
        todo = [job for job in unique if store.get(job) is None]
        bar.update(len(unique) - len(todo))
        for stage, at_once in _stages(todo, workers):
            for job, result, seconds in _results(stage, store, work, at_once):
                if isinstance(result, str):
                    failed.append(Failed(job, result))
                else:
                    store.put(job, result, seconds, at_once)
                bar.set_postfix_str(job.label)
                bar.update()
    return tuple(failed)


def _stages(jobs: Sequence[Job], workers: int) -> list[tuple[list[Job], int]]:
    """Jobs that may run at the same time, and how many at a time. Beside other jobs a clock would measure these too."""
    kinds: tuple[Callable[[str], bool], ...] = (
        lambda kind: kind == "network",
        lambda kind: kind not in ("network", "time"),
        lambda kind: kind == "time",
    )
    stages = [[job for job in jobs if of_kind(job.kind)] for of_kind in kinds]
    return list(zip(stages, (workers, workers, 1), strict=True))


def _results(
    jobs: Sequence[Job], store: Store, work: Work, workers: int
) -> Iterator[tuple[Job, dict[str, Any] | str, float]]:
    """(job, result or what was wrong, seconds), as they are done."""
    if workers == 1 or len(jobs) < 2:
        for job in jobs:
            yield (job, *_timed(work, job, store.networks))
        return
    # One thread each: small networks gain nothing from more, and processes would wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    left = list(jobs)
    # A process that is killed takes its whole pool with it, and nobody knows which job it was: all that was lost is
    # tried once more together, and then one by one, so that only the job itself is left behind.
    for _ in range(2):
        lost: list[Job] = []
        yield from _pooled(left, store, work, workers, lost)
        left = lost
    for job in left:
        again: list[Job] = []
        yield from _pooled([job], store, work, 1, again)
        if again:
            yield job, "its process was killed, each time it was tried: too little memory?", 0.0


def _pooled(
    jobs: Sequence[Job], store: Store, work: Work, workers: int, lost: list[Job]
) -> Iterator[tuple[Job, dict[str, Any] | str, float]]:
    """What is done in one pool of processes; what went down with it is added to `lost`."""
    if not jobs:
        return
    pool = ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn"))
    try:
        waiting = {pool.submit(_timed, work, job, store.networks): job for job in jobs}
        for done in as_completed(waiting):
            try:
                found = done.result()
            except BrokenProcessPool:
                lost.append(waiting[done])
            else:
                yield (waiting[done], *found)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # what is under way when something is wrong is not waited for


def _timed(work: Work, job: Job, networks: Path) -> tuple[dict[str, Any] | str, float]:
    started = time.perf_counter()
    try:
        return work(job, networks), time.perf_counter() - started
    except Exception as error:  # noqa: BLE001  whatever it is, the other jobs go on
        return f"{type(error).__name__}: {error}", time.perf_counter() - started
