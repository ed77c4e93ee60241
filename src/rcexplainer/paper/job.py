"""A job: one piece of work, known by everything its result depends on.

    digest    hash of (kind, inputs): equal digests, equal results
    request   what was asked for, without how the package carried it out: the inputs less `fields` (every setting, field
              by field), `network` (the digest of the trained network) and `version` (of the kind of job)

A digest decides what is run again. A request finds what an earlier version of the package answered to the same
question, so that it can be shown, and said to be that version's, until it is run again.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

JobResult: TypeAlias = dict[str, Any]  # what a job returns: JSON values
Tags: TypeAlias = dict[str, Any]  # what tells a job apart from the others of its entry

CARRIED_OUT = ("fields", "network", "version")  # inputs that say how a request is carried out


@dataclass(frozen=True)
class Job:
    """One piece of work.

    Attributes:
        kind: A key of `job_work.WORK`.
        inputs: What the result depends on; JSON values.
        label: For people; part of the name of the job's file.
    """

    kind: str
    inputs: dict[str, Any]
    label: str

    @cached_property
    def digest(self) -> str:
        """The first 12 hexadecimal digits of the hash.

        Raises:
            TypeError: An input is not a JSON value.
        """
        return digest_of(self.kind, self.inputs)

    @cached_property
    def request(self) -> str:
        """What is asked, as a hash."""
        return request(self.kind, self.inputs)

    def __hash__(self) -> int:
        return hash(self.digest)


def digest_of(kind: str, inputs: Mapping[str, Any]) -> str:
    """The digest of a job.

    Args:
        kind: The kind of the job.
        inputs: Everything its result depends on; JSON values.

    Returns:
        The first 12 hexadecimal digits of their hash.
    """
    return _hash([kind, inputs])


def request(kind: str, inputs: Mapping[str, Any]) -> str:
    """What a job was asked for, as a hash.

    Args:
        kind: The kind of the job.
        inputs: Its inputs.

    Returns:
        The same text for all jobs that differ only in how they are carried out.
    """
    return _hash([kind, {name: value for name, value in inputs.items() if name not in CARRIED_OUT}])


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
