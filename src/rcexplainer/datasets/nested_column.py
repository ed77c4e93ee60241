"""A list column of an Arrow table as flat arrays: what each row holds, and where.

list<T>          lengths [rows], values [Σ lengths]
list<list<T>>    lengths [rows], inner [Σ lengths], values [Σ inner]
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class NestedColumn:
    """A column of lists, or of lists of lists.

    Attributes:
        lengths: [rows] entries of each row; 0 where it is missing.
        inner: [Σ lengths] numbers in each entry; None: an entry is a number.
        values: The numbers of all rows.
        missing: [rows] whether a row, an entry of it or a number in it is missing.
    """

    lengths: np.ndarray
    inner: np.ndarray | None
    values: np.ndarray
    missing: np.ndarray

    @classmethod
    def of(cls, column: "pa.ChunkedArray") -> "NestedColumn":
        """Read a column."""
        import pyarrow as pa

        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(array, pa.ChunkedArray):  # of a table without rows
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
        lengths, missing = _lengths(array)
        flat = array.flatten()
        inner = None
        if _is_list(flat.type):
            inner, absent = _lengths(flat)
            missing[np.repeat(np.arange(len(lengths)), lengths)[absent]] = True
            flat = flat.flatten()
        if flat.null_count:
            sizes = lengths if inner is None else _sums(inner, lengths)
            absent = flat.is_null().to_numpy(zero_copy_only=False)
            missing[np.repeat(np.arange(len(lengths)), sizes)[absent]] = True
            flat = flat.fill_null(0)
        values = flat.to_numpy(zero_copy_only=False)
        return cls(lengths, inner, values.astype(np.int64) if values.dtype.kind in "iu" else values, missing)

    def widths(self) -> np.ndarray:
        """[rows] numbers in the entries of each row; 0 for numbers alone, −1 for a row without entries."""
        if self.inner is None:
            return np.zeros_like(self.lengths)
        found = np.full_like(self.lengths, -1)
        some = self.lengths > 0
        found[some] = self.inner[(np.cumsum(self.lengths) - self.lengths)[some]]
        return found

    def ragged(self) -> np.ndarray:
        """[rows] whether the entries of a row are of different lengths."""
        if self.inner is None:
            return np.zeros(len(self.lengths), bool)
        owner = np.repeat(np.arange(len(self.lengths)), self.lengths)
        found = np.zeros(len(self.lengths), bool)
        found[owner[self.inner != self.widths()[owner]]] = True
        return found

    def rectangle(self) -> np.ndarray:
        """[entries] or [entries, width] the numbers of all rows, a copy; all entries are of one length."""
        if self.inner is None:
            return self.values.copy()
        width = int(self.inner[0]) if len(self.inner) else 0
        return self.values.reshape(len(self.inner), width).copy()


def _lengths(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """[n] the length of each list, 0 where it is missing; [n] whether it is missing."""
    import pyarrow.compute as pc

    found = pc.list_value_length(array)
    missing = np.zeros(len(array), bool)
    if array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False).copy()
    return found.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), missing


def _sums(inner: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """[rows] numbers in all entries of each row."""
    ends = np.concatenate([[0], np.cumsum(inner)])
    stop = np.cumsum(lengths)
    return ends[stop] - ends[stop - lengths]


def _is_list(kind: "pa.DataType") -> bool:
    from pyarrow import types

    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
