"""Jobs that take no time, and functions that do them. Worker processes import this file, so it imports little."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from rcexplainer.errors import MissingDataError, MissingExtraError
from rcexplainer.paper.job import Job
from rcexplainer.paper.store import Store

JOBS = [Job("toy", {"number": number}, f"toy-{number}") for number in range(3)]


def doubled(job: Job, networks: Path) -> dict[str, int]:
    return {"twice": 2 * job.inputs["number"]}


def deadly(job: Job, networks: Path) -> dict[str, int]:
    """Job 1 kills its process whenever it is tried, job 2 the first time."""
    number = job.inputs["number"]
    networks.mkdir(exist_ok=True)
    tried = networks / f"tried-{number}"
    if number == 1 or (number == 2 and not tried.exists()):
        tried.touch()
        os._exit(1)
    return doubled(job, networks)


def lacking(job: Job, networks: Path) -> dict[str, int]:
    """Job 0 has no data, job 1 lacks its extra."""
    if job.inputs["number"] == 0:
        raise MissingDataError("the set is not there")
    if job.inputs["number"] == 1:
        raise MissingExtraError("it is not installed")
    return doubled(job, networks)


def alone(job: Job, networks: Path) -> dict[str, bool]:
    """Whether a job of kind `time` saw another one running."""
    networks.mkdir(exist_ok=True)
    mark = networks / job.label
    mark.touch()
    time.sleep(0.1)
    seen = sorted(path.name for path in networks.iterdir())
    mark.unlink()
    return {"alone": seen == [job.label]}


def pack_and_die(folder: Path, step: int) -> None:
    """Pack, and die after this many of the steps that change a file."""
    left = [step]

    def counted(change: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*given: object, **named: object) -> object:
            if left[0] == 0:
                os._exit(1)
            left[0] -= 1
            return change(*given, **named)

        return wrapped

    for owner, name in ((Path, "replace"), (Path, "unlink"), (Path, "chmod"), (os, "fsync")):
        setattr(owner, name, counted(getattr(owner, name)))
    Store(folder).pack({"toys": JOBS})
