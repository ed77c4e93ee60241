"""A command as a process of its own: a new interpreter, or a copy of this one, which has imported what takes long."""

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Protocol

import torch_geometric  # noqa: F401  imported once, for all copies

import rcexplainer.cli


class Running(Protocol):
    """What is needed of a process."""

    pid: int

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its exit code."""


def new_interpreter(words: Sequence[str], folder: Path, said: IO[bytes]) -> Running:
    """Start `rcexplainer` as a user does, in a session of its own.

    Args:
        words: The words of the command line.
        folder: Where it is started.
        said: Where its messages go.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "rcexplainer", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=said,
        start_new_session=True,
    )


def copied_interpreter(words: Sequence[str], folder: Path, said: IO[bytes]) -> Running:
    """Start `rcexplainer` in a copy of this process, in a session of its own: seconds of imports are spared.

    Args:
        words: The words of the command line.
        folder: Where it is started.
        said: Where its messages go.
    """
    pid = os.fork()
    if pid:
        return _Copy(pid)
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 1)
        os.dup2(said.fileno(), 2)
        sys.argv = ["rcexplainer", *words]
        rcexplainer.cli.main()
    except SystemExit as end:
        code = int(end.code or 0)
    except KeyboardInterrupt:  # before or after the command
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        threading._shutdown()  # as an interpreter ends: pools first, then the rest
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _Copy:
    """A process that was made by `os.fork`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if ended else None
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(["rcexplainer"], timeout or 0.0)
            time.sleep(0.01)
        return code
