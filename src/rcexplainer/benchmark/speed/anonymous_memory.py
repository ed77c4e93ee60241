"""How far the anonymous memory of this process grows: what it has allocated, without files that are mapped (Linux)."""

from pathlib import Path

from rcexplainer.benchmark.speed.watch import Watch

STATUS = Path("/proc/self/status")
INTERVAL = 0.02  # seconds between two looks


def anonymous_bytes() -> int:
    """Return the resident anonymous memory of this process."""
    for line in STATUS.read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"this system does not tell anonymous memory from mapped files (RssAnon in {STATUS})")


class AnonymousPeak(Watch):
    """The anonymous memory of this process while the `with` block runs.

    Attributes:
        before: Bytes when it began.
        grown: The peak in bytes above that.
    """

    def __init__(self) -> None:
        super().__init__(INTERVAL)
        self.before = anonymous_bytes()
        self.grown = 0

    @property
    def megabytes(self) -> float:
        """The peak itself, in MB."""
        return (self.before + self.grown) / 1e6

    def look(self) -> None:
        """Look once."""
        self.grown = max(self.grown, anonymous_bytes() - self.before)
