"""A record: the result of one job with where it comes from, as it is kept in a folder.

As a document, the file of a single job (`runs/<kind>/<label>-<digest>.json`):

    kind, inputs, digest, seconds, result, about

As a row of a compact file the same with `label`, which a document has in its name.

A record answers a job only if all of these hold; otherwise it is shown as what it is, and the job is run again:

    digest    is the job's, and the hash of the record's own kind and inputs: it was not relabelled
    weights   are those of the network's own record: the network was not trained anew since
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rcexplainer import __version__
from rcexplainer.paper.job import Job, JobResult, digest_of, request

ROW = ("kind", "label", "inputs", "digest", "seconds", "result", "about")


@dataclass(frozen=True)
class Record:
    """What was kept of one job.

    Attributes:
        kind: The kind of the job.
        label: Its name for people.
        inputs: What it depended on, as it was then.
        digest: Its digest, as it was then.
        seconds: How long it took.
        result: What it returned.
        about: Versions, machine, commit, jobs at a time, threads.
    """

    kind: str
    label: str
    inputs: dict[str, Any]
    digest: str
    seconds: float
    result: JobResult
    about: dict[str, Any]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Record":
        """Read a row of a compact file.

        Args:
            row: Its JSON object.

        Raises:
            KeyError: Something is missing in it.
        """
        return cls(**{name: row[name] for name in ROW})

    @classmethod
    def from_document(cls, document: Mapping[str, Any], label: str) -> "Record":
        """Read the file of a single job.

        Args:
            document: Its JSON object.
            label: The job's label, from the file's name.

        Raises:
            KeyError: Something is missing in it.
        """
        return cls.from_row({**document, "label": label})

    def to_row(self) -> dict[str, Any]:
        """The record as a row of a compact file."""
        return {name: getattr(self, name) for name in ROW}

    def to_document(self) -> dict[str, Any]:
        """The record as the file of a single job has it."""
        return {name: value for name, value in self.to_row().items() if name != "label"}

    @property
    def file_name(self) -> str:
        """The name of the job's own file."""
        return f"{self.label}-{self.digest}.json"

    @cached_property
    def request(self) -> str:
        """What the job was asked for (`job.request`)."""
        return request(self.kind, self.inputs)

    @property
    def version(self) -> str:
        """The version of the package that made it, such as 0.1; "?" where it does not say."""
        return short_version(self.about.get("versions", {}).get("rcexplainer", "?"))

    @cached_property
    def relabelled(self) -> bool:
        """Whether its digest is not the hash of what was computed."""
        return digest_of(self.kind, self.inputs) != self.digest

    @property
    def weights(self) -> str | None:
        """The hash of the network's weights (`weights_digest`); None where the record does not say."""
        return self.result.get("weights")

    def answers(self, job: Job, weights: str | None = None) -> bool:
        """Whether it is the result of exactly this job, and not of one that was carried out otherwise.

        Args:
            job: The job.
            weights: Those of its network, as the network's own record has them; None: there is nothing to compare.
        """
        return self.digest == job.digest and not self.relabelled and (weights is None or self.weights == weights)

    def shown_for(self, job: Job, weights: str | None = None) -> JobResult:
        """The result, as tables and figures are made of it.

        Args:
            job: A planned job with the same digest, or at least with the same request.
            weights: Those of its network, as for `answers`.

        Returns:
            The result; with a key `as_of` where it is no answer of this version: the version that made it, and whether
            it was relabelled, is of the same network with other weights, or of this version with other defaults.
        """
        if self.answers(job, weights):
            return self.result if self.version == short_version(__version__) else self.result | {"as_of": self.version}
        former = ", earlier" if self.version == short_version(__version__) else ""
        other = ", other weights" if self.digest == job.digest else former
        return self.result | {"as_of": self.version + (", relabelled" if self.relabelled else other)}


def newest(records: Iterable[Record]) -> Record | None:
    """The record of the latest version, the last one of several; None where there is none."""
    return max(enumerate(records), key=lambda one: (_parts(one[1].version), one[0]), default=(0, None))[1]


def short_version(version: str) -> str:
    """The first two parts of a version: 0.1.0 → 0.1."""
    return ".".join(version.split(".")[:2])


def as_of(results: Iterable[Mapping[str, Any]]) -> str:
    """Which earlier version some results are of, in words for a table.

    Args:
        results: Results as they are shown (`Record.shown_for`).

    Returns:
        "" where all are this version's; the version; or, where only some are, "0.1 in part"; with what else is to be
        said about them: "0.1, relabelled in part".
    """
    found = [str(one.get("as_of", "")) for one in results]
    earlier = [one.partition(", ") for one in found if one]
    versions = sorted({version for version, _, _ in earlier})
    text = ", ".join(versions) + (" in part" if versions and "" in found else "")
    marks = Counter(mark for _, _, mark in earlier if mark)
    return "".join((text, *(f", {mark}{' in part' if few < len(found) else ''}" for mark, few in marks.items())))


def dump(row: Mapping[str, Any]) -> str:
    """A row on one line; every number as it was read."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else -1 for part in version.split("."))
