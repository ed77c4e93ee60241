"""How far the anonymous memory of this process grows: what it has allocated, without files that are mapped (Linux)."""

import threading
from pathlib import Path
from types import TracebackType

STATUS = Path("/proc/self/status")
INTERVAL = 0.02  # seconds between two looks


def anonymous_bytes() -> int:
    """Return the resident anonymous memory of this process."""
    for line in STATUS.read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"this system does not tell anonymous memory from mapped files (RssAnon in {STATUS})")


class AnonymousPeak:
    """Watches this process while the `with` block runs; `grown` is then the peak in bytes above where it began."""

    def __init__(self) -> None:
        self.grown = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "AnonymousPeak":
        self._before = anonymous_bytes()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._look()  # what is there at the end is never missed

    @property
    def megabytes(self) -> float:
        """The peak itself, in MB."""
        return (self._before + self.grown) / 1e6

    def _watch(self) -> None:
        self._look()
        while not self._done.wait(INTERVAL):
            self._look()

    def _look(self) -> None:
        self.grown = max(self.grown, anonymous_bytes() - self._before)
