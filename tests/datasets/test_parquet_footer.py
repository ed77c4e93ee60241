"""Integers of a Parquet footer: by hand, as pyarrow has them, and where the footer is damaged."""

from pathlib import Path

import pytest

import rcexplainer as rc
from rcexplainer.datasets.parquet_footer import NUMBERS, footer_integers
from rcexplainer.errors import DatasetError

# Field 1 (i32) 3; field 4, a list of two structs with field 3 (i64) 150 and −2; field 6 (binary) "ab".
BY_HAND = bytes([0x15, 6, 0x39, 0x2C, 0x36, 0xAC, 0x02, 0, 0x36, 3, 0, 0x28, 2, 97, 98, 0])
DAMAGED = Path(__file__).parents[1] / "fixtures" / "damaged_histogram.parquet"


def test_by_hand() -> None:
    assert footer_integers(BY_HAND, (1,)) == [3]
    assert footer_integers(BY_HAND, (4, 3)) == [150, -2]
    assert footer_integers(BY_HAND, (4, 7)) == []
    assert footer_integers(BY_HAND, (9,)) == []


def test_values_of_all_types_are_passed_over() -> None:
    """Truths, a byte, i16, double, binary, list of truths, set, map, empty map, struct, UUID; field 100 last."""
    values = [[0x11], [0x12], [0x13, 7], [0x14, 1], [0x17, *[9] * 8], [0x18, 1, 5], [0x19, 0x21, 1, 2], [0x1A, 0x15, 8]]
    values += [[0x1B, 1, 0x58, 2, 1, 65], [0x1B, 0], [0x1C, 0x15, 2, 0], [0x1D, *[4] * 16], [0x06, 200, 1, 84]]
    assert footer_integers(bytes([*(byte for value in values for byte in value), 0]), (100,)) == [42]


@pytest.mark.parametrize("end", range(len(BY_HAND)))
def test_a_footer_that_was_cut_is_refused(end: int) -> None:
    with pytest.raises(ValueError, match="its footer ends too early"):
        footer_integers(BY_HAND[:end], (9,))


@pytest.mark.parametrize(
    ("content", "path", "message"),
    [
        (b"\x1c" * 200, (9,), "nested too deeply"),
        (b"\x16" + b"\xff" * 11, (9,), "more than ten bytes"),
        (b"\x1e", (9,), "a value of type 14"),
        (BY_HAND, (4,), "field 4 of its footer has the type 9"),
        (BY_HAND, (1, 2), "field 1 of its footer has the type 5"),
        (b"\x19\x15\x02\x00", (1, 2), "field 1 of its footer is a list of type 5"),
    ],
)
def test_what_is_no_footer_is_refused(content: bytes, path: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        footer_integers(content, path)


def test_pyarrow_has_the_same_numbers(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    values = {
        "edge_index": [[[0, 1], [1, 0]], [[], []], [[0], [0]]],
        "x": [[[0.5]], None, [[1.0]]],
        "id": ["a", "", None],
    }
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table(values), path, row_group_size=2)
    metadata = parquet.ParquetFile(path).metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    content = path.read_bytes()
    footer = content[-8 - int.from_bytes(content[-8:-4], "little") : -8]
    numbers = [group.column(place).num_values for group in groups for place in range(3)]
    assert footer_integers(footer, NUMBERS) == numbers
    assert footer_integers(footer, (4, 3)) == [2, 1]


def test_a_footer_that_would_end_the_process_is_refused() -> None:
    """pyarrow's `row_group(i).column(j)` ends the process here, as no handler sees the exception of its C++ code."""
    pytest.importorskip("pyarrow")
    with pytest.raises(DatasetError, match=r"damaged_histogram\.parquet, rows 0 to 1, cannot be read: "):
        list(rc.datasets.GraphTable(DAMAGED))


def test_rows_that_do_not_add_up_are_refused() -> None:
    """Found by fuzzing: a number of rows below 0."""
    pytest.importorskip("pyarrow")
    with pytest.raises(DatasetError, match=r"negative_rows\.parquet is damaged: it claims -?\d+ rows, its row groups "):
        rc.datasets.GraphTable(DAMAGED.with_name("negative_rows.parquet"))
