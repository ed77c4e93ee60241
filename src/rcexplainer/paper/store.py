"""A folder that knows what is done: every job's result is one JSON file, named by what the job depends on.

    job = (kind, inputs)      digest = hash of both      file = runs/<kind>/<label>-<digest>.json

A changed input is another digest, so that it is run again, and only it. A file that is cut in half, or of another job,
counts as not there. Files are written whole or not at all: a full disk loses what is being written, nothing else.

A folder is of one profile, which `profile.json` names: its page, figures and report are of that profile alone.
"""

import hashlib
import json
import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.accuracy import versions
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import write_document

PROFILE = "profile.json"


@dataclass(frozen=True)
class Job:
    """One piece of work: a kind, and inputs that JSON can hold."""

    kind: str
    inputs: dict[str, Any]
    label: str  # for people: part of the file's name

    @property
    def digest(self) -> str:
        text = json.dumps([self.kind, self.inputs], sort_keys=True)  # raises on what has no text of its own
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def __hash__(self) -> int:
        return hash(self.digest)


class Store:
    """Results in `folder/runs`, trained networks in `folder/networks`."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise RCExplainerError(f"{folder} is a file: name a folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RCExplainerError(f"the folder {folder} cannot be made: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise RCExplainerError(f"the folder {folder} cannot be written, it is read-only: name another, or a copy")
        self.folder = folder

    @property
    def networks(self) -> Path:
        return self.folder / "networks"

    @property
    def profile(self) -> str | None:
        """The profile that the folder is of; None before the first run."""
        try:
            return str(json.loads((self.folder / PROFILE).read_text(encoding="utf-8"))["profile"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def claim(self, profile: str) -> None:
        """From now on the folder is of this profile."""
        own = self.profile
        if own is None:
            write_document(self.folder / PROFILE, {"profile": profile})
        elif own != profile:
            raise RCExplainerError(f"{self.folder} holds profile {own}: name another --out for profile {profile}")

    def path(self, job: Job) -> Path:
        return self.folder / "runs" / job.kind / f"{job.label}-{job.digest}.json"

    def get(self, job: Job) -> dict[str, Any] | None:
        """The result of the job, if it has one."""
        try:
            document = json.loads(self.path(job).read_text(encoding="utf-8"))
            return document["result"] if document["digest"] == job.digest else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, job: Job, result: dict[str, Any], seconds: float, **how: int) -> None:
        """`how` it ran: jobs at a time, threads."""
        document = {
            "kind": job.kind,
            "inputs": job.inputs,
            "digest": job.digest,
            "seconds": round(seconds, 2),
            "result": result,
            "about": {**about(), **how},
        }
        try:
            write_document(self.path(job), document)
        except OSError as error:
            raise RCExplainerError(
                f"the result of {job.label} could not be written ({error.strerror}); everything finished before is in "
                f"{self.folder}: make room and start again, it goes on from there"
            ) from error


def about() -> dict[str, Any]:
    """Where a number comes from: versions, machine, commit."""
    return {
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "commit": _commit(),
    }


def _commit(source: Path = Path(__file__).parents[2]) -> str | None:
    """The commit of the source, `+changes` if it was edited since; what $RCEXPLAINER_COMMIT says if it is a copy."""
    try:
        _git(source, "ls-files", "--error-unmatch", "__init__.py")  # not merely installed somewhere within a checkout
        commit = _git(source, "rev-parse", "--short", "HEAD")
        edited = _git(source, "status", "--porcelain", "--untracked-files=no", ".")
    except (OSError, subprocess.SubprocessError):
        return os.environ.get("RCEXPLAINER_COMMIT")
    return f"{commit}+changes" if edited else commit


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, timeout=5, check=True
    ).stdout.strip()
