"""Concurrent requests in one run of the model: those that arrive within a few milliseconds are answered together.

A client that is alone does not wait for others: only after a batch of several does the next one wait for more.

The model is only ever run in one thread, so that requests never meet inside it.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

WAIT = 0.003  # seconds in which further requests may join a batch
MOST_TOGETHER = 64


class BusyError(Exception):
    """Too many requests wait already."""


class BatchQueue(Generic[Q, A]):
    """Collects questions and answers them together.

    Args:
        answer: Answers several questions at once, an error in the place of one that cannot be answered.
        executor: Runs `answer`; one thread.
        most_waiting: Questions that may wait; further ones are refused.
        wait: Seconds in which further questions may join the first, where the batch before had several.
        most_together: Questions in one call of `answer`.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Q]], Sequence[A | Exception]],
        executor: Executor,
        most_waiting: int,
        wait: float = WAIT,
        most_together: int = MOST_TOGETHER,
    ) -> None:
        self.answer, self.executor = answer, executor
        self.most_waiting, self.wait, self.most_together = most_waiting, wait, most_together
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._work: asyncio.Task[None] | None = None
        self._crowded = False  # the latest batch had several questions

    async def ask(self, question: Q) -> A:
        """Answer a question, together with others that arrive at the same time.

        Args:
            question: The question.

        Returns:
            Its answer.

        Raises:
            BusyError: Too many questions wait.
            Exception: What `answer` put in its place.
        """
        if len(self._waiting) >= self.most_waiting:
            raise BusyError("the server is busy: try again in a moment")
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._drain())
        return await future

    async def _drain(self) -> None:
        """Answer everything that waits, batch after batch."""
        await asyncio.sleep(self.wait if self._crowded else 0)
        while self._waiting:
            asked, self._waiting = self._waiting[: self.most_together], self._waiting[self.most_together :]
            asked = [one for one in asked if not one[1].done()]  # a client that left is not answered
            if not asked:
                continue
            self._crowded = len(asked) > 1
            questions = [question for question, _ in asked]
            answers: Sequence[A | Exception]
            try:
                answers = await asyncio.get_running_loop().run_in_executor(self.executor, self.answer, questions)
            except Exception as error:  # noqa: BLE001 - whatever a model raises must reach those who asked
                answers = [error] * len(asked)
            for (_, future), answer in zip(asked, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
