"""Compact files of results: `runs/<entry>.jsonl.gz`, one row a job, in gzip.

A row is a `Record` as a JSON object on one line; rows are sorted by kind, label and digest, so that equal results are
equal bytes. A job that several entries share stands in one of their files: readers look at all of them.

While jobs run, each has a file of its own. When an entry is finished, its files are packed:

    1. its compact file is written anew, with the new rows in it: beside its place, and then moved there
    2. rows of the same jobs in other compact files are deleted: they are older
    3. it is read back, and only the files of rows that are found in it are deleted

Killed at any point, a result is in its own file, which counts before all others, in the compact file, or in both. Two
processes never pack at the same time: who does not get the lock leaves the files as they are. A compact file that is
damaged is read as far as it can be, and never overwritten.
"""

import gzip
import json
import logging
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rcexplainer.paper.record import Record, dump
from rcexplainer.saving.files import write_whole

SUFFIX = ".jsonl.gz"
LONGEST_LINE = 1 << 26  # characters; a few compressed bytes can stand for any number
Signature = tuple[tuple[str, int, int], ...]  # name, time of change and size of every compact file
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class PackedRows:
    """All rows of the compact files of a folder.

    Attributes:
        packs: File → its rows, as far as it can be read.
        broken: Files that cannot be read to the end.
        signature: Tells whether a file has changed since.
    """

    packs: Mapping[Path, Sequence[Record]]
    broken: tuple[Path, ...]
    signature: Signature

    @cached_property
    def by_digest(self) -> dict[str, Record]:
        """The row of every digest."""
        return {record.digest: record for records in self.packs.values() for record in records}

    @cached_property
    def by_request(self) -> dict[str, list[Record]]:
        """The rows of every request."""
        found: dict[str, list[Record]] = {}
        for record in self.by_digest.values():
            found.setdefault(record.request, []).append(record)
        return found

    @cached_property
    def places(self) -> dict[str, Path]:
        """The file that has the row of each digest."""
        return {record.digest: path for path, records in self.packs.items() for record in records}


def read_archive(runs: Path) -> PackedRows:
    """Read all compact files.

    Args:
        runs: The folder they are in; it need not exist.

    Returns:
        Their rows; damaged files are named in `broken`.
    """
    signature = signature_of(runs)  # before they are read: a file that changes meanwhile is read again the next time
    packs: dict[Path, Sequence[Record]] = {}
    broken: list[Path] = []
    for path in _paths(runs):
        packs[path], whole = read_pack(path)
        if not whole:
            broken.append(path)
    return PackedRows(packs, tuple(broken), signature)


def signature_of(runs: Path) -> Signature:
    """What tells whether any compact file was changed."""
    known = [(path.name, path.stat()) for path in _paths(runs)]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in known)


def read_pack(path: Path) -> tuple[list[Record], bool]:
    """Read one compact file.

    Args:
        path: The file; none is an empty one.

    Returns:
        Its rows, and whether it could be read to the end.
    """
    records: list[Record] = []
    if not path.exists():
        return records, True
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            while line := lines.readline(LONGEST_LINE):
                records.append(Record.from_row(json.loads(line)))
    except (OSError, RecursionError, EOFError, ValueError, KeyError, TypeError, zlib.error):
        return records, False
    return records, True


def write_pack(path: Path, records: Iterable[Record]) -> Path:
    """Write a compact file, whole or not at all.

    Args:
        path: Its place.
        records: Its rows, in any order.

    Returns:
        The path.
    """
    ordered = sorted(records, key=lambda one: (one.kind, one.label, one.digest))
    text = "".join(dump(one.to_row()) + "\n" for one in ordered)
    return write_whole(path, gzip.compress(text.encode(), 9, mtime=0))


def pack(path: Path, files: Mapping[Path, Record], done: Mapping[str, Collection[str]] | None = None) -> bool:
    """Move results from files of their own into a compact file.

    Args:
        path: The compact file.
        files: The files of single jobs with what is in them; deleted once their rows are safe.
        done: Request → digests of jobs that have a result: rows that answer one of these requests with another digest
            have been run again, and are replaced.

    Returns:
        False where the compact file is damaged, and everything was left as it is.
    """
    known, whole = read_pack(path)
    if not whole:
        log.warning("%s is damaged and is left as it is: restore or delete it, and start again", path)
        return False
    current = done or {}
    rows = {one.digest: one for one in known if one.digest in current.get(one.request, (one.digest,))}
    rows |= {one.digest: one for one in files.values()}
    if list(rows.values()) != known:
        write_pack(path, rows.values())
    new = {one.digest for one in files.values()}
    for other in _paths(path.parent):
        if other != path:
            drop(other, new)
    safe = {one.digest: one for one in read_pack(path)[0]}
    for file, record in files.items():
        if safe.get(record.digest) == record:
            file.unlink(missing_ok=True)
    return True


def drop(path: Path, digests: Collection[str]) -> None:
    """Delete rows from a compact file; a damaged one is left as it is.

    Args:
        path: The compact file; without rows it is deleted.
        digests: The digests of the rows.
    """
    known, whole = read_pack(path)
    kept = [one for one in known if one.digest not in digests]
    if not whole or len(kept) == len(known):
        return
    if kept:
        write_pack(path, kept)
    else:
        path.unlink()


def _paths(runs: Path) -> list[Path]:
    return sorted(runs.glob(f"*{SUFFIX}"))
