"""Where a command without `--out` keeps what it has until it is done: the same command, run again, finds it."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rcexplainer import __version__
from rcexplainer.saving.documents import UNFINISHED


def unfinished_folder(command: str, arguments: Mapping[str, Any]) -> Path | None:
    """The folder of this command line, in the user's own cache.

    Args:
        command: Name of the command.
        arguments: Its options.

    Returns:
        The folder, which need not exist; None where none can be made, and nothing can be kept.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "rcexplainer" / "unfinished"
    words = json.dumps([Path.cwd(), __version__, dict(arguments)], default=str)
    folder = cache / f"{command}-{hashlib.sha256(words.encode()).hexdigest()[:16]}{UNFINISHED}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(cache, os.W_OK) else None


def drop_folder(folder: Path | None) -> None:
    """Delete the folder of a command that is done.

    Args:
        folder: The folder; None: there is none.
    """
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
