"""The engine of one machine: parts go through threads that share an explainer, or through several processes.

With one worker, a part is read and another one written while a third is explained. With several, each is a process that
loads the explainer once and uses one core; one that is killed costs the part it was at, which is explained again.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial

from rcexplainer.engine.process_pool import Killed, ProcessPool
from rcexplainer.engine.table_job import PartReport, PartWorker, TableJob, explain_part
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer

AT_ONCE = 3  # parts in memory with one worker: read, explained, written


def default_workers(fitted: FittedExplainer) -> int:
    """Processes to use: one for a GPU, else one for each core that this process may use."""
    if fitted.device is not None and fitted.device.type != "cpu":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def explain_parts(
    job: TableJob, parts: Sequence[int], fitted: FittedExplainer, workers: int
) -> Iterator[PartReport | RCExplainerError]:
    """Explain parts of a job.

    Args:
        job: The job.
        parts: Numbers of the parts.
        fitted: Its explainer, for work in this process.
        workers: Number of processes.

    Yields:
        What came of each part, as they are done; an error for one that could not be read or written.
    """
    if workers == 1 or len(parts) < 2:
        yield from _threaded(PartWorker(job, fitted), parts)
        return
    pool: ProcessPool[int, PartReport | RCExplainerError] = ProcessPool(
        partial(tried, job), min(workers, len(parts)), "rcexplainer.engine.table_job"
    )
    for part, found in pool.outcomes(parts):
        if isinstance(found, Killed):
            first, end = job.rows_of(part)
            yield RCExplainerError(
                f"the process that explained rows {first} to {end - 1} was killed {found.tries} times with no other "
                "beside it: too little memory? The same command with --part-rows 1024 and another --out needs less"
            )
        else:
            yield found


def tried(job: TableJob, part: int) -> PartReport | RCExplainerError:
    """Explain a part; an error that concerns it alone is its outcome."""
    try:
        return explain_part(job, part)
    except RCExplainerError as error:
        return error


def _threaded(worker: PartWorker, parts: Sequence[int]) -> Iterator[PartReport | RCExplainerError]:
    """Parts in order through a few threads; no more are begun than are in memory."""
    left, waiting = iter(parts), set[Future[PartReport | RCExplainerError]]()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            while True:
                while len(waiting) < AT_ONCE and (part := next(left, None)) is not None:
                    waiting.add(pool.submit(_reported, worker, part))
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for one in done:
                    yield one.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _reported(worker: PartWorker, part: int) -> PartReport | RCExplainerError:
    try:
        return worker(part)
    except RCExplainerError as error:
        return error
