"""A plan: one entry in one profile, with its settings and its jobs."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rcexplainer.paper.job import Job, JobResult, Tags
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults

PROFILES = ("quick", "standard", "paper")
Results = Mapping[Job, JobResult]  # of the jobs that have one


@dataclass(frozen=True)
class EntryPlan:
    """One entry in one profile.

    Attributes:
        name: The entry's name.
        settings: Its settings, those of the profile among them.
        rows: What its tables show, in order: jobs, each with what tells it apart from the others.
    """

    name: str
    settings: EntrySettings
    rows: dict[Job, Tags]

    @property
    def title(self) -> str:
        """The entry's title."""
        return self.settings["title"]

    @property
    def jobs(self) -> list[Job]:
        """Its jobs, in order."""
        return list(self.rows)

    def tagged(self, results: Results) -> TaggedResults:
        """The results that the entry has, each with what tells its job apart.

        Args:
            results: Job → its result, of any entries.

        Returns:
            Those of this entry, in order.
        """
        return [(tags, results[job]) for job, tags in self.rows.items() if job in results]


@cache
def settings_file(name: str) -> dict[str, Any]:
    """An entry's file of settings: what all profiles share, a section for each profile, the paper's numbers, aims.

    Args:
        name: The entry's name.

    Returns:
        The file's content.
    """
    return tomllib.loads(files(__package__).joinpath("entry_files", f"{name}.toml").read_text(encoding="utf-8"))


def profile_settings(name: str, profile: str) -> EntrySettings:
    """The settings of an entry in one profile, which replaces what all profiles share.

    Args:
        name: The entry's name.
        profile: The profile's name.

    Returns:
        The settings.
    """
    known = settings_file(name)
    return {key: value for key, value in known.items() if key not in PROFILES} | known[profile]
