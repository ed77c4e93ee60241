"""The rows of a Parquet file by number, read in order with bounded memory; and graphs written to such a file."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch_geometric.data import Data, HeteroData

from rcexplainer.datasets.parquet_file import write_tables
from rcexplainer.datasets.parquet_footer import NUMBERS, footer_integers
from rcexplainer.datasets.row_graphs import rows_of_graphs
from rcexplainer.errors import DatasetError, require
from rcexplainer.saving.files import named_file

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 4096  # rows written, and rows decoded at a time
SAMPLE_ROWS = 256  # from which the size of a row in memory is judged
MOST_NUMBERS, NUMBERS_PER_BYTE = 1 << 27, 1 << 12  # that a file may claim: so many, or so many for each of its bytes
LONGEST_TEXT = 131_072  # bytes, as in CSV files
FOOTER_END = 8  # bytes behind the footer: its length, and PAR1


class ParquetRows:
    """A Parquet file whose rows can be read by their number.

    Rows that follow those read last are read on; other ones are looked for from the start of their row group.

    Args:
        path: The file.

    Raises:
        DatasetError: It is no Parquet file, was cut short, or claims more numbers than its size can stand for.
        MissingExtraError: pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        require("pyarrow", "tables")
        self.path = path
        file = self._open()
        self.schema: pa.Schema = file.schema_arrow
        footer = self._footer()
        self._check_claims(footer)
        self.num_rows: int = file.metadata.num_rows
        counts = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        if min(counts, default=0) < 0 or sum(counts) != self.num_rows:
            raise DatasetError(f"{path} is damaged: it claims {self.num_rows} rows, its row groups {counts[:5]}")
        self._starts = [0, *accumulate(counts)]
        # The footer names where every column begins, its sizes and extremes.
        self.digest = hashlib.sha256(f"{path.stat().st_size} ".encode() + footer).hexdigest()
        self._cursor: _Cursor | None = None
        file.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cursor": None}  # each process has its own

    def rows(self, start: int, stop: int, columns: Sequence[str]) -> "pa.Table":
        """Read rows.

        Args:
            start: The first one; rows are counted from 0.
            stop: One beyond the last.
            columns: The columns to read.

        Raises:
            DatasetError: The file is damaged or has changed.
        """
        import pyarrow as pa

        group = bisect_right(self._starts, start) - 1
        cursor = self._cursor
        if cursor is None or cursor.columns != tuple(columns) or not self._starts[group] <= cursor.row <= start:
            begin = self._starts[group]
            texts = [name for name in columns if _is_text(self.schema.field(name).type)]
            cursor = _Cursor(self._open(texts), tuple(columns), range(group, len(self._starts) - 1), begin)
        self._cursor = None
        try:
            cursor.take(start - cursor.row)
            found = cursor.take(stop - start)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"{self.path}, rows {start} to {stop - 1}, cannot be read: {error}") from error
        self._cursor = cursor
        return self._spelt_out(found, pa.schema([self.schema.field(name) for name in columns]))

    def num_bytes(self, columns: Sequence[str]) -> int:
        """What columns take in memory, as far as the first rows tell: files are encoded, by a factor that varies.

        Where these are damaged, the size of the file has to do: the rows behind them may be whole.
        """
        first = min(self.num_rows, SAMPLE_ROWS)
        try:
            return self.rows(0, first, columns).nbytes * self.num_rows // max(first, 1)
        except DatasetError:
            return self.path.stat().st_size

    def _check_claims(self, footer: bytes) -> None:
        """Refuse a file of a few bytes that claims to stand for gigabytes: encodings repeat a number for nothing."""
        try:
            numbers = sum(footer_integers(footer, NUMBERS))
        except ValueError as error:
            raise DatasetError(f"{self.path} is damaged: {error}") from error
        size = self.path.stat().st_size
        if numbers > max(MOST_NUMBERS, NUMBERS_PER_BYTE * size):
            raise DatasetError(
                f"{self.path} claims {numbers:,} numbers in {size:,} bytes: more than {MOST_NUMBERS:,} are read only "
                f"from files with a byte for every {NUMBERS_PER_BYTE:,}"
            )

    def _spelt_out(self, batches: list[Any], schema: "pa.Schema") -> "pa.Table":
        """Rows as a table; texts, which come as dictionaries, as texts: one long text may be repeated in every row."""
        import pyarrow as pa
        from pyarrow import compute, types

        for batch in batches:
            for name, array in zip(batch.schema.names, batch.columns, strict=True):
                if types.is_dictionary(array.type) and _is_text(array.type.value_type):
                    longest = compute.max(compute.binary_length(array.dictionary)).as_py() or 0
                    if longest > LONGEST_TEXT:
                        raise DatasetError(
                            f"{self.path}: {name} has a text of {longest:,} bytes; up to {LONGEST_TEXT:,} are read"
                        )
        return pa.Table.from_batches([batch.cast(schema) for batch in batches], schema)

    def _open(self, texts: Sequence[str] = ()) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return parquet.ParquetFile(self.path, read_dictionary=list(texts))
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"{self.path} is no Parquet file, or was cut short: {error}") from error

    def _footer(self) -> bytes:
        """The bytes of the footer."""
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            file.seek(size - FOOTER_END)
            length = int.from_bytes(file.read(4), "little")
            file.seek(max(size - FOOTER_END - length, 0))
            return file.read(length)


def _is_text(kind: "pa.DataType") -> bool:
    from pyarrow import types

    known = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return any(one(kind) for one in known)


class _Cursor:
    """A place in a file that is being read: `row` comes next."""

    def __init__(self, file: Any, columns: tuple[str, ...], groups: range, row: int) -> None:
        self.columns, self.row = columns, row
        self._batches = file.iter_batches(batch_size=ROW_GROUP, row_groups=list(groups), columns=list(columns))
        self._rest: Any = None

    def take(self, count: int) -> list[Any]:
        """The next rows, as record batches; fewer at the end of the file."""
        found = []
        while count > 0:
            batch = self._rest if self._rest is not None else next(self._batches, None)
            if batch is None:
                break
            found.append(batch.slice(0, count))
            self._rest = batch.slice(count) if batch.num_rows > count else None
            taken = found[-1].num_rows
            count, self.row = count - taken, self.row + taken
        return found


def to_parquet(graphs: Iterable[Data], path: str | Path) -> Path:
    """Write graphs to a Parquet file, a row for each (extra `tables`).

    Args:
        graphs: The graphs, of any number: they are read as they are written.
        path: The file; it appears when it is complete.

    Returns:
        The path.

    Raises:
        DatasetError: There are none, or one has other attributes than the first.
        CheckpointError: The path is none, or a folder, or in a file.
        WriteError: The file cannot be written, as on a full disk; an older one is left as it was.
        MissingExtraError: pyarrow is not installed.
    """
    require("pyarrow", "tables")
    path = named_file(path, "to_parquet(graphs, path)")
    return write_tables(path, _tables(graphs, path))


def _tables(graphs: Iterable[Data], path: Path) -> "Iterator[pa.Table]":
    """The rows of graphs, as many at a time as a row group has."""
    schema = None
    for start, some in _pieces(graphs):
        table = rows_of_graphs(some)
        if schema is None:
            schema = table.schema
        if table.schema != schema:
            raise DatasetError(
                f"graphs {start} to {start + len(some) - 1} have other attributes or types than those before"
            )
        yield table
    if schema is None:
        raise DatasetError(f"there are no graphs to write to {path}")


def _pieces(graphs: Iterable[Data]) -> Iterator[tuple[int, list[Data]]]:
    """Position of the first, and as many graphs as a row group has."""
    if not isinstance(graphs, Iterable) or isinstance(graphs, HeteroData):
        raise DatasetError(f"graphs are a list of PyG Data, got {type(graphs).__name__}")
    every, start = iter([graphs] if isinstance(graphs, Data) else graphs), 0
    while some := list(islice(every, ROW_GROUP)):
        yield start, some
        start += len(some)
