"""A run of a job by an engine: what is missing is explained, progress is shown, and what could not be done is said."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from tqdm.auto import tqdm

from rcexplainer.engine.job_folder import COUNTS
from rcexplainer.engine.table_job import PartReport, TableJob
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer

log = logging.getLogger(__name__)

# (job, numbers of parts, its explainer) → what came of each part, as they are done
Engine = Callable[[TableJob, Sequence[int], FittedExplainer], Iterator[PartReport | RCExplainerError]]


@dataclass(frozen=True)
class RunSummary:
    """What a run has done.

    Attributes:
        rows: Rows of the whole job.
        explained: Rows explained now; the others were there.
        errors: Rows of the whole job that could not be explained.
        already: Rows of the whole job that are of the chosen class without any deletion.
        flipped: Rows of the whole job with another prediction; None: nothing was searched for.
        parts: Files of results.
        seconds: How long the run took.
    """

    rows: int
    explained: int
    errors: int
    already: int
    flipped: int | None
    parts: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows explained a second."""
        return self.explained / max(self.seconds, 1e-9)

    def lines(self) -> list[dict[str, object]]:
        """The rows of a table."""
        return [
            {
                "rows": self.rows,
                **({} if self.flipped is None else {"flipped": self.flipped}),
                **({"already": self.already} if self.already else {}),
                "errors": self.errors,
                "files": self.parts,
                "explained_now": self.explained,
                "seconds": self.seconds,
                "rows/s": round(self.rate),
            }
        ]


def run_job(job: TableJob, engine: Engine, fitted: FittedExplainer, progress: bool = False) -> RunSummary:
    """Explain the rows of a job that have no results yet.

    Args:
        job: The job.
        engine: Explains parts.
        fitted: The job's explainer.
        progress: Whether to show rows done, rows a second, errors and the time left.

    Returns:
        Counts of the whole job.

    Raises:
        RCExplainerError: The folder belongs to another job or process, or parts could not be read or written; all
            others are there.
    """
    started, failed, explained = perf_counter(), list[RCExplainerError](), 0
    with job.folder.claimed(job.describe(fitted)) as folder:
        missing = folder.missing(job.num_parts)
        ready = folder.counts(job.num_parts) if len(missing) < job.num_parts else dict.fromkeys(COUNTS, 0)
        if ready["rows"]:
            log.info("%d of %d rows are in %s: the others are explained now", ready["rows"], job.num_rows, folder.path)
        counts = ready
        with tqdm(total=job.num_rows, initial=ready["rows"], desc="explain", unit="row", disable=not progress) as bar:
            bar.set_postfix(errors=counts["errors"])
            try:
                for report in engine(job, missing, fitted):
                    if isinstance(report, RCExplainerError):
                        failed.append(report)
                        continue
                    explained += report.rows
                    counts = {name: counts[name] + getattr(report, name) for name in COUNTS}
                    bar.set_postfix(errors=counts["errors"], refresh=False)
                    bar.update(report.rows)
            except KeyboardInterrupt:
                here = folder.counts(job.num_parts)["rows"]  # with parts that were written, but not yet reported
                log.warning(
                    "%d of %d rows are in %s: the same command goes on from there", here, job.num_rows, folder.path
                )
                raise
        if failed:
            raise RCExplainerError(
                f"{len(failed)} of {job.num_parts} parts could not be explained, all others are in {folder.path}; the "
                f"first: {failed[0]}"
            )
        found: dict[str, Any] = {**counts, "flipped": counts["flipped"] if job.options.searched else None}
        summary = RunSummary(explained=explained, parts=job.num_parts, seconds=perf_counter() - started, **found)
        kept = {name: count for name, count in found.items() if count is not None}
        folder.finish({**kept, "parts": job.num_parts})
    return summary


def summary_values(summary: RunSummary) -> dict[str, float]:
    """A summary as JSON values; without `flipped` where nothing was searched for."""
    values = {**asdict(summary), "rows_per_second": summary.rate}
    return {name: value for name, value in values.items() if value is not None}
