"""A table whose cells know their numbers, so that the best of a column is found, not typed.

A column with a direction is a competition between the rows: `marked` marks its winners. Greedy deletion, which is a
reference, and random order, which is a floor and explains nothing, take no part.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rcexplainer.metrics.direction import ARROWS, Direction

REFERENCES = ("greedy", "random")


@dataclass(frozen=True)
class Column:
    title: str
    better: Direction | None = None  # None: nothing is won here

    @property
    def heading(self) -> str:
        return f"{self.title} {ARROWS[self.better]}" if self.better else self.title


@dataclass(frozen=True)
class Cell:
    text: str
    value: float | None = None  # None: no number, or none that could be measured
    best: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells, one for each column; the first names the row."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def to_rows(self) -> list[dict[str, str]]:
        """The texts of every row by the headings of their columns."""
        headings = [column.heading for column in self.columns]
        return [dict(zip(headings, (cell.text for cell in row), strict=True)) for row in self.rows]

    def numbers(self, title: str) -> dict[str, float]:
        """The numbers of one column by the names of their rows; those that there are."""
        place = [column.title for column in self.columns].index(title)
        return {row[0].text: value for row in self.rows if (value := row[place].value) is not None}


def marked(table: Table, references: Sequence[str] = REFERENCES) -> Table:
    """The table with the best of every directed column marked, where there is one to be better than.

    A tie is what reads the same: who differs from the best by less than is printed has won as well. Where all read the
    same nobody has.
    """
    best = [_best(table, place, references) for place in range(len(table.columns))]
    rows = tuple(
        tuple(
            replace(cell, best=row[0].text not in references and _competes(cell) and _centre(cell) == best[place])
            for place, cell in enumerate(row)
        )
        for row in table.rows
    )
    return replace(table, rows=rows)


def _best(table: Table, place: int, references: Sequence[str]) -> str | None:
    """What is printed of the best value of a column; None where there is no competition."""
    better = table.columns[place].better
    cells = [row[place] for row in table.rows if row[0].text not in references and _competes(row[place])]
    if better is None or len({_centre(cell) for cell in cells}) < 2:
        return None
    return _centre((max if better == "higher" else min)(cells, key=lambda cell: cell.value or 0.0))


def _competes(cell: Cell) -> bool:
    return cell.value is not None


def _centre(cell: Cell) -> str:
    """The text without its ± spread."""
    return cell.text.partition(" ±")[0]
