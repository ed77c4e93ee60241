"""docs/trust.md from the figures in docs/trust/*.json, which `make trust` and its parts print.

    python tools/trust/page.py [--figures docs/trust] [--out docs/trust.md]

The words of each part are in `page_words.py`, all numbers from its file; a part without a file is said to be missing.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from page_words import ENTERED, FAULTS, OPENING, PARTS, TITLE

from rcexplainer.saving.files import write_whole


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
    blocks.append(
        f"`{document['command']}` (version {document['version']}, seed {document['seed']}{_made_at(document)}):"
    )
    blocks.append("\n".join(f"- {key}: {_cell(value)}" for key, value in document["figures"].items()))
    if document["rows"]:
        blocks.append(_table(SHORT.get(name, list)(document["rows"])))
    if document["notes"]:
        blocks.append("\n".join(f"- {note}" for note in document["notes"]))
    return "\n\n".join(block for block in blocks if block)


def _made_at(document: dict[str, Any]) -> str:
    """The commit and the sources that the figures were made from, or that nobody knows them."""
    known = {row.get("commit") for row in document["rows"] if isinstance(row, dict)} - {None}
    commit = document.get("commit") or (known.pop() if len(known) == 1 else None)
    if commit:
        whole, mark, _ = commit.partition("+")
        edited = ", with changes that were not committed" if mark else ""
        sources = f", sources {document['sources']}" if document.get("sources") else ""
        return f", commit {whole[:7]}{edited}{sources}"
    entered = ENTERED.get(document["part"])
    return "; the commit was not recorded" + (
        f", the figures came into the repository with {entered}" if entered else ""
    )


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
