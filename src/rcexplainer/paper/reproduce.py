"""Run entries of the paper again, and keep their results: what is done is not done twice."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcexplainer.paper.entries import ENTRIES, Plan, Results, plan, tables
from rcexplainer.paper.figure_files import write_figures
from rcexplainer.paper.jobs import work
from rcexplainer.paper.page import write_page
from rcexplainer.paper.runner import Failed, Skipped, run_jobs, with_skipped
from rcexplainer.paper.store import Store, about
from rcexplainer.paper.tables import Table


@dataclass(frozen=True)
class Reproduced:
    profile: str
    plans: tuple[Plan, ...]
    results: Results
    failed: tuple[Failed, ...]
    skipped: tuple[Skipped, ...]
    page: Path

    def tables(self) -> list[Table]:
        return [table for planned in self.plans for table in tables(planned, self._told)]

    @property
    def _told(self) -> Results:
        return with_skipped(self.results, self.skipped)

    def to_json(self) -> dict[str, Any]:
        return {
            "profile": self.profile,
            "entries": {
                planned.name: {
                    "title": planned.title,
                    "jobs": len(planned.jobs),
                    "done": sum(job in self.results for job in planned.jobs),
                    "tables": [
                        {"caption": table.caption, "rows": table.to_rows(), "notes": table.notes}
                        for table in tables(planned, self._told)
                    ],
                }
                for planned in self.plans
            },
            "failed": [{"job": one.job.label, "error": one.error} for one in self.failed],
            "skipped": [{"job": one.job.label, "reason": one.error} for one in self.skipped],
            "page": str(self.page),
            "about": about(),
        }


def reproduce(name: str, profile: str, out: Path, *, workers: int = 1, progress: bool = True) -> Reproduced:
    """Run what is missing of one entry, or of all, and write the page of all that is known."""
    plans = tuple(plan(entry, profile) for entry in (ENTRIES if name == "all" else (name,)))
    store = Store(out)
    store.claim(profile)
    jobs = [job for planned in plans for job in planned.jobs]
    failed, skipped = run_jobs(jobs, store, work, workers=workers, progress=progress)
    every = tuple(plan(entry, profile) for entry in ENTRIES)
    known = {job: result for planned in every for job in planned.jobs if (result := store.get(job)) is not None}
    # Whatever becomes of the figures, the page is there.
    page = write_page(store.folder, every, profile, known, failed, skipped)
    if write_figures(store.folder, every, known):
        page = write_page(store.folder, every, profile, known, failed, skipped)
    return Reproduced(profile, plans, known, failed, skipped, page)
