"""A table whose cells know their numbers, so that the best of a column is computed, not typed.

A column with a direction is a competition between the rows: `marked` marks its winners. Greedy deletion, the reference,
and random order, the floor, take no part. `dated` says which rows are results of an earlier version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rcexplainer.metrics.direction import ARROWS, Direction

REFERENCE_METHODS = ("greedy", "random")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its name.
        better: Which direction is better; None where nothing is won.
    """

    title: str
    better: Direction | None = None

    @property
    def heading(self) -> str:
        """The title, with an arrow where a direction is better."""
        return f"{self.title} {ARROWS[self.better]}" if self.better else self.title


@dataclass(frozen=True)
class TableCell:
    """What one row has in one column.

    Attributes:
        text: As it is printed.
        value: The number; None where there is none, or none could be measured.
        best: Whether it is the best of its column.
    """

    text: str
    value: float | None = None
    best: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells, one for each column; the first names the row.

    Attributes:
        caption: What is shown.
        columns: Its columns.
        rows: Its rows.
        notes: Sentences below it.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    notes: tuple[str, ...] = ()

    def to_rows(self) -> list[dict[str, str]]:
        """The texts of every row, by the headings of their columns."""
        headings = [column.heading for column in self.columns]
        return [dict(zip(headings, (cell.text for cell in row), strict=True)) for row in self.rows]

    def numbers(self, title: str) -> dict[str, float]:
        """The numbers of one column.

        Args:
            title: The column's title.

        Returns:
            Name of the row → number, of the rows that have one.
        """
        place = [column.title for column in self.columns].index(title)
        return {row[0].text: value for row in self.rows if (value := row[place].value) is not None}


def marked(table: Table, references: Sequence[str] = REFERENCE_METHODS) -> Table:
    """Mark the best of every column that has a direction.

    Values that are printed alike are a tie, and all of them are marked; where all rows are alike none is.

    Args:
        table: The table.
        references: Rows that take no part.

    Returns:
        The table with its winners marked.
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


def dated(table: Table, versions: Sequence[str]) -> Table:
    """Say which rows are results of an earlier version.

    Args:
        table: The table.
        versions: Of every row the version, "" for this one (`record.as_of`).

    Returns:
        The table as it is where all are this version's; with the version in its caption where all rows have the same;
        else with a last column of versions.
    """
    if not any(versions):
        return table
    if len(set(versions)) == 1:
        return replace(table, caption=f"{table.caption} (as of version {versions[0]})")
    rows = tuple((*row, TableCell(version)) for row, version in zip(table.rows, versions, strict=True))
    return replace(table, columns=(*table.columns, Column("as of version")), rows=rows)


def _best(table: Table, place: int, references: Sequence[str]) -> str | None:
    """What is printed of the best value of a column; None where there is no competition."""
    better = table.columns[place].better
    cells = [row[place] for row in table.rows if row[0].text not in references and _competes(row[place])]
    if better is None or len({_centre(cell) for cell in cells}) < 2:
        return None
    return _centre((max if better == "higher" else min)(cells, key=lambda cell: cell.value or 0.0))


def _competes(cell: TableCell) -> bool:
    return cell.value is not None


def _centre(cell: TableCell) -> str:
    """The text without its ± spread."""
    return cell.text.partition(" ±")[0]
