"""Where numbers come from: versions, machine and commit of each, and in words whether several are of one origin."""

import os
import platform
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rcexplainer import __version__
from rcexplainer.benchmark.accuracy import versions
from rcexplainer.paper.record import Record, short_version

SOURCE = Path(__file__).parents[1]  # the package
NAMED = 6  # origins that a sentence lists
SHORT = 7  # digits of a commit that are shown
EDITED = "+changes"
CPU_FILE = Path("/proc/cpuinfo")


def origin() -> dict[str, Any]:
    """Versions of the packages, the machine, the commit of the source and whether it was edited since.

    Returns:
        JSON values, kept beside every result as `about`; `dirty` is None where nothing is known of the commit.
    """
    found = commit()
    return {
        "versions": versions(),
        "machine": machine(),
        "commit": None if found is None else found.removesuffix(EDITED),
        "dirty": None if found is None else found.endswith(EDITED),
    }


def machine() -> str:
    """System, processor and number of cores."""
    name = next((line.partition(":")[2].strip() for line in _cpu_lines() if line.startswith("model name")), "")
    return ", ".join(filter(None, (f"{platform.system()} {platform.machine()}", name, f"{os.cpu_count()} cores")))


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
    return f"{found}{EDITED}" if edited else found


def mixture(records: Iterable[Record]) -> str:
    """Whether results are of one machine, one version of torch, one device and one commit.

    Args:
        records: The results that are shown together.

    Returns:
        What there is more than one of, with the number of results of each, in one sentence; "" where there is not.
    """
    known = list(records)
    parts = [
        f"{len(found)} {name} ({_counted(found)})"
        for name, read in ORIGINS.items()
        if len(found := Counter(read(one.about) for one in known)) > 1
    ]
    return f"These results are of {', '.join(parts)}." if parts else ""


def _counted(found: "Counter[str]") -> str:
    """The most frequent ones with their numbers; the files of results name them all."""
    parts = [f"{one}: {count}" for one, count in found.most_common(NAMED)]
    rest = found.total() - sum(count for _, count in found.most_common(NAMED))
    return "; ".join([*parts, *([f"others: {rest}"] if rest else [])])


def unproven(records: Iterable[Record]) -> str:
    """Which results are of another version, or cannot be traced to a commit and to the weights of their network.

    Args:
        records: The results that are shown together.

    Returns:
        How many lack what, in one sentence; "" where none does.
    """
    known = list(records)
    others = Counter(one.version for one in known if one.version != short_version(__version__))
    counted = {
        **{f"of version {name}": count for name, count in sorted(others.items())},
        "relabelled, their digest is not of what was computed": sum(one.relabelled for one in known),
        "without the commit that computed them": sum(not one.about.get("commit") for one in known),
        "computed from a source with changes that were not committed": sum(map(_edited, known)),
        "without the hash of their network's weights": sum(one.weights is None for one in known),
    }
    parts = [f"{count} {text}" for text, count in counted.items() if count]
    return f"Of {len(known)} results, {'; '.join(parts)}." if parts else ""


def unlike(records: Iterable[Record], here: Mapping[str, Any]) -> Sequence[str]:
    """What would be mixed if jobs were run here, beside results that are kept already.

    Args:
        records: The results that are kept.
        here: `origin()`, and the device.

    Returns:
        For machine, torch and device a phrase with what is kept, where it is not the same.
    """
    known = [one.about for one in records]
    return [
        f"{', '.join(sorted(others))} (here: {read(here)})"
        for read in (_machine, _torch, _device)
        if (others := {read(about) for about in known} - {read(here)})
    ]


def _machine(about: Mapping[str, Any]) -> str:
    return str(about.get("machine") or "a machine that is not named")


def _torch(about: Mapping[str, Any]) -> str:
    return f"torch {about.get('versions', {}).get('torch', '?')}"


def _device(about: Mapping[str, Any]) -> str:
    return str(about.get("device") or "CPU")


def _commit(about: Mapping[str, Any]) -> str:
    name = str(about.get("commit") or "?")
    known = name.removesuffix(EDITED)
    edited = about.get("dirty") or name != known
    return f"{known[:SHORT]}{EDITED if edited else ''}"  # the same commit may be named by its whole hash elsewhere


def _edited(record: Record) -> bool:
    return _commit(record.about).endswith(EDITED)


ORIGINS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "machines": _machine,
    "versions of torch": _torch,
    "devices": _device,
    "commits": _commit,
}


def _cpu_lines() -> list[str]:
    try:
        return CPU_FILE.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, encoding="utf-8", timeout=5, check=True
    ).stdout.strip()
