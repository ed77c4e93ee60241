"""Memory and CPU time of a process and all its descendants, from /proc (Linux)."""

import os
from collections import defaultdict
from collections.abc import Iterator
from math import inf
from pathlib import Path
from time import time

from rcexplainer.benchmark.speed.watch import Watch

PROC = Path("/proc")
INTERVAL = 0.1  # seconds between two looks


class ProcessTree(Watch):
    """Watches a process and its descendants while the `with` block runs.

    Memory is anonymous memory, summed over the processes that live at the same time: what they have allocated, without
    mapped files and Ray's object store. CPU time is what each process had used when it was last seen.

    Attributes:
        peak_bytes: The largest memory that was seen.

    Args:
        root: Id of the process.
    """

    def __init__(self, root: int) -> None:
        super().__init__(INTERVAL)
        self.root, self.peak_bytes = root, 0
        self._used: dict[int, float] = {}
        self._series: list[tuple[float, float]] = []  # moments, and CPU time until then

    def cpu_seconds(self, moment: float = inf) -> float:
        """CPU time of all processes that were seen.

        Args:
            moment: Until then, in seconds of `time.time`.
        """
        return max((used for when, used in self._series if when <= moment), default=0.0)

    def look(self) -> None:
        """Look once."""
        living = list(descendants(self.root))
        self.peak_bytes = max(self.peak_bytes, sum(map(anonymous, living)))
        for process in living:
            self._used[process] = max(cpu_seconds(process), self._used.get(process, 0.0))
        self._series.append((time(), sum(self._used.values())))


def descendants(root: int) -> Iterator[int]:
    """A process and all that it started, directly or not.

    Args:
        root: Its id.
    """
    children: dict[int, list[int]] = defaultdict(list)
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            children[int(fields[1])].append(int(entry.name))
    found = [root]
    for one in found:  # grows as it is gone through
        found += children[one]
    yield from found


def cpu_seconds(process: int) -> float:
    """CPU time that a process has used; 0 if there is no such process."""
    fields = _fields(process)
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def anonymous(process: int) -> int:
    """Bytes of its resident anonymous memory; 0 if there is no such process."""
    try:
        lines = (PROC / str(process) / "status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    found = [line.split()[1] for line in lines if line.startswith("RssAnon:")]
    return int(found[0]) * 1024 if found else 0


def _fields(process: int) -> list[str]:
    """The fields of /proc/N/stat behind the name of the program, which may hold anything."""
    try:
        return (PROC / str(process) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
