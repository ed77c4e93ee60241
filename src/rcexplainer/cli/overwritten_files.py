"""What a command is asked to write is none of the files that it reads."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

from rcexplainer.errors import RCExplainerError

CSV_SET = "csv:"  # how names of datasets begin that are a user's own file

Named = str | Path | None  # the value of an option that may name a file


def refuse_overwriting(written: Mapping[str, Path | None], read: Mapping[str, Named | Iterable[str]]) -> None:
    """Refuse to write to a file that is read, or twice to one file, before the work begins.

    Args:
        written: What is written, by the option that names it; None: nothing.
        read: What is read, by its option: a file, a folder of files, a pattern, `csv:PATH`, or several of them.
            Whatever names no file (numbers, `module:function`, a dataset) is passed over.

    Raises:
        RCExplainerError: A file is among both, or twice among the first.
    """
    outputs = {option: path for option, path in written.items() if path is not None}
    for (option, path), (other, same) in combinations(outputs.items(), 2):
        if path.resolve() == same.resolve():
            raise RCExplainerError(f"{option} and {other} name the same file, {path}: name two files")
    for option, path in outputs.items():
        for source, value in read.items():
            if path.is_file() and any(path.samefile(one) for one in _files(value)):
                raise RCExplainerError(
                    f"{option} {path} is a file that {source} names: it would be overwritten, name another one"
                )


def _files(value: Named | Iterable[str]) -> list[Path]:
    """The files that the value of an option names."""
    if value is None:
        return []
    if not isinstance(value, str | Path):
        return [file for text in value for file in _files(text)]
    path = Path(str(value).removeprefix(CSV_SET)).expanduser()
    anchor = Path(path.anchor)
    found = [path] if path.exists() else anchor.glob(str(path.relative_to(anchor)))
    return [file for one in found for file in (one.iterdir() if one.is_dir() else [one]) if file.is_file()]
