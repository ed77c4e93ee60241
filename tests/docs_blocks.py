"""The code blocks of the documentation: what is fenced in docs/**/*.md and README.md, and indented command lines.

A comment right above a fence says that its block is not run as the others are, and why:

    <!-- checked: it needs a cluster -->      its commands have to be valid; only for commands
    <!-- slow: Ray starts in 15 s -->         it is run, by a test that is marked slow

Everything else is run. Pages of notebooks are run as notebooks.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(
    r"^(?:<!-- (?P<mark>checked|slow): (?P<reason>.*?) -->\n)?"
    r"(?P<fence>```+)(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=fence)$",
    re.M | re.S,
)
INDENTED = re.compile(r"^ {4}((?:rcexplainer|python) [^\n]*(?:\\\n[^\n]*)*)", re.M)
NOTEBOOKS = "docs/notebooks/"
PYTHON, COMMANDS, SHOWN = ("python",), ("sh", "console"), ("text", "json")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: Its page, relative to the repository.
        line: Its first line, counted from 1.
        language: What stands behind the fence.
        code: Its text.
        mark: "checked", "slow", or nothing.
        reason: Why it is marked.
    """

    page: str
    line: int
    language: str
    code: str
    mark: str
    reason: str


def pages() -> list[str]:
    """All pages but those of notebooks, relative to the repository."""
    found = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
    return ["README.md", *(page for page in found if not page.startswith(NOTEBOOKS))]


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(
            page,
            text[: found.start("code")].count("\n") + 1,
            found["language"],
            found["code"],
            found["mark"] or "",
            found["reason"] or "",
        )
        for found in FENCE.finditer(text)
    ]


def commands(code: str) -> list[str]:
    """The command lines of a block, continued lines joined, without comments."""
    lines = code.replace("\\\n", " ").splitlines()
    return [line for line in (re.split(r"\s+# ", line)[0].strip() for line in lines) if line]


def indented_commands(page: str) -> list[str]:
    """Commands in indented blocks: how figures were made. They run for minutes or hours, and are checked."""
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return [re.split(r"\s{3,}", command.replace("\\\n", " "))[0].strip() for command in INDENTED.findall(text)]
