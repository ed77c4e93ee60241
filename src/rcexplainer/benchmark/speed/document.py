"""The result of a benchmark with the machine it was measured on, as JSON; the plot of `scaling` beside it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.speed.machine import machine
from rcexplainer.benchmark.speed.options import BenchOptions, Rows


def document(name: str, options: BenchOptions, rows: Rows) -> dict[str, Any]:
    """The rows of a benchmark, and what they were measured on and with.

    Args:
        name: One of `BENCHMARKS`.
        options: Its options.
        rows: What it measured.
    """
    settings = {key: str(value) if isinstance(value, Path) else value for key, value in asdict(options).items()}
    return {"bench": name, "machine": machine(options.device), "options": settings, "rows": rows}


def write(found: dict[str, Any], folder: Path) -> Path:
    """Write a document to a folder, and its plot where it has one and matplotlib is installed.

    Rows of other names that the file has already, measured on the same machine, stay in it.

    Args:
        found: The document.
        folder: Where to; made if needed.

    Returns:
        The file of the document.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = found["options"]
    path = folder / f"{found['bench']}-{settings['device']}-{found['machine']['threads']}.json"
    if path.exists():
        earlier = json.loads(path.read_text(encoding="utf-8"))
        measured = {row.get("row") for row in found["rows"]}
        if earlier["machine"] == found["machine"]:
            stay = [row for row in earlier["rows"] if row.get("row") not in measured]
            found = {**found, "rows": [*stay, *found["rows"]]}
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if found["bench"] == "scaling" and "slope" in found["rows"][-1]:
        from rcexplainer.benchmark.speed.scaling_plot import scaling_plot

        scaling_plot(found["rows"], path.with_suffix(".svg"))
    return path
