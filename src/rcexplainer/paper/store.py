"""A folder of results that knows what is done.

    profile.json                        the profile the folder is of: its pages and figures are of that one alone
    runs/<kind>/<label>-<digest>.json   a job that has just run: one file each, whole or not there
    runs/<entry>.jsonl.gz               the jobs of finished entries (`packs`)
    networks/                           trained networks

A changed input is another digest, so that it is run again, and only it. A file that is cut in half, damaged (it has a
checksum), or of another job counts as not there; so does a result on a network whose own record has other weights
(`record`). A full disk loses what is being written, nothing else.
"""

import json
import os
from collections.abc import Iterable, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.networks import kept_weights
from rcexplainer.errors import RCExplainerError
from rcexplainer.paper.job import Job, JobResult
from rcexplainer.paper.origin import origin
from rcexplainer.paper.packs import SUFFIX, PackedRows, drop, pack, read_archive, signature_of
from rcexplainer.paper.record import Record, newest
from rcexplainer.saving.documents import to_text, write_document
from rcexplainer.saving.lock import try_lock
from rcexplainer.saving.seal import sealed, unsealed

PROFILE_FILE = "profile.json"


class Store:
    """Results in `folder/runs`, trained networks in `folder/networks`."""

    def __init__(self, folder: Path) -> None:
        """Open a folder, or make it.

        Args:
            folder: Its path.

        Raises:
            RCExplainerError: It is a file, cannot be made, or cannot be written.
        """
        if folder.exists() and not folder.is_dir():
            raise RCExplainerError(f"{folder} is a file: name a folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RCExplainerError(f"the folder {folder} cannot be made: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise RCExplainerError(f"the folder {folder} cannot be written, it is read-only: name another, or a copy")
        self.folder = folder
        self._archive: PackedRows | None = None

    @property
    def networks(self) -> Path:
        """The folder of trained networks."""
        return self.folder / "networks"

    @property
    def runs(self) -> Path:
        """The folder of results."""
        return self.folder / "runs"

    @property
    def profile(self) -> str | None:
        """The profile that the folder is of; None before the first run."""
        try:
            return str(json.loads((self.folder / PROFILE_FILE).read_text(encoding="utf-8"))["profile"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def claim(self, profile: str) -> None:
        """Make the folder one of this profile.

        Args:
            profile: The profile's name.

        Raises:
            RCExplainerError: It is of another profile already.
        """
        own = self.profile
        if own is None:
            write_document(self.folder / PROFILE_FILE, {"profile": profile})
        elif own != profile:
            raise RCExplainerError(f"{self.folder} holds profile {own}: name another --out for profile {profile}")

    @property
    def archive(self) -> PackedRows:
        """The compact files, read again when one has changed."""
        if self._archive is None or self._archive.signature != signature_of(self.runs):
            self._archive = read_archive(self.runs)
        return self._archive

    def path(self, job: Job) -> Path:
        """The file that is the job's own."""
        return self.runs / job.kind / f"{job.label}-{job.digest}.json"

    def records(self, jobs: Iterable[Job]) -> dict[Job, Record]:
        """What answers exactly these jobs.

        Args:
            jobs: Any jobs.

        Returns:
            Job → its record, of those that have one.
        """
        # Files first: what another process packs meanwhile is then in a compact file, and is not missed.
        asked = list(dict.fromkeys(jobs))
        own = {job: record for job in asked if (record := _read(self.path(job), job)) is not None}
        packed = self.archive.by_digest
        kept = {job: own.get(job) or packed.get(job.digest) for job in asked}
        weights = self.network_weights(asked)
        return {
            job: record
            for job, record in kept.items()
            if record is not None and record.answers(job, weights.get(job.inputs.get("network", "")))
        }

    def network_weights(self, jobs: Iterable[Job]) -> dict[str, str]:
        """The weights of the networks that some jobs are about, as the networks' own records have them.

        Args:
            jobs: Any jobs.

        Returns:
            Digest of a network → hash of its weights; nothing for a network without a record.
        """
        asked = {job.inputs["network"] for job in jobs if "network" in job.inputs}
        loose = {path.stem.rpartition("-")[2]: path for path in (self.runs / "network").glob("*.json") if asked}
        packed = self.archive.by_digest if asked else {}
        found: dict[str, str] = {}
        for digest in asked:
            own = _read(loose[digest]) if digest in loose else None
            record = own or packed.get(digest)
            if record is not None and record.digest == digest and not record.relabelled and record.weights is not None:
                found[digest] = record.weights
        return found

    def earlier(self, jobs: Iterable[Job]) -> dict[Job, Record]:
        """What was answered to the same requests before they were carried out as they are now.

        Args:
            jobs: Jobs without a record of their own.

        Returns:
            Job → the latest record that answers one of its requests.
        """
        found: dict[Job, Record] = {}
        for job in jobs:
            files = (self.runs / job.kind).glob(f"{escape(job.label)}-*.json")
            loose = [one for path in sorted(files) if (one := _read(path)) is not None]
            packed = self.archive.by_request.get(job.request, ())
            latest = newest([*packed, *(one for one in loose if one.request == job.request)])
            if latest is not None:
                found[job] = latest
        return found

    def get(self, job: Job) -> JobResult | None:
        """The result of exactly this job, if it has one."""
        record = self.records([job]).get(job)
        return None if record is None else record.result

    def put(
        self, job: Job, result: JobResult, seconds: float, *, about: Mapping[str, Any] | None = None, **how: int
    ) -> None:
        """Keep a result.

        Args:
            job: The job.
            result: What it returned.
            seconds: How long it took.
            about: Where it comes from, as `origin` had it when the run began: somebody may commit meanwhile.
            **how: How it ran: jobs at a time, threads.

        Raises:
            RCExplainerError: It could not be written.
        """
        source = {**(origin() if about is None else about), **how}
        record = Record(job.kind, job.label, job.inputs, job.digest, round(seconds, 2), result, source)
        try:
            write_document(self.path(job), sealed(json.loads(to_text(record.to_document()))))
        except OSError as error:
            raise RCExplainerError(
                f"the result of {job.label} could not be written ({error.strerror}); everything finished before is in "
                f"{self.folder}: make room and start again, it goes on from there"
            ) from error

    def forget(self, jobs: Iterable[Job]) -> None:
        """Delete what is kept of some jobs, and the networks that they trained.

        Args:
            jobs: The jobs.

        Raises:
            RCExplainerError: Another process is packing.
        """
        gone = list(jobs)
        trained = {one.weights for job, one in self.records(gone).items() if job.kind == "network"}
        with try_lock(self.folder / PROFILE_FILE) as ours:
            if not ours:
                raise RCExplainerError(f"another process works in {self.folder}: wait until it is done, and try again")
            for path in self.archive.packs:
                drop(path, {job.digest for job in gone})
        for job in gone:
            self.path(job).unlink(missing_ok=True)
        for path, weights in kept_weights(self.networks).items():
            if weights in trained:
                path.unlink()

    def pack(self, entries: Mapping[str, Iterable[Job]]) -> list[Path]:
        """Move the results of finished entries into their compact files.

        Args:
            entries: Name of an entry → its jobs; an unfinished entry is left for later.

        Returns:
            The compact files that have taken results in; none where another process is packing.
        """
        packed: list[Path] = []
        with try_lock(self.folder / PROFILE_FILE) as ours:
            for name, listed in entries.items() if ours else ():
                jobs = list(listed)
                records = self.records(jobs)
                if len(records) < len(jobs):
                    continue
                files = {path: records[job] for job in jobs if (path := self.path(job)).exists()}
                done: dict[str, set[str]] = {}
                for job in jobs:
                    done.setdefault(job.request, set()).add(job.digest)
                if pack(self.runs / f"{name}{SUFFIX}", files, done) and files:
                    packed.append(self.runs / f"{name}{SUFFIX}")
        return packed


def _read(path: Path, job: Job | None = None) -> Record | None:
    """The record in a job's own file; None if there is none, half of one, or that of another job."""
    try:
        document = unsealed(json.loads(path.read_text(encoding="utf-8")))
        digest = str(document["digest"])
        if job is not None and digest != job.digest:
            return None
        return Record.from_document(document, path.name.removesuffix(f"-{digest}.json"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
