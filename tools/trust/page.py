"""docs/trust.md from the figures in docs/trust/*.json, which `make trust` and its parts print.

    python tools/trust/page.py [--figures docs/trust] [--out docs/trust.md]

Each part's words are here, all numbers are from its file; a part without a file is said to be missing.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from rcexplainer.saving.files import write_whole

TITLE = "# What was tried to break it"
OPENING = """\
Every figure on this page was printed by the command beside it, and is kept in [docs/trust](trust). `make trust` runs
the same parts at sizes that fit in half an hour. This page is made by `python tools/trust/page.py`.

What it rests on: files are written under a temporary name and then moved to their place, so that no half of one is ever
seen; saved explainers, networks and checkpoints have a SHA-256 over all their bytes, results in JSON one over their
values, Parquet results one for each page; a file that fails it is refused, or made again where that is possible. Files
of versions before 0.3 have no checksum: they load, with a warning. Ctrl-C and SIGTERM write what there is, say how to
go on, and end a command with exit code 130 or 143."""
PARTS = {
    "kills": (
        "Killed anywhere",
        "Commands are started as processes on small synthetic inputs, killed at seeded random moments (the process "
        "alone, or its whole group), and started again by the same command until they are done. Then their folders are "
        "compared with those of a run that nobody interrupted: the same files, none left over, the same content apart "
        "from times. One in ten moments lies in the first seconds of a new interpreter, the others anywhere after the "
        "first output of a process forked from an interpreter that has imported torch already.",
    ),
    "cases": (
        "Hostile graphs and models",
        "Generated graphs and models go through every public function: each call ends in an answer or in an error of "
        "ours, within its budget, and leaves the model as it was; every claimed flip is run again alone.",
    ),
    "fuzz": (
        "Readers fuzzed",
        "Coverage-guided fuzzing of everything that reads a file or an upload. The figures are put together from runs "
        "of single readers beside other work. Each finding is fixed, kept as a test and read again at the end; after "
        "its last fix the reader of safetensors files, and that of arrays, was not fuzzed for another ten minutes. "
        "Later a run of `make trust` found one more, a Parquet footer at which pyarrow ends the process "
        "(tests/datasets/test_parquet_footer.py); after its fix that reader was fuzzed for half a minute.",
    ),
    "devices": (
        "Devices and number types",
        "One fitted explainer, moved to each device and number type, must rank the same edges first.",
    ),
    "mutants": (
        "Mutants",
        "Small changes of the code (operators of cosmic-ray, one per place; annotations and messages excluded), each "
        "of which some test must notice if it changes behaviour. Each is tried with a few seconds of the tests that "
        "execute its line, and what survives once more with more of them; survivors stand in "
        "`tools/trust/survivors.toml`, each with its reason. `change nothing`: no user could see the change.",
    ),
    "versions": (
        "Oldest, pinned and newest packages",
        "The suite with the oldest supported, the pinned and the newest torch, PyG and others.",
    ),
    "audit": ("Audit", "Known vulnerabilities of dependencies, and patterns of unsafe code."),
}
FAULTS = """\
## Faults injected

Each has tests in `tests/faults`:

| fault | what happens |
|---|---|
| disk full | the error says what could not be written; the file before it is whole, nothing half written is left |
| folder read-only | an error before the work begins |
| one byte wrong | explainers, networks and named checkpoints are refused; other results are made again |
| file of a later version | an error that says so |
| header that claims a huge size | refused before memory is taken |
| model that raises on every tenth graph | `explain` keeps the error, `fit` leaves it out; others are answered |
| out of memory | `explain` halves its batches; `fit` says how many instances are too many |
| two processes in one folder | the second is refused; where no user named the file, it goes on without one |
| clock set back | budgets, checkpoints and progress bars go on |"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, default=Path("docs/trust"))
    parser.add_argument("--out", type=Path, default=Path("docs/trust.md"))
    given = parser.parse_args()
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in given.figures.glob("*.json")}
    write_whole(given.out, rendered(found).encode())


def rendered(found: dict[str, dict[str, Any]]) -> str:
    """The page.

    Args:
        found: The document of each part, by its name.
    """
    parts = [_part(name, *PARTS[name], found.get(name)) for name in PARTS]
    others = [_part(name, name.capitalize(), "", found[name]) for name in sorted(found.keys() - PARTS.keys())]
    return "\n\n".join([TITLE, OPENING, parts[0], FAULTS, *parts[1:], *others]) + "\n"


def _part(name: str, title: str, text: str, document: dict[str, Any] | None) -> str:
    """The section of one part."""
    blocks = [f"## {title}", text]
    if document is None:
        return "\n\n".join([*blocks, "Not run for this version."])
    blocks.append(f"`{document['command']}` (version {document['version']}, seed {document['seed']}):")
    blocks.append("\n".join(f"- {key}: {_cell(value)}" for key, value in document["figures"].items()))
    if document["rows"]:
        blocks.append(_table(SHORT.get(name, list)(document["rows"])))
    if document["notes"]:
        blocks.append("\n".join(f"- {note}" for note in document["notes"]))
    return "\n\n".join(block for block in blocks if block)


def _by_reason(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings with the same reason in one row; the file of figures has each line of code."""
    found: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        found.setdefault((row["tool"], row["finding"], row["reason"]), []).append(row["place"])
    return [
        {"tool": tool, "finding": finding, "lines": len(places), "reason": reason, "files": sorted(set(places))}
        for (tool, finding, reason), places in found.items()
    ]


def _by_method(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All networks in one row for each method and place; the file of figures has each network."""
    counts = ("instances", "cuts", "same", "ties", "wrong", "predictions", "flips")
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["place"], row["method"]), []).append(row)
    return [
        {"place": place, "method": method, "networks": len(own)}
        | {name: sum(row[name] for row in own) for name in counts}
        | {"largest difference of a score": max(row["score_gap"] for row in own)}
        for (place, method), own in found.items()
    ]


def _by_environment(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tests and versions of each environment."""
    return [
        {"environment": row["environment"], "tests": row.get("tests", f"not installed: {row.get('not installed')}")}
        | row.get("versions", {})
        | {"failed": row.get("failed", [])}
        for row in rows
    ]


SHORT = {"audit": _by_reason, "devices": _by_method, "versions": _by_environment}


def _table(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(_cell(row.get(column, "")) for column in columns) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: Any) -> str:
    """A number as a reader has it; texts without what would end a cell."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float) and 0 < abs(value) < 1e-3:
        return f"{value:.1e}"
    if isinstance(value, list):
        return "; ".join(_cell(one["where"] if isinstance(one, dict) else one) for one in value) or "–"
    return " ".join(str(value).replace("|", "\\|").split())


if __name__ == "__main__":
    main()
