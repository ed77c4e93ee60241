"""Where a number comes from: versions, machine and commit."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.accuracy import versions

SOURCE = Path(__file__).parents[1]  # the package


def origin() -> dict[str, Any]:
    """Versions of the packages, the machine, and the commit of the source.

    Returns:
        JSON values, kept beside every result as `about`.
    """
    return {
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "commit": commit(),
    }


def commit(source: Path = SOURCE) -> str | None:
    """The commit of the source, `+changes` if it was edited since.

    Args:
        source: A folder of the source, with an `__init__.py`.

    Returns:
        What $RCEXPLAINER_COMMIT says where the source is not under version control; None if that says nothing.
    """
    try:
        _git(source, "ls-files", "--error-unmatch", "__init__.py")  # not merely installed somewhere within a checkout
        found = _git(source, "rev-parse", "--short", "HEAD")
        edited = _git(source, "status", "--porcelain", "--untracked-files=no", ".")
    except (OSError, subprocess.SubprocessError):
        return os.environ.get("RCEXPLAINER_COMMIT")
    return f"{found}+changes" if edited else found


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, timeout=5, check=True
    ).stdout.strip()
