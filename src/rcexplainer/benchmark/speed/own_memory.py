"""Memory of this process beside the files it has mapped: the anonymous part of what is resident (`RssAnon`, Linux)."""

import threading
from pathlib import Path
from types import TracebackType

INTERVAL = 0.01  # seconds between two looks


def anonymous_megabytes() -> float:
    """Resident memory that belongs to no file, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError("this system does not tell anonymous memory from mapped files (RssAnon in /proc/self/status)")


class AnonymousPeak:
    """`with AnonymousPeak() as peak: …`, then `peak.megabytes`: the most that was seen, looking every 10 ms."""

    def __init__(self) -> None:
        self.megabytes = anonymous_megabytes()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            self.megabytes = max(self.megabytes, anonymous_megabytes())

    def __enter__(self) -> "AnonymousPeak":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self.megabytes = max(self.megabytes, anonymous_megabytes())
