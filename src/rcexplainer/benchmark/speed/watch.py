"""Something that is looked at again and again, in a thread of its own, while a `with` block runs."""

import threading
from types import TracebackType
from typing import Self


class Watch:
    """Looks at the start, every `interval` seconds, and at the end: what is there then is never missed.

    Args:
        interval: Seconds between two looks.
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self.look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self.look()

    def look(self) -> None:
        """Look once; what is seen is kept by the class that says what that is."""
        raise NotImplementedError

    def _run(self) -> None:
        while not self._done.wait(self._interval):
            self.look()
