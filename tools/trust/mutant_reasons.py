"""Why no test should notice a mutant: `survivors.toml`.

A reason stands once, with its mutants: each as its file and its changed line, which stay the same when other lines of
the file change; or as a family, an operator and a pattern of the lines it changes.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("survivors.toml")
SOURCE = "src/rcexplainer/"


@dataclass(frozen=True)
class Reason:
    """One reason.

    Attributes:
        text: The reason, for readers.
        alike: Whether no user could see the change; where one could, it counts as not killed.
        mutants: `file: changed line` of single mutants.
        operator: Operator of a family; empty if it has none.
        line: Pattern that the lines of the family contain before the change.
    """

    text: str
    alike: bool
    mutants: frozenset[str] = frozenset()
    operator: str = ""
    line: str = ""

    def holds(self, mutant: Mapping[str, Any]) -> bool:
        """Whether it is the reason of a mutant.

        Args:
            mutant: From `listed_mutants`.
        """
        if f"{mutant['file'].removeprefix(SOURCE)}: {mutant['after']}" in self.mutants:
            return True
        family = bool(self.operator) and mutant["operator"].endswith(f"/{self.operator}")
        return family and re.search(self.line, mutant["before"]) is not None


@cache
def reasons(file: Path = FILE) -> list[Reason]:
    """All reasons.

    Args:
        file: A file in TOML.
    """
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("reason", [])
    return [Reason(**{**row, "mutants": frozenset(row.get("mutants", ()))}) for row in rows]


def reason_of(mutant: Mapping[str, Any], known: list[Reason]) -> Reason | None:
    """The reason of a mutant, if there is one.

    Args:
        mutant: From `listed_mutants`.
        known: All reasons.
    """
    return next((reason for reason in known if reason.holds(mutant)), None)
