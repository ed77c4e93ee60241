"""What a part of `make trust` leaves behind: its figures as `OUT/PART.json`, printed too, and an exit status."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from source_digest import source_digest

from rcexplainer import __version__
from rcexplainer.paper.origin import commit
from rcexplainer.saving.documents import write_document


def made_from(sources: str | None = None) -> dict[str, Any]:
    """What figures were made from: version, commit (None if it is not known) and a digest of the sources.

    Args:
        sources: The digest where it is not of all sources.
    """
    return {"version": __version__, "commit": commit(), "sources": sources or source_digest()}


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
    sources: str | None = None,
    script: str | None = None,
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
        sources: The digest of the sources it was made from, where these are not all.
        script: The script's name, where it is not that of the part.

    Returns:
        The exit status: 1 with failures, 0 without.
    """
    command = " ".join(["python", f"tools/trust/{script or part}.py", *sys.argv[1:]])
    document = {
        "part": part,
        "command": command,
        "seed": seed,
        **made_from(sources),
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
