"""A job: rows of a dataset, the explainer, and the folder of results; and the work on one part of it.

Parts and batches are cut by row number. A row is therefore explained in the same company by every engine, and by a job
that was killed and started again.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from time import perf_counter
from typing import Any, Protocol

from torch import nn

from rcexplainer import __version__
from rcexplainer.datasets.row_graphs import RowGraphs
from rcexplainer.engine.explained_rows import Stamp, explained_rows
from rcexplainer.engine.job_folder import JobFolder, row_counts
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.saving.fingerprint import weights_digest

log = logging.getLogger(__name__)

PART_ROWS = 16_384  # rows in a file of results, fewer where rows are large
PART_BYTES = 1 << 28  # of graphs in memory
BATCH_ROWS, BATCH_ROWS_CUDA = 4096, 16_384  # rows explained at once
DIGITS = 16  # of fingerprints


class RowSource(Protocol):
    """Rows of graphs that can be read by number, in any process."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    @property
    def digest(self) -> str:
        """A hash that other rows would not have."""
        ...

    @property
    def bytes_per_row(self) -> float:
        """What a row takes in memory, roughly."""
        ...

    def __len__(self) -> int: ...

    def read(self, start: int, stop: int) -> RowGraphs:
        """The graphs of rows."""
        ...


@dataclass(frozen=True)
class ExplainerSource:
    """An explainer that any process can load.

    Attributes:
        load: Loads it; can be pickled.
        digest: Fingerprint of its file.
    """

    load: Callable[[], FittedExplainer]
    digest: str


@dataclass(frozen=True)
class PartReport:
    """What came of a part.

    Attributes:
        part: Its number.
        rows: Its rows.
        errors: Rows that could not be explained.
        already: Rows that are of the chosen class without any deletion.
        flipped: Rows with another prediction.
        seconds: How long it took.
    """

    part: int
    rows: int
    errors: int
    already: int
    flipped: int
    seconds: float


@dataclass(frozen=True)
class TableJob:
    """Rows to explain.

    Attributes:
        source: The rows.
        explainer: What explains them.
        folder: Where results go.
        options: How to explain.
        limit: Only the first rows; None: all.
        part_rows: Rows in a part; None: as many as fit.
    """

    source: RowSource
    explainer: ExplainerSource
    folder: JobFolder
    options: RowOptions = field(default_factory=RowOptions)
    limit: int | None = None
    part_rows: int | None = None

    @property
    def num_rows(self) -> int:
        """Rows to explain."""
        return len(self.source) if self.limit is None else min(self.limit, len(self.source))

    @cached_property
    def rows_per_part(self) -> int:
        """Rows in a part: a power of two, so that it does not hang on details of the files."""
        if self.part_rows is not None:
            return self.part_rows
        fitting = max(int(PART_BYTES / max(self.source.bytes_per_row, 1)), 1)
        return min(PART_ROWS, 1 << (fitting.bit_length() - 1))

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for copies of one job in several processes."""
        return self.folder.path, self.explainer.digest, self.source.digest, self.options, self.limit, self.part_rows

    @property
    def num_parts(self) -> int:
        """Number of parts."""
        return -(-self.num_rows // self.rows_per_part)

    def rows_of(self, part: int) -> tuple[int, int]:
        """The first row of a part, and one beyond its last."""
        return part * self.rows_per_part, min((part + 1) * self.rows_per_part, self.num_rows)

    def describe(self, fitted: FittedExplainer) -> dict[str, Any]:
        """What is explained by what, and how: jobs that differ here have other results."""
        return {
            "version": __version__,
            "model": model_digest(fitted.split.model),
            "explainer": self.explainer.digest[:DIGITS],
            "input": self.source.digest[:DIGITS],
            "rows": self.num_rows,
            "rows_per_part": self.rows_per_part,
            "device": "cpu" if fitted.device is None else fitted.device.type,
            **self.options.values(),
        }


class PartWorker:
    """Explains parts of a job; threads may share it: one reads and another writes while a third explains.

    Args:
        job: The job.
        fitted: Its explainer; None: it is loaded.
    """

    def __init__(self, job: TableJob, fitted: FittedExplainer | None = None) -> None:
        self.job = job
        self.fitted = job.explainer.load() if fitted is None else fitted
        names = self.fitted.class_names or tuple(map(str, range(self.fitted.split.num_classes)))
        self.stamp = Stamp(model_digest(self.fitted.split.model), job.explainer.digest[:DIGITS], names)
        self._reading, self._explaining = Lock(), Lock()

    def __call__(self, part: int) -> PartReport:
        """Explain a part and write it.

        Args:
            part: Its number.

        Raises:
            RCExplainerError: It cannot be read or written.
        """
        import pyarrow as pa

        started = perf_counter()
        first, end = self.job.rows_of(part)
        cuda = self.fitted.device is not None and self.fitted.device.type == "cuda"
        size = BATCH_ROWS_CUDA if cuda else BATCH_ROWS
        tables = [self._explained(start, min(start + size, end)) for start in range(first, end, size)]
        table = pa.concat_tables(tables)
        self.job.folder.write(part, table)
        return PartReport(part, **row_counts(table), seconds=perf_counter() - started)

    def _explained(self, start: int, stop: int) -> Any:
        with self._reading:
            rows = self.job.source.read(start, stop)
        with self._explaining:
            return explained_rows(self.fitted, rows, self.job.options, self.stamp, start)


def explain_part(job: TableJob, part: int) -> PartReport:
    """Explain a part in a process that may have done others of the job: its explainer is loaded once.

    Args:
        job: The job.
        part: Number of the part.
    """
    if not _WORKERS or _WORKERS[0].job.key != job.key:
        _WORKERS[:] = [PartWorker(job)]
    return _WORKERS[0](part)


_WORKERS: list[PartWorker] = []  # the one of this process


def model_digest(model: nn.Module) -> str:
    """Fingerprint of a network's weights."""
    return weights_digest(model)[:DIGITS]
