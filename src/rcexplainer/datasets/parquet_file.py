"""Tables written to one Parquet file, which appears when it is complete."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcexplainer.saving.files import new_file, writing_told

if TYPE_CHECKING:
    import pyarrow as pa


def write_tables(path: Path, tables: "Iterable[pa.Table]") -> Path:
    """Write tables one after the other, each as a row group.

    Args:
        path: The file; its folder is made if needed.
        tables: At least one, all with the same columns; they are made as they are written.

    Returns:
        The path.

    Raises:
        CheckpointError: The path is a folder, or in a file.
        WriteError: The file cannot be written, as on a full disk; an older one is left as it was.
    """
    from pyarrow import parquet

    with new_file(path) as half:
        writer: Any = None
        try:
            for table in tables:
                with writing_told(path):  # not around the tables: they may be read from files that fail, too
                    writer = writer or parquet.ParquetWriter(half, table.schema, compression="zstd")
                    writer.write_table(table, row_group_size=len(table))
            with writing_told(path):
                writer.close()
        finally:
            with suppress(OSError):  # the footer cannot be written either, and the first error is the one to tell
                if writer is not None:
                    writer.close()
    return path
