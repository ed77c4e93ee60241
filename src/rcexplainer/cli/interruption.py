"""Ctrl-C and SIGTERM end a command alike: it writes what it has, says how to go on, and exits with 130 or 143."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

log = logging.getLogger(__name__)


class Termination(KeyboardInterrupt):
    """SIGTERM, as an exception: whatever an interrupt does is done then, too."""


@contextmanager
def terminations() -> Iterator[None]:
    """Inside this context SIGTERM is raised as `Termination` in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can say what becomes of signals
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Termination


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


def exit_code(error: BaseException) -> int:
    """The exit code of a command that was interrupted: 128 and the number of the signal.

    Args:
        error: What ended it; typer has an exception of its own, whose cause is the interrupt.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, Termination):
        cause = cause.__cause__
    return 128 + (signal.SIGINT if cause is None else signal.SIGTERM)
