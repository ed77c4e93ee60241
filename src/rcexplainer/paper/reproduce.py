"""`rcexplainer reproduce`: run entries of the paper again, and keep their results; what is done is not done twice."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rcexplainer.gnn.device import usable_device
from rcexplainer.paper.entries import PAPER_ENTRIES, plan
from rcexplainer.paper.failures import Failed, Skipped, write_failures
from rcexplainer.paper.figure_files import write_figures
from rcexplainer.paper.job_work import work
from rcexplainer.paper.markdown_pages import write_pages
from rcexplainer.paper.origin import origin, unlike
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.results_folder import ResultsFolder, read_folder
from rcexplainer.paper.runner import run_jobs
from rcexplainer.paper.store import Store
from rcexplainer.paper.table import Table

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reproduction:
    """What came of a run.

    Attributes:
        plans: The entries that were run.
        found: The folder, with all that is known.
        failed: Jobs that failed in this run.
        skipped: Jobs whose data or extra is missing.
        page: The front page.
    """

    plans: tuple[EntryPlan, ...]
    found: ResultsFolder
    failed: tuple[Failed, ...]
    skipped: tuple[Skipped, ...]
    page: Path

    def tables(self) -> list[Table]:
        """The tables of the entries that were run."""
        return [table for planned in self.plans for table in self.found.tables(planned)]

    def to_json(self) -> dict[str, Any]:
        """Tables and failures as JSON values."""
        return {
            "profile": self.found.profile,
            "entries": {
                planned.name: {
                    "title": planned.title,
                    "jobs": len(planned.jobs),
                    "done": len(self.found.done(planned)),
                    "tables": [
                        {"caption": table.caption, "rows": table.to_rows(), "notes": table.notes}
                        for table in self.found.tables(planned)
                    ],
                }
                for planned in self.plans
            },
            "failed": [{"job": one.job.label, "error": one.error} for one in self.failed],
            "skipped": [{"job": one.job.label, "reason": one.error} for one in self.skipped],
            "page": str(self.page),
            "about": origin(),
        }


def reproduce(
    name: str,
    profile: str,
    out: Path,
    *,
    workers: int = 1,
    progress: bool = True,
    fresh: bool = False,
    device: str | None = None,
) -> Reproduction:
    """Run what is missing of an entry, and write the pages and figures of all that is known.

    Where results of the entry are of another machine, device or version of torch, a warning says so before they are
    mixed.

    Args:
        name: An entry's name, or "all".
        profile: "quick", "standard" or "paper".
        out: The results folder, of that profile alone.
        workers: Processes at a time.
        progress: Whether a progress bar is shown.
        fresh: Delete what is kept of the entry first, networks included, so that all of it is run anew. A run that was
            interrupted goes on without it.
        device: Where methods are fitted and run on graph sets; None: the CPU. Networks are trained on the CPU.

    Returns:
        What came of it.

    Raises:
        RCExplainerError: There is no such entry, profile or device, or the folder cannot be used.
    """
    plans = asked(name, profile, device)  # now: what is wrong with them is said before anything is trained
    store = Store(out)
    store.claim(profile)
    jobs = [job for planned in plans for job in planned.jobs]
    if fresh:
        store.forget(jobs)
    _warn(plans, store, origin() | {"device": device})
    failed, skipped = run_jobs(
        jobs, store, partial(work, device=device), workers=workers, progress=progress, device=device
    )
    write_failures(out, jobs, (*failed, *skipped))
    store.pack({planned.name: planned.jobs for planned in plans})
    found = read_folder(store, profile)
    page = write_pages(found)  # whatever becomes of the figures
    if write_figures(out, found.plans, found.results):
        page = write_pages(found)
    return Reproduction(plans, found, failed, skipped, page)


def asked(name: str, profile: str, device: str | None) -> tuple[EntryPlan, ...]:
    """The entries that a run is asked for.

    Args:
        name: An entry's name, or "all".
        profile: The profile's name.
        device: Where it is to run; None: the CPU.

    Raises:
        RCExplainerError: There is no such entry, profile or device.
    """
    plans = tuple(plan(entry, profile) for entry in (PAPER_ENTRIES if name == "all" else (name,)))
    if device is not None:
        usable_device(device)
    return plans


def _warn(plans: Sequence[EntryPlan], store: Store, here: Mapping[str, Any]) -> None:
    """Say which entries would mix results of several machines, devices or versions of torch, before they are run."""
    for planned in plans:
        done = store.records(planned.jobs)
        others = unlike(done.values(), here) if len(done) < len(planned.jobs) else ()
        if others:
            log.warning(
                "%s: %d of its %d results are of %s. The rest is run here, and its page will say that they are mixed; "
                "--fresh runs all of them here.",
                planned.name,
                len(done),
                len(planned.jobs),
                "; ".join(others),
            )
