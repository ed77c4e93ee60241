"""Two folders of results: the same files with the same content, apart from how long things took."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

TIMES = re.compile(r"seconds|^ms$|_ms$|time|throughput|speed|rows_per_second|workers|about|sha256|cost")
# Lines of pages that say when, how fast and where numbers were made.
TIMED_LINE = re.compile(r"\b(s|ms|min|seconds|minutes)\b|[0-9] s\b")


def differences(expected: Path, found: Path) -> list[str]:
    """What is wrong in a folder.

    Args:
        expected: The folder of a run without interruption.
        found: The other one.

    Returns:
        A line for each file that is missing, left over or different.
    """
    names, own = _names(expected), _names(found)
    lines = [f"{name} is missing" for name in sorted(names - own)]
    lines += [f"{name} is left over" for name in sorted(own - names)]
    return lines + [f"{name} differs" for name in sorted(names & own) if not _same(expected / name, found / name)]


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def _same(one: Path, other: Path) -> bool:
    if one.read_bytes() == other.read_bytes():
        return True
    if one.suffix == ".parquet":
        from pyarrow import parquet

        return bool(parquet.read_table(one).equals(parquet.read_table(other)))
    if one.suffix == ".json":
        return bool(
            _untimed(json.loads(one.read_text(encoding="utf-8")))
            == _untimed(json.loads(other.read_text(encoding="utf-8")))
        )
    if one.name.endswith(".jsonl.gz"):
        return bool(_rows(one) == _rows(other))
    if one.suffix == ".md":
        return _lines(one) == _lines(other)
    if one.suffix == ".safetensors":
        return _tensors(one) == _tensors(other)
    return False


def _rows(path: Path) -> list[Any]:
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return sorted((_untimed(json.loads(line)) for line in lines), key=lambda row: json.dumps(row, sort_keys=True))


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if not TIMED_LINE.search(line)]


def _tensors(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tensors as lists, and the texts of the header; networks that `evaluate` keeps say how long they were trained."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name).tolist() for name in file.keys()}  # noqa: SIM118
        texts = {name: text for name, text in (file.metadata() or {}).items() if name != "checksum"}
    return tensors, {name: _untimed(json.loads(text)) if text[:1] == "{" else text for name, text in texts.items()}


def _untimed(value: Any) -> Any:
    """Values without times, and without what says where and how they were made."""
    if isinstance(value, dict):
        return {key: _untimed(item) for key, item in value.items() if not TIMES.search(key)}
    if isinstance(value, list):
        return [_untimed(item) for item in value]
    return value
