"""No command overwrites a file that it reads."""

import os
from pathlib import Path

import pytest

from rcexplainer.cli.overwritten_files import refuse_overwriting
from rcexplainer.errors import RCExplainerError


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch) -> None:
    """A few files in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("m.csv", "e.safetensors", "rows/a.parquet"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("as it was", encoding="utf-8")


@pytest.mark.parametrize(
    ("out", "read"),
    [
        ("m.csv", "m.csv"),
        ("rows/../m.csv", Path("m.csv")),
        ("m.csv", "csv:m.csv"),
        ("m.csv", ["0,5", "m.csv"]),
        ("rows/a.parquet", Path("rows")),
        ("rows/a.parquet", Path("rows/*.parquet")),
    ],
)
def test_what_is_read_is_not_written(out, read) -> None:
    absolute = read.absolute() if isinstance(read, Path) else read
    with pytest.raises(RCExplainerError, match=r"^--out .* is a file that --input names: it would be overwritten"):
        refuse_overwriting({"--out": Path(out)}, {"--model": "e.safetensors", "--input": absolute})


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="this system has no links")
def test_a_link_is_the_file_that_it_leads_to() -> None:
    Path("link.csv").symlink_to("m.csv")
    with pytest.raises(RCExplainerError, match=r"^--out link\.csv is a file that --input names"):
        refuse_overwriting({"--out": Path("link.csv")}, {"--input": Path("m.csv")})


def test_other_files_may_be_written() -> None:
    read = {"--input": Path("m.csv"), "--model": "package:model", "--dataset": "nitro", "--index": None}
    refuse_overwriting({"--out": Path("e.safetensors"), "--html": None}, read)
    refuse_overwriting({"--out": Path("rows/new.safetensors")}, {"--input": Path("rows")})


def test_two_things_are_not_written_to_one_file() -> None:
    with pytest.raises(RCExplainerError, match=r"^--out and --html name the same file, a\.html: name two files$"):
        refuse_overwriting({"--out": Path("a.html"), "--html": Path("rows/../a.html")}, {})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("explain --input m.csv --model g --explainer e --out m.csv", "--out m.csv is a file that --input names"),
        ("explain --model g --explainer e.safetensors --out e.safetensors", "is a file that --explainer names"),
        ("explain --dataset csv:m.csv --model g --explainer e --html m.csv", "--html m.csv is a file that --dataset"),
        ("fit --dataset nitro --model e.safetensors --out e.safetensors", "--out e.safetensors is a file that --model"),
        ("fit --dataset nitro --model g --out e --checkpoint e", "--out and --checkpoint name the same file, e"),
        ("demo --out a.html --html a.html", "--out and --html name the same file, a.html: name two files"),
    ],
)
def test_commands_say_so_before_they_begin(refused, line, message) -> None:
    refused(line.split(), message)
    assert {path.read_text(encoding="utf-8") for path in Path().rglob("*.*") if path.is_file()} == {"as it was"}
