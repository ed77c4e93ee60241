"""From the paper to our entries: each of its tables and figures, where ours is, and why the two differ.

The texts are in `paper_index.toml`. An item without an entry says why it is not reproduced.
"""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

INDEX_FILE = "paper_index.toml"
INDEX_TITLE = "From the paper to here"
INDEX_COLUMNS = ("in the paper", "here", "why they differ")


@dataclass(frozen=True)
class PaperItem:
    """A table or figure of the paper.

    Attributes:
        label: Its label in the paper's LaTeX source.
        name: What it shows.
        place: The section it is in.
        entries: Our entries that show the same; none: it is not reproduced.
        differs: Why the numbers differ, or why there are none, in one sentence.
    """

    label: str
    name: str
    place: str
    entries: tuple[str, ...]
    differs: str

    def known(self, names: Collection[str]) -> list[str]:
        """Its entries among those that there are."""
        return [name for name in self.entries if name in names]


@cache
def paper_items() -> tuple[PaperItem, ...]:
    """All tables and figures of the paper, in its order."""
    return tuple(PaperItem(**{**one, "entries": tuple(one["entries"])}) for one in _content()["item"])


def index_text() -> str:
    """What is to be said about all of them."""
    return str(_content()["common"])


@cache
def _content() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(INDEX_FILE).read_text(encoding="utf-8"))
