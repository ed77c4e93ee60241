"""A results folder as its profile reads it: what its pages, figures and tables are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rcexplainer.errors import RCExplainerError
from rcexplainer.paper.entries import PAPER_ENTRIES, plan
from rcexplainer.paper.failures import Failed, Skipped, read_failures, with_skipped
from rcexplainer.paper.job import Job, JobResult
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.record import Record
from rcexplainer.paper.store import PROFILE_FILE, Store
from rcexplainer.paper.verdicts import Verdict, verdicts


@dataclass(frozen=True, eq=False)
class ResultsFolder:
    """All results that the entries need, in the folder's own profile.

    Attributes:
        folder: Its path.
        profile: The profile's name.
        plans: All entries.
        records: Job → its record: its own, or the latest one of the same request.
        places: Digest → the file that has the record, relative to the folder.
        broken: Files that are there but cannot be read, or not to the end.
        failed: Jobs that failed.
        skipped: Jobs whose data or extra is missing.
    """

    folder: Path
    profile: str
    plans: tuple[EntryPlan, ...]
    records: Mapping[Job, Record]
    places: Mapping[str, str]
    broken: tuple[Path, ...]
    failed: tuple[Failed, ...]
    skipped: tuple[Skipped, ...]

    @cached_property
    def results(self) -> dict[Job, JobResult]:
        """What tables and figures are made of; skipped jobs say why."""
        shown = {job: record.shown_for(job) for job, record in self.records.items()}
        return with_skipped(shown, self.skipped)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All claims, and whether they hold."""
        return tuple(one for planned in self.plans for one in verdicts(planned, self.results))

    def done(self, planned: EntryPlan) -> list[Job]:
        """The jobs of an entry that have a result of their own."""
        return [job for job in planned.jobs if job in self.records and self.records[job].answers(job)]

    def progress(self, planned: EntryPlan) -> str:
        """How much of an entry is done, and what is shown from an earlier version, in a sentence."""
        text = f"{len(self.done(planned))} of {len(planned.jobs)} jobs are done"
        earlier = [job for job in planned.rows if job in self.records and not self.records[job].answers(job)]
        if not earlier:
            return f"{text}."
        versions = ", ".join(sorted({self.records[job].version for job in earlier}))
        retired = sum(job.retired for job in earlier)
        rest = f" ({retired} of them cannot be run again: their settings are gone)" if retired else ""
        count = "1 result is" if len(earlier) == 1 else f"{len(earlier)} results are"
        return f"{text}; {count} shown as of version {versions}{rest}."


def open_folder(folder: Path) -> ResultsFolder:
    """Read a folder that `reproduce` wrote.

    Args:
        folder: Its path.

    Returns:
        All that is known.

    Raises:
        RCExplainerError: It is not such a folder, or has no result that its profile asks for.
    """
    if not folder.exists():
        raise RCExplainerError(f"there is no folder {folder}: make it with `rcexplainer reproduce all --out {folder}`")
    if not folder.is_dir():
        raise RCExplainerError(f"{folder} is a file: name the folder that `rcexplainer reproduce` wrote")
    store = Store(folder)
    profile = store.profile
    if profile is None:
        raise RCExplainerError(
            f"{folder} is not a folder of results, it has no {PROFILE_FILE} that can be read: fill it with "
            f"`rcexplainer reproduce all --out {folder}`, which does not run again what is there"
        )
    found = read_folder(store, profile)
    if not found.records:
        count = len(list(store.runs.rglob("*.json"))) + len(store.archive.by_digest)
        raise RCExplainerError(
            f"none of the {count} results in {store.runs} is one that profile {profile} asks for: they are of another "
            "version; run `rcexplainer reproduce` again"
        )
    return found


def read_folder(store: Store, profile: str) -> ResultsFolder:
    """Read all results that the entries ask for.

    Args:
        store: The folder.
        profile: The profile it is read as.

    Returns:
        All that is known.
    """
    plans = tuple(plan(name, profile) for name in PAPER_ENTRIES)
    jobs = list(dict.fromkeys(job for planned in plans for job in planned.rows))
    own = store.records(jobs)
    earlier = store.earlier(job for job in jobs if job not in own)
    records = {job: record for job in jobs if (record := own.get(job) or earlier.get(job)) is not None}
    failed, skipped = read_failures(store.folder, [job for job in jobs if job not in own])
    broken = [path for job in jobs if job not in own and (path := store.path(job)).exists()]
    return ResultsFolder(
        store.folder,
        profile,
        plans,
        records,
        _places(store, list(records.values())),
        (*broken, *store.archive.broken),
        failed,
        skipped,
    )


def _places(store: Store, records: Sequence[Record]) -> dict[str, str]:
    """Where each record is: in a compact file, or in one of its own."""
    packed = store.archive.places
    paths = {one.digest: packed.get(one.digest, store.runs / one.kind / one.file_name) for one in records}
    return {digest: path.relative_to(store.folder).as_posix() for digest, path in paths.items()}
