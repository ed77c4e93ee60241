"""SECURITY.md names tests that exist, and limits that are the code's."""

import re
from pathlib import Path

from rcexplainer.datasets import molecule_rows, parquet_rows, row_graphs, tu_download, tu_raw
from rcexplainer.disclosure import WITHHELD
from rcexplainer.saving.fingerprint import SAVED_PROBES
from rcexplainer.server.limits import RequestLimits

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`(t(?:ests|ools)/[\w/]+\.py)(?:::(\w+))?`", TEXT)
    assert len(named) > 15
    for path, test in named:
        assert f"def {test}" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"


def test_the_limits_are_those_of_the_code() -> None:
    limits = RequestLimits()
    numbers = (
        molecule_rows.MOST_CHARACTERS,
        parquet_rows.LONGEST_TEXT,
        parquet_rows.MOST_NUMBERS,
        parquet_rows.NUMBERS_PER_BYTE,
        row_graphs.MOST_BARE_NODES,
        tu_raw.MOST_ONE_HOT,
        tu_download.MOST_BYTES,
        limits.body,
        limits.nodes,
        limits.edges,
    )
    told = " ".join(TEXT.split("**The limits.**")[1].split("\n\n")[0].split())
    assert re.findall(r"\d[\d,]+", told) == [f"{number:,}" for number in numbers]
    assert SAVED_PROBES == 4
    assert "up to four small training graphs" in TEXT


def test_every_disclosure_is_described() -> None:
    assert re.findall(r'^\| `"(\w+)"`', TEXT, re.M) == list(WITHHELD)
