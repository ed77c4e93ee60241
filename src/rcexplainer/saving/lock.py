"""A lock between processes that the system releases when its holder dies, so that no stale one is ever left."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt

    def _take(file: BinaryIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Hold the lock of a file for the length of a block; nothing in the file changes.

    Args:
        path: A file that exists.

    Yields:
        Whether the lock is ours; False where another process has it, or the file system knows no locks.
    """
    with path.open("r+b") as file:
        try:
            _take(file)
        except OSError:
            yield False
        else:
            yield True  # closing the file releases it
