"""Ctrl-C and SIGTERM end a command alike: it writes what it has, says how to go on, and exits with 130 or 143."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

log = logging.getLogger(__name__)


INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM  # exit codes


@contextmanager
def terminations() -> Iterator[list[int]]:
    """Inside this context SIGTERM is a KeyboardInterrupt: whatever Ctrl-C does is done then, too.

    Yields:
        A list that gets the number of the signal when it comes.
    """
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield seen  # only the main thread can say what becomes of signals
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def said_when_interrupted(text: str) -> Iterator[None]:
    """Inside this context an interrupt is answered by a line that says how to go on.

    Args:
        text: The line; empty: none.
    """
    try:
        yield
    except KeyboardInterrupt:
        if text:
            log.warning("%s", text)
        raise
