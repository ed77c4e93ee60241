"""The folder of a job's results: parts that are whole or not there, what they are results of, and who works on them.

_job.json            what is explained by what, and how; another job is refused
part-00012.parquet   the results of consecutive rows
_summary.json        counts of a finished job

Readers of Parquet pass over names that begin with `_`: the folder is one table to them.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import to_text, writable_folder
from rcexplainer.saving.files import write_whole
from rcexplainer.saving.lock import try_lock

if TYPE_CHECKING:
    import pyarrow as pa

COUNTS = ("rows", "errors", "already", "flipped")
log = logging.getLogger(__name__)
JOB_FILE, SUMMARY_FILE, LOCK_FILE = "_job.json", "_summary.json", ".lock"
UNFINISHED = (".part-*", ".begun-*")  # parts that are being written, and marks of those that were begun


@dataclass(frozen=True)
class JobFolder:
    """Where the parts of a job are kept.

    Attributes:
        path: The folder.
    """

    path: Path

    @contextmanager
    def claimed(self, job: Mapping[str, Any]) -> Iterator["JobFolder"]:
        """Hold the folder for a job; the system releases it when the process ends, however it ends.

        Args:
            job: What is explained by what, and how, as JSON values.

        Yields:
            The folder; parts that were begun and never finished are gone.

        Raises:
            RCExplainerError: It cannot be written to, another process works in it, or it holds another job.
        """
        writable_folder(self.path)
        lock = self.path / LOCK_FILE
        lock.touch()
        with try_lock(lock) as ours:
            if not ours:
                raise RCExplainerError(
                    f"another process is writing to {self.path}: wait until it is done, or choose another --out"
                )
            self._check(job)
            for begun in (one for pattern in UNFINISHED for one in self.path.glob(pattern)):
                begun.unlink()
            yield self

    def _check(self, job: Mapping[str, Any]) -> None:
        file = self.path / JOB_FILE
        new = json.loads(to_text(dict(job)))
        if not file.exists():
            own = (LOCK_FILE, f".{JOB_FILE}.")  # the latter begins the name under which it is written
            if strangers := [one.name for one in self.path.iterdir() if not one.name.startswith(own)]:
                named = ", ".join(sorted(strangers)[:3])
                raise RCExplainerError(f"{self.path} holds other files ({named}): choose an empty folder for --out")
            write_whole(file, (to_text(new) + "\n").encode())
            return
        try:
            old = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise RCExplainerError(f"{file} cannot be read ({error}): choose another --out") from error
        if not isinstance(old, dict):
            raise RCExplainerError(f"{file} is not the description of a job: choose another --out")
        differ = [name for name in {**new, **old} if old.get(name) != new.get(name)]
        if differ:
            told = "; ".join(f"{name} was {_short(old.get(name))}, now {_short(new.get(name))}" for name in differ)
            raise RCExplainerError(f"{self.path} holds the results of another job: {told}. Choose another --out")

    def part(self, number: int) -> Path:
        """The file of a part."""
        return self.path / f"part-{number:05d}.parquet"

    def missing(self, parts: int) -> list[int]:
        """The parts that are not there yet; one that is damaged is deleted, to be made again.

        Args:
            parts: Number of all parts.
        """
        known = {one.name for one in self.path.glob("part-*.parquet")}
        return [number for number in range(parts) if self.part(number).name not in known or self._damaged(number)]

    def _damaged(self, number: int) -> bool:
        """Whether a part cannot be read, or does not have its checksums; it is deleted then."""
        from pyarrow import ArrowException, parquet

        try:
            parquet.read_table(self.part(number), page_checksum_verification=True)
        except (OSError, ValueError, ArrowException) as error:
            log.warning("%s is damaged (%s): its rows are explained again", self.part(number), error)
            self.part(number).unlink()
            return True
        return False

    def begin(self, number: int) -> int:
        """Mark that work on a part begins; the mark goes when the part is written.

        Args:
            number: Which part.

        Returns:
            How often it was begun, this time included.
        """
        mark = self._mark(number)
        with mark.open("ab") as file:
            file.write(b".")
        return mark.stat().st_size

    def _mark(self, number: int) -> Path:
        return self.path / f".begun-{number:05d}"

    def write(self, number: int, table: "pa.Table") -> Path:
        """Write a part: it appears when it is complete.

        Args:
            number: Which part.
            table: Its rows.

        Raises:
            RCExplainerError: It cannot be written, as on a full disk.
        """
        import pyarrow as pa
        from pyarrow import parquet

        content = pa.BufferOutputStream()
        parquet.write_table(table, content, compression="zstd", write_page_checksum=True)
        try:
            written = write_whole(self.part(number), content.getvalue().to_pybytes())
            self._mark(number).unlink(missing_ok=True)
            return written
        except OSError as error:
            raise RCExplainerError(
                f"{self.part(number)} could not be written ({error.strerror or error}); all parts before it are whole: "
                "make room and start the same command again, it goes on from there"
            ) from error

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Write the counts of a finished job."""
        write_whole(self.path / SUMMARY_FILE, (to_text(dict(summary)) + "\n").encode())

    def counts(self, parts: int) -> dict[str, int]:
        """Count what is in finished parts.

        Args:
            parts: Number of all parts.

        Returns:
            As `row_counts`, of all of them; each file is read by the columns for these alone.
        """
        from pyarrow import parquet

        found = dict.fromkeys(COUNTS, 0)
        for number in range(parts):
            if self.part(number).exists():
                table = parquet.read_table(self.part(number), columns=["prediction", "flipped", "error"])
                found = {name: found[name] + count for name, count in row_counts(table).items()}
        return found


def row_counts(table: "pa.Table") -> dict[str, int]:
    """Count the rows of a part.

    Args:
        table: Its columns prediction, flipped and error.

    Returns:
        `rows`; `errors` of rows that could not be explained; rows that are of the chosen class `already`; `flipped`.
    """
    without = table.column("prediction").null_count
    return {
        "rows": table.num_rows,
        "errors": without,
        "already": table.num_rows - table.column("error").null_count - without,
        "flipped": sum(table.column("flipped").drop_null().to_pylist()),
    }


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
