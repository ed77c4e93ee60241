"""Writes the tables of docs/settings.md from `RCConfig`: names, values in every preset, and the comments beside them.

python tools/settings_page.py            # prints the page
python tools/settings_page.py --write    # writes it
"""

import inspect
import re
import sys
from pathlib import Path

from rcexplainer.config import PRESETS, RCConfig, make_config

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
MARK = "<!-- tables: python tools/settings_page.py --write -->"
COLUMNS = {
    "`default`, graphs": PRESETS["default"],
    "nodes, links": make_config("default", {}, "node"),
    "`paper`": PRESETS["paper"],
    "nodes, links ": make_config("paper", {}, "node"),
    "`released`": PRESETS["released"],
    "nodes, links  ": make_config("released", {}, "node"),
}


def shown(config: RCConfig, name: str) -> str:
    """A value as it is typed; in brackets where it has no effect."""
    value = getattr(config, name)
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    if isinstance(value, float):
        text = f"{value:.4g}"
    return f"({text})" if name in config.without_effect() else text


def groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """(title, [(setting, comment), …]) in the order of the source."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for line in inspect.getsource(RCConfig).splitlines():
        if title := re.fullmatch(r"    # (.*)", line):
            found.append((title[1], []))
        elif setting := re.match(r"    (\w+): .*?  # (.*)", line):
            found[-1][1].append((setting[1], setting[2]))
    return found


def tables() -> str:
    """The Markdown tables."""
    parts: list[str] = []
    for title, settings in groups():
        rows = [["setting", *COLUMNS, "what it is, and the paper's value"], ["---"] * (len(COLUMNS) + 2)]
        for name, comment in settings:
            values = [shown(config, name) for config in COLUMNS.values()]
            rows.append([f"`{name}`", *values, comment.replace("|", "\\|")])
        parts += [f"### {title}", "\n".join(f"| {' | '.join(cell.strip() for cell in row)} |" for row in rows)]
    return "\n\n".join(parts)


def page() -> str:
    """The whole page: what stands above the mark is written by hand."""
    return f"{PAGE.read_text(encoding='utf-8').split(MARK)[0]}{MARK}\n\n{tables()}\n"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page())
