"""What a part of `make trust` leaves behind: its figures as `OUT/PART.json`, printed too, and an exit status."""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rcexplainer import __version__
from rcexplainer.saving.documents import write_document

SOURCE = Path(__file__).resolve().parents[2] / "src"


def source_digest() -> str:
    """A digest of the library's sources: what was tried with other ones is tried again."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*.py")):
        digest.update(path.relative_to(SOURCE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def finish(
    out: Path,
    part: str,
    *,
    seed: int,
    sizes: Mapping[str, Any],
    figures: Mapping[str, Any],
    rows: Sequence[Any] = (),
    notes: Sequence[str] = (),
    failures: Sequence[str] = (),
) -> int:
    """Write and print the figures of a part.

    Args:
        out: The folder of all parts.
        part: The name of this one.
        seed: Random seed.
        sizes: What it was asked to do.
        figures: What it counted.
        rows: Finer figures.
        notes: Sentences for readers of the figures.
        failures: What must not happen, and did; a line is printed for each.

    Returns:
        The exit status: 1 with failures, 0 without.
    """
    command = " ".join(["python", f"tools/trust/{part}.py", *sys.argv[1:]])
    document = {
        "part": part,
        "command": command,
        "seed": seed,
        "version": __version__,
        "sizes": dict(sizes),
        "figures": dict(figures),
        "rows": list(rows),
        "notes": list(notes),
    }
    write_document(out / f"{part}.json", document)
    print(json.dumps(dict(figures), indent=2))
    for note in notes:
        print(note)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0
