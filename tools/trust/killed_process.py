"""A process that is killed at a drawn moment, and how it ended."""

import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from command_process import Running, copied_interpreter, new_interpreter

KINDS = ("SIGKILL", "SIGKILL group", "SIGTERM", "SIGINT", "SIGINT group")  # a terminal sends Ctrl-C to the whole group
PATIENCE = 90.0  # seconds within which an interrupted process must have ended
EARLY = 0.1  # share of moments that are drawn before the first output
EARLY_SECONDS = 10.0  # within these an interpreter has imported what it needs, and begun
AT_ITS_END = 5.0  # seconds: a process that ends well so soon after an interrupt was done at that moment
ANSWERS = {"SIGTERM": 143, "SIGINT": 130, "SIGINT group": 130}
BEFORE_MAIN = {"SIGTERM": -signal.SIGTERM, "SIGINT": -signal.SIGINT, "SIGINT group": -signal.SIGINT}


@dataclass(frozen=True)
class Moment:
    """When and how a process is killed.

    Attributes:
        kind: One of `KINDS`.
        after_output: Whether seconds are counted from the first output rather than from the start.
        seconds: How long it is waited.
    """

    kind: str
    after_output: bool
    seconds: float

    @classmethod
    def drawn(cls, numbers: random.Random, working: float) -> "Moment":
        """Draw one.

        Args:
            numbers: Random numbers.
            working: Seconds from the first output of a run without interruption to its end.
        """
        kind, early = numbers.choice(KINDS), numbers.random() < EARLY
        # Sooner rather than later: what is started again has less to do, and would be done before most moments come.
        share = numbers.random() ** 2
        return cls(kind, not early, EARLY_SECONDS * numbers.random() if early else working * share)


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    Attributes:
        killed: Whether it was still running when the moment came.
        code: Its exit code.
        problem: What was wrong with how it ended; empty: nothing.
        startup: Seconds until its first output.
        seconds: How long it ran.
    """

    killed: bool
    code: int
    problem: str
    startup: float
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return asdict(self)


def run(words: Sequence[str], folder: Path, moment: Moment | None, most: float) -> Ending:
    """Run a command, and kill it when the moment comes.

    Before its first output it is killed as an interpreter of its own, which imports what it needs; later as a copy of
    this one.

    Args:
        words: The words after `rcexplainer`.
        folder: Where it is started.
        moment: When it is killed; None: never.
        most: Seconds after which it counts as hanging.
    """
    start = new_interpreter if moment is not None and not moment.after_output else copied_interpreter
    with tempfile.TemporaryFile() as said:
        started = time.monotonic()
        process = start(words, folder, said)
        try:
            startup, killed = _wait(process, said.fileno(), started, moment, most)
            sent = time.monotonic()
            if killed and moment is not None:
                _send(process, moment.kind)
            code = process.wait(PATIENCE if killed else 1)
            ignored = killed and code == 0 and time.monotonic() - sent > AT_ITS_END
            problem = "it went on although it was interrupted" if ignored else ""
        except subprocess.TimeoutExpired:
            startup, killed, code, problem = 0.0, False, -1, "it did not end in time"
        finally:
            _end(process)
        said.seek(0)
        text = said.read().decode(errors="replace")
        kind = moment.kind if killed and moment is not None else ""
        return Ending(killed, code, problem or _problem(kind, code, text), startup, time.monotonic() - started)


def _wait(process: Running, said: int, started: float, moment: Moment | None, most: float) -> tuple[float, bool]:
    """Until the process ends or the moment comes: seconds until its first output, and whether it is to be killed."""
    first: float | None = None
    while process.poll() is None:
        passed = time.monotonic() - started
        if first is None and os.fstat(said).st_size:
            first = passed
        since = passed if moment is None or not moment.after_output else passed - first if first is not None else -1.0
        if moment is not None and since >= moment.seconds:
            return first or passed, True
        if passed > most:
            raise subprocess.TimeoutExpired(["rcexplainer"], most)
        time.sleep(0.02)
    return first or time.monotonic() - started, False


def _send(process: Running, kind: str) -> None:
    number = getattr(signal, kind.removesuffix(" group"))
    with suppress(ProcessLookupError):  # it ended at that very moment
        (os.killpg if kind.endswith("group") else os.kill)(process.pid, number)


def _end(process: Running) -> None:
    """Nothing that it started is left, also where only the process itself was killed."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        process.poll()
        if time.monotonic() > deadline - 8:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return
        time.sleep(0.05)


def _problem(kind: str, code: int, text: str) -> str:
    """What was wrong with how a process ended."""
    last = " | ".join(text.replace("\r", "\n").strip().splitlines()[-3:])[-300:]
    if not kind:
        return "" if code == 0 else f"exit code {code}: {last}"
    if kind not in ANSWERS or code in (0, ANSWERS[kind], BEFORE_MAIN[kind]):
        return ""
    return f"exit code {code} after {kind}: {last}"
