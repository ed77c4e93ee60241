"""The runner of jobs: those without a result, in several processes, each result kept as soon as it is there."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from torch import get_num_threads
from tqdm.auto import tqdm

from rcexplainer.benchmark.networks import kept_weights
from rcexplainer.engine.process_pool import Killed, ProcessPool
from rcexplainer.errors import MissingDataError
from rcexplainer.paper.failures import Failed, Skipped
from rcexplainer.paper.job import Job, JobResult
from rcexplainer.paper.origin import origin
from rcexplainer.paper.store import Store

Work = Callable[[Job, Path], JobResult]  # a job and the folder of trained networks → its result
JobOutcome = JobResult | Failed
OTHER_WEIGHTS = "it ran on a network with other weights than the network's record has: run it again"
log = logging.getLogger(__name__)
KILLED = "its process was killed {tries} times, with no other job beside it: too little memory?"


@dataclass(frozen=True)
class FinishedJob:
    """What came of a job.

    Attributes:
        outcome: Its result, or why it has none.
        seconds: How long it took.
        threads: Torch's threads in the process it ran in.
    """

    outcome: JobOutcome
    seconds: float = 0.0
    threads: int = 1


def run_jobs(
    jobs: Sequence[Job],
    store: Store,
    work: Work,
    *,
    workers: int = 1,
    progress: bool = True,
    device: str | None = None,
) -> tuple[tuple[Failed, ...], tuple[Skipped, ...]]:
    """Run the jobs that have no result yet: networks first, since others need them; times last, one by one.

    A network whose weights are no longer in the folder is trained again where another job needs it; results on a
    network that has other weights now are run again.

    Args:
        jobs: The jobs; some may be done already.
        store: Where results are kept.
        work: What does a job.
        workers: Processes at a time; what is timed runs alone.
        progress: Whether a progress bar is shown.
        device: Where the work is done, to be kept beside the results; None: the CPU.

    Returns:
        The jobs that failed and those that were skipped; neither have a result.

    Raises:
        RCExplainerError: A result could not be written.
    """
    unique = list(dict.fromkeys(jobs))
    failed: list[Failed] = []
    skipped: list[Skipped] = []
    here = origin() | ({"device": device} if device else {})
    with (
        _said_when_interrupted(unique, store),
        tqdm(total=len(unique), desc="jobs", unit="job", disable=not progress) as bar,
    ):
        for stage, at_once in _stages(unique, store, workers):
            for job, ran in _results(stage, store, work, at_once):
                if isinstance(ran.outcome, Skipped):
                    skipped.append(ran.outcome)
                elif isinstance(ran.outcome, Failed):
                    failed.append(ran.outcome)
                else:
                    store.put(job, ran.outcome, ran.seconds, about=here, workers=at_once, threads=ran.threads)
                    if job not in store.records([job]):
                        failed.append(Failed(job, OTHER_WEIGHTS))
                bar.set_postfix_str(job.label)
                bar.update()
        bar.update(bar.total - bar.n)
    return tuple(failed), tuple(skipped)


@contextmanager
def _said_when_interrupted(jobs: Sequence[Job], store: Store) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        done = len(store.records(jobs))
        log.warning("%d of %d jobs are in %s: the same command goes on from there", done, len(jobs), store.folder)
        raise


def _stages(jobs: Sequence[Job], store: Store, workers: int) -> Iterator[tuple[list[Job], int]]:
    """Jobs that may run at the same time, and how many at a time. What is timed has no other job beside it."""
    yield missing_networks(jobs, store), workers
    others = [job for job in jobs if job.kind != "network"]
    done = store.records(others)  # only now: some networks may have got other weights
    todo = [job for job in others if job not in done]
    yield [job for job in todo if job.kind != "time"], workers
    yield [job for job in todo if job.kind == "time"], 1


def missing_networks(jobs: Sequence[Job], store: Store) -> list[Job]:
    """The networks that are to be trained: those without a record, and those that are needed and no longer kept.

    Args:
        jobs: Jobs of all kinds.
        store: Where results and networks are kept.

    Returns:
        Some of the jobs of kind `network`.
    """
    done = store.records(jobs)
    needed = {job.inputs["network"] for job in jobs if job not in done and "network" in job.inputs}
    kept = set(kept_weights(store.networks).values()) if needed else set()
    gone = [job for job in done if job.digest in needed and done[job].weights not in kept]
    if gone:
        log.warning(
            "%d networks are on record, but not in %s, and are trained again: %s. Where their weights come out "
            "different, all results on them are run again; to avoid it, copy the folder from where they were trained.",
            len(gone),
            store.networks,
            ", ".join(job.label for job in gone),
        )
    return [job for job in jobs if job.kind == "network" and (job not in done or job in gone)]


def _results(jobs: Sequence[Job], store: Store, work: Work, workers: int) -> Iterator[tuple[Job, FinishedJob]]:
    """Jobs and what came of them, as they are done."""
    if workers == 1 or len(jobs) < 2:
        for job in jobs:
            yield job, _timed(work, job, store.networks)
        return
    pool: ProcessPool[Job, FinishedJob] = ProcessPool(
        partial(_timed, work, networks=store.networks), workers, "rcexplainer.paper.job_work"
    )
    for job, found in pool.outcomes(jobs):
        yield job, FinishedJob(Failed(job, KILLED.format(tries=found.tries))) if isinstance(found, Killed) else found


def _timed(work: Work, job: Job, networks: Path) -> FinishedJob:
    started = time.perf_counter()
    outcome = _tried(work, job, networks)
    return FinishedJob(outcome, time.perf_counter() - started, get_num_threads())


def _tried(work: Work, job: Job, networks: Path) -> JobOutcome:
    try:
        return work(job, networks)
    except (MissingDataError, ImportError) as error:
        return Skipped(job, str(error))
    except Exception as error:  # noqa: BLE001  whatever it is, the other jobs go on
        return Failed(job, f"{type(error).__name__}: {error}")
