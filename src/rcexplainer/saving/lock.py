"""A lock between processes that the system releases when its holder dies, so that no stale one is ever left."""

import os
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


@contextmanager
def claimed(path: Path) -> Iterator[bool]:
    """Hold a file that is written anew again and again, for the length of a block, by a lock file beside it.

    Args:
        path: The file; it need not exist, its folder is made where needed.

    Yields:
        Whether it is ours; True, too, where the file system knows no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    with _locked(lock) as file:
        try:
            yield file is not None
        finally:
            if file is not None:
                lock.unlink(missing_ok=True)  # before it is given free: whoever waits for it makes a new one


@contextmanager
def _locked(lock: Path) -> Iterator[BinaryIO | None]:
    """The lock file, open and ours; None where another process has it."""
    while True:
        with lock.open("a+b") as file:
            try:
                _take(file)
            except (BlockingIOError, PermissionError):  # the latter on Windows
                yield None
                return
            except OSError:
                pass  # no locks here: better to go on without
            # Its last holder may have deleted it between our opening and locking it.
            if lock.exists() and os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                yield file
                return
