"""Jobs without a result: those that raised, and those whose data or extra is missing.

`failures.json` of a results folder keeps why, so that its pages can say so without running anything. A job that has a
result since is no longer among them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rcexplainer.paper.job import Job, JobResult
from rcexplainer.saving.documents import write_document

FAILURES_FILE = "failures.json"
NAMED_IN_TABLES = ("network", "measure", "time", "explain")  # kinds whose tables know methods that are left out


@dataclass(frozen=True)
class Failed:
    """A job that raised; the others went on.

    Attributes:
        job: The job.
        error: What it raised.
    """

    job: Job
    error: str


@dataclass(frozen=True)
class Skipped(Failed):
    """A job whose data or extra is not there. It is tried again each time: what is missing may come."""


def with_skipped(results: Mapping[Job, JobResult], skipped: Iterable[Failed]) -> dict[Job, JobResult]:
    """Results with an entry for each skipped job, so that tables name what was left out.

    Args:
        results: Job → its result.
        skipped: The skipped jobs; one that has a result (of an earlier version, say) keeps it.

    Returns:
        The results, and `{"seed", "skipped": why}` for the others.
    """
    named = {one.job: one.error for one in skipped if one.job.kind in NAMED_IN_TABLES}
    return {**{job: {"seed": job.inputs.get("seed"), "skipped": why} for job, why in named.items()}, **results}


def write_failures(folder: Path, tried: Iterable[Job], failed: Sequence[Failed]) -> None:
    """Keep why jobs have no result.

    Args:
        folder: The results folder.
        tried: All jobs that were tried, or found done; what was kept of them before is forgotten.
        failed: Those of them that failed or were skipped.
    """
    known = _read(folder)
    forgotten = {job.digest for job in tried}
    kept = {digest: why for digest, why in known.items() if digest not in forgotten}
    kept |= {one.job.digest: {"error": one.error, "skipped": isinstance(one, Skipped)} for one in failed}
    if kept != known:
        write_document(folder / FAILURES_FILE, kept)


def read_failures(folder: Path, jobs: Iterable[Job]) -> tuple[tuple[Failed, ...], tuple[Skipped, ...]]:
    """Why some of these jobs have no result.

    Args:
        folder: The results folder.
        jobs: Jobs without a result.

    Returns:
        Those that failed, and those that were skipped.
    """
    known = _read(folder)
    ones = [(job, known[job.digest]) for job in jobs if job.digest in known]
    failed = tuple(Failed(job, str(why["error"])) for job, why in ones if not why["skipped"])
    return failed, tuple(Skipped(job, str(why["error"])) for job, why in ones if why["skipped"])


def _read(folder: Path) -> dict[str, dict[str, str | bool]]:
    """Digest → {"error", "skipped"}; nothing where there is no such file, or none that can be read."""
    try:
        found = json.loads((folder / FAILURES_FILE).read_text(encoding="utf-8"))
        return {str(digest): {"error": why["error"], "skipped": why["skipped"]} for digest, why in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
