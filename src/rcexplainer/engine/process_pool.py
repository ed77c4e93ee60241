"""Work in several processes, of which any may be killed: what it was doing is done again, and nothing else is lost."""

import os
import signal
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.context import BaseContext
from threading import Thread
from typing import Generic, TypeVar

from torch import cuda

Task = TypeVar("Task", bound=Hashable)
Outcome = TypeVar("Outcome")
TRIES = 2  # of a task alone, whose process is killed each time


@dataclass(frozen=True)
class Killed:
    """The outcome of a task whose process was killed each time.

    Attributes:
        tries: How often it was tried with no other task beside it.
    """

    tries: int = TRIES


@dataclass(frozen=True)
class ProcessPool(Generic[Task, Outcome]):
    """Processes that do one kind of work.

    Attributes:
        work: What is done with a task; it can be pickled.
        workers: Number of processes.
        preload: A module that holds all that the work needs: it is imported once, for all processes.
    """

    work: Callable[[Task], Outcome]
    workers: int
    preload: str

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome | Killed]]:
        """Do tasks.

        A killed process takes its whole pool down, and nobody knows which task it had. Tasks start in order, so it was
        one of the first that were lost: these are done alone, the others, which may not even have started, together
        again. A task is given up only after it was killed alone: the order in which processes die makes no difference.

        Args:
            tasks: The tasks, in the order in which they start.

        Yields:
            Each task and what came of it, as they are done. What the work raises is raised here.
        """
        # One thread each: small networks gain nothing from more, and processes would wait for each other.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        left = list(tasks)
        while left:
            lost: list[Task] = []
            yield from self._pooled(left, self.workers, lost)
            lost.sort(key=left.index)
            for task in lost[: self.workers]:
                yield from self._alone(task)
            left = lost[self.workers :]

    def _alone(self, task: Task) -> Iterator[tuple[Task, Outcome | Killed]]:
        for _ in range(TRIES):
            lost: list[Task] = []
            yield from self._pooled([task], 1, lost)
            if not lost:
                return
        yield task, Killed()

    def _pooled(self, tasks: Sequence[Task], workers: int, lost: list[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Outcomes of one pool of processes; tasks that went down with it are added to `lost`."""
        pool = ProcessPoolExecutor(
            min(workers, len(tasks)), mp_context=_context(self.preload), initializer=_end_with_others
        )
        try:
            waiting: dict[Future[Outcome], Task] = {}
            for place, task in enumerate(tasks):
                try:
                    waiting[pool.submit(self.work, task)] = task
                except BrokenProcessPool:  # the first tasks can kill it before the last are handed in
                    lost.extend(tasks[place:])
                    break
            for done in as_completed(waiting):
                try:
                    found = done.result()
                except BrokenProcessPool:
                    lost.append(waiting[done])
                else:
                    yield waiting[done], found
        except (KeyboardInterrupt, GeneratorExit):
            for process in list((pool._processes or {}).values()):
                process.kill()  # SIGTERM reaches this process alone, which would wait for them at its end
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # what is under way is not waited for


def _end_with_others() -> None:
    """In a process of the pool: end with the one that started it; left alone, it would wait for tasks forever.

    Ctrl-C ends it at once, too: as an exception it would be the outcome of one task, and the next would begin.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    def wait() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def _context(preload: str) -> BaseContext:
    """How processes start: where possible as copies of one that has imported torch, which takes seconds.

    Copies of a process cannot use CUDA once it was looked for, as importing PyG does: there each begins anew.
    """
    if "forkserver" not in get_all_start_methods() or cuda.is_available():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([preload])
    return context
