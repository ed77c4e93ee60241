"""The rows of a CSV file by number, without the file in memory: a pass over it notes where every 4,096th row begins."""

import hashlib
from collections.abc import Iterable, Iterator
from csv import Error as CSVError
from csv import reader as read_csv
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from rcexplainer.errors import DatasetError

STRIDE = 4096  # rows between two notes
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # Excel writes one


@dataclass(frozen=True)
class CSVRows:
    """A CSV file whose rows can be read by their number.

    Attributes:
        path: The file.
        header: Its column names.
        delimiter: What stands between cells.
        num_rows: Rows below the header; blank lines do not count.
        starts: Byte and line at which every 4,096th row begins.
        digest: SHA-256 of the file.
    """

    path: Path
    header: tuple[str, ...]
    delimiter: str
    num_rows: int
    starts: tuple[tuple[int, int], ...] = field(repr=False)
    digest: str

    @classmethod
    def open(cls, path: Path) -> "CSVRows":
        """Go through a file once.

        Args:
            path: The file.

        Raises:
            DatasetError: It is empty or not a text file of comma-separated values.
        """
        with path.open("rb") as file:
            first = file.readline()
            skipped = len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
            file.seek(skipped)
            delimiter = max(",;\t", key=first.decode("utf-8", "replace").count)
            lines = _Lines(file, path, skipped, hashlib.sha256(first[:skipped]))
            rows = _rows(lines, delimiter, path)
            header = next(rows, None)
            if header is None:
                raise DatasetError(f"{path} is empty; it needs a line of column names and one line per molecule")
            starts, count = [], 0
            for count, (place, _) in enumerate(rows, 1):
                if count % STRIDE == 1:
                    starts.append(place)
        names = tuple(cell.strip() for cell in header[1])
        return cls(path, names, delimiter, count, tuple(starts), lines.digest.hexdigest())

    def rows(self, start: int, stop: int) -> list[tuple[int, list[str]]]:
        """Read rows.

        Args:
            start: The first one; rows are counted from 0.
            stop: One beyond the last.

        Returns:
            The line of each, as an editor shows it, and its cells.
        """
        if start >= min(stop, self.num_rows):
            return []
        place, line = self.starts[start // STRIDE]
        with self.path.open("rb") as file:
            file.seek(place)
            rows = _rows(_Lines(file, self.path, place, hashlib.sha256(), line), self.delimiter, self.path)
            found = islice(rows, start % STRIDE, start % STRIDE + stop - start)
            return [(at[1], cells) for at, cells in found]


class _Lines(Iterable[str]):
    """The lines of a file as text; knows where the next one begins."""

    def __init__(self, file: BinaryIO, path: Path, place: int, digest: "hashlib._Hash", line: int = 1) -> None:
        self.file, self.path, self.place, self.line, self.digest = file, path, place, line, digest

    def __iter__(self) -> Iterator[str]:
        for line in self.file:
            self.digest.update(line)
            self.place += len(line)
            self.line += 1
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise DatasetError(f"{self.path}, line {self.line - 1}, is not text in UTF-8: {error}") from error


def _rows(lines: _Lines, delimiter: str, path: Path) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """Where each row begins, as byte and line, and its cells; a quoted cell may run over several lines."""
    place = (lines.place, lines.line)
    try:
        for cells in read_csv(lines, delimiter=delimiter):
            if any(cell.strip() for cell in cells):
                yield place, cells
            place = (lines.place, lines.line)
    except CSVError as error:
        raise DatasetError(f"{path}, line {lines.line}, cannot be read as comma-separated values: {error}") from error
