"""Two versions side by side: Markdown tables from the documents that `bench --out` wrote for each.

    python tools/speed_table.py build/speed/old build/speed/new                             prints all tables
    python tools/speed_table.py build/speed/old build/speed/new --page docs/performance.md  puts them into the page

In the page, a table stands between `<!-- speed: explain-cpu-1 -->` and `<!-- end -->`: the name is that of the file.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

KEYS = (
    "row",
    "set",
    "what",
    "search",
    "budget",
    "size",
    "graphs",
    "instances",
    "edges",
)  # what a row is, not its value
VALUES = ("seconds", "ms a graph", "peak MB", "slope")  # the first one that a row has is compared
MORE = ("last three", "÷ loader + forward", "÷ forward", "÷ GNN step", "deleted", "minimal", "exhausted", "epochs")
PLACE = re.compile(r"(<!-- speed: ([\w.-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def number(value: Any) -> str:
    """Three digits; thousands with a comma."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else "yes" if value is True else "no" if value is False else str(value)
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def identity(row: dict[str, Any]) -> tuple[Any, ...]:
    """What tells a row from the others of its document; the number of edges may differ between versions of a set."""
    return (*(row.get(key) for key in KEYS if key != "edges"), next(name for name in VALUES if name in row))


def table(old: dict[str, Any] | None, new: dict[str, Any]) -> str:
    """One document's rows, the old version's value beside the new one's."""
    before = {identity(row): row for row in (old or {"rows": []})["rows"]}
    keys = [key for key in KEYS if any(key in row for row in new["rows"])]
    more = [key for key in MORE if any(row.get(key) is not None for row in new["rows"])]
    head = [
        *keys,
        "unit",
        "before",
        "after",
        "before ÷ after",
        *(f"{key}, {when}" for key in more for when in ("before", "after")),
    ]
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    for row in new["rows"]:
        unit = next(name for name in VALUES if name in row)
        early = before.get(identity(row), {})
        faster = number(early[unit] / row[unit]) if unit in early and unit != "slope" and row[unit] else ""
        cells = [number(row.get(key)) for key in keys]
        cells += [unit, number(early.get(unit)), number(row[unit]), faster]
        cells += [number(one.get(key)) for key in more for one in (early, row)]
        lines.append(" | ".join(cells))
    where = new["machine"]
    caption = f"{where['processor']}, {where['threads']} thread(s), {where['device']}, torch {where['torch']}"
    return "\n".join(f"| {line} |" for line in lines) + f"\n\n{caption}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    found: dict[str, str] = {}
    for path in sorted(args.new.glob("*.json")):
        early = args.old / path.name
        old = json.loads(early.read_text(encoding="utf-8")) if early.exists() else None
        found[path.stem] = table(old, json.loads(path.read_text(encoding="utf-8")))
    if args.page is None:
        for name, text in found.items():
            print(f"{name}\n\n{text}")
        return
    page = args.page.read_text(encoding="utf-8")
    filled = PLACE.sub(lambda place: place[1] + found.get(place[2], "not measured\n") + place[3], page)
    args.page.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
