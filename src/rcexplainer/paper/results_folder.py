"""A results folder as its profile reads it: what its pages, figures and tables are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rcexplainer.errors import RCExplainerError
from rcexplainer.paper.entries import PAPER_ENTRIES, headline, plan, tables
from rcexplainer.paper.failures import Failed, Skipped, read_failures, with_skipped
from rcexplainer.paper.job import Job, JobResult
from rcexplainer.paper.origin import mixture, unproven
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.record import Record, as_of
from rcexplainer.paper.store import PROFILE_FILE, Store
from rcexplainer.paper.table import Table
from rcexplainer.paper.verdicts import Verdict, verdicts


@dataclass(frozen=True, eq=False)
class ResultsFolder:
    """All results that the entries need, in the folder's own profile.

    Attributes:
        folder: Its path.
        profile: The profile's name.
        plans: All entries.
        records: Job → its record: its own, or the latest one of the same request.
        weights: Digest of a network → hash of its weights, as its own record has them.
        places: Digest → the file that has the record, relative to the folder.
        broken: Files that are there but cannot be read, or not to the end.
        failed: Jobs that failed.
        skipped: Jobs whose data or extra is missing.
    """

    folder: Path
    profile: str
    plans: tuple[EntryPlan, ...]
    records: Mapping[Job, Record]
    weights: Mapping[str, str]
    places: Mapping[str, str]
    broken: tuple[Path, ...]
    failed: tuple[Failed, ...]
    skipped: tuple[Skipped, ...]

    @cached_property
    def results(self) -> dict[Job, JobResult]:
        """What tables and figures are made of; skipped jobs say why."""
        shown = {job: record.shown_for(job, self._weights(job)) for job, record in self.records.items()}
        return with_skipped(shown, self.skipped)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All claims, and whether they hold."""
        return tuple(one for planned in self.plans for one in verdicts(planned, self.results))

    def done(self, planned: EntryPlan) -> list[Job]:
        """The jobs of an entry that have a result of their own."""
        return [job for job in planned.jobs if job in self.records and self._answered(job)]

    def shown(self, planned: EntryPlan) -> list[Record]:
        """The records that the tables of an entry are made of."""
        return [self.records[job] for job in planned.rows if job in self.records]

    def progress(self, planned: EntryPlan) -> str:
        """How much of an entry is done, and what is shown from an earlier version, in a sentence."""
        text = f"{len(self.done(planned))} of {len(planned.jobs)} jobs are done"
        earlier = [job for job in planned.rows if job in self.records and not self._answered(job)]
        if not earlier:
            return f"{text}."
        versions = as_of(self.records[job].shown_for(job, self._weights(job)) for job in earlier)
        count = "1 result is" if len(earlier) == 1 else f"{len(earlier)} results are"
        return f"{text}; {count} shown as of version {versions}."

    def origin_notes(self, planned: EntryPlan) -> tuple[str, ...]:
        """What a reader must know about where the results of an entry come from: mixed origins, missing proofs."""
        records = self.shown(planned)
        return tuple(filter(None, (unproven(records), mixture(records))))

    @cached_property
    def folder_notes(self) -> tuple[str, ...]:
        """The same about all results that are shown."""
        records = list({one.digest: one for one in self.records.values()}.values())
        return tuple(filter(None, (unproven(records), mixture(records))))

    def tables(self, planned: EntryPlan) -> list[Table]:
        """The tables of an entry, each with the notes on where its results come from."""
        return [self._noted(planned, table) for table in tables(planned, self.results)]

    def headline(self, planned: EntryPlan) -> Table | None:
        """The table of an entry for the front page, with the same notes; None without results."""
        found = headline(planned, self.results)
        return None if found is None else self._noted(planned, found)

    def _noted(self, planned: EntryPlan, table: Table) -> Table:
        return replace(table, notes=(*table.notes, *self.origin_notes(planned)))

    def _weights(self, job: Job) -> str | None:
        return self.weights.get(job.inputs.get("network", ""))

    def _answered(self, job: Job) -> bool:
        return self.records[job].answers(job, self._weights(job))


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
        store.network_weights(jobs),
        _places(store, list(records.values())),
        (*broken, *store.archive.broken),
        failed,
        skipped,
    )


def _places(store: Store, records: Sequence[Record]) -> dict[str, str]:
    """Where each record is: in a compact file, or in one of its own."""
    packed = store.archive.places
    loose = {one.digest: store.runs / one.kind / one.file_name for one in records}
    paths = {digest: path if path.exists() else packed.get(digest, path) for digest, path in loose.items()}
    return {digest: path.relative_to(store.folder).as_posix() for digest, path in paths.items()}
