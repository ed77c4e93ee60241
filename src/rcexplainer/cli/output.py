"""What a command prints: tables with captions, or one JSON document."""

import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rcexplainer.saving.documents import to_text

WIDTH = 110  # of captions that go to a file or a pipe
UNCUT = 100_000  # the width of tables there: a line for each row, however long, for whatever reads or searches them

TableRows = Sequence[dict[str, Any]]  # one dict per line, column → value


def show(document: Any, rows: TableRows, caption: str, as_json: bool) -> None:
    """Print one JSON document, or one table.

    Args:
        document: What `--json` prints.
        rows: The lines of the table; `_` in a column's name is shown as a space.
        caption: The text under the table.
        as_json: Print the document, not the table.
    """
    show_tables(document, [(rows, caption)], as_json)


def show_tables(document: Any, tables: Sequence[tuple[TableRows, str]], as_json: bool) -> None:
    """Print one JSON document, or several tables.

    Args:
        document: What `--json` prints.
        tables: Pairs of rows and caption, as for `show`; a table without rows is its caption alone.
        as_json: Print the document, not the tables.
    """
    if as_json:
        print(to_text(document))
        return
    if sys.stdout.isatty():
        _print(Console(), tables, None)
        return
    console = Console(width=UNCUT)
    with console.capture() as captured:
        _print(console, tables, WIDTH)
    # The widest cell of the last column would give every line its length.
    print("\n".join(line.rstrip() for line in captured.get().split("\n")), end="")


def _print(console: Console, tables: Sequence[tuple[TableRows, str]], width: int | None) -> None:
    """Print tables; with a width for captions, no row is cut."""
    for place, (rows, caption) in enumerate(tables):
        if place:
            console.print()
        if rows:
            console.print(_table(rows), no_wrap=width is not None)
        console.print(f"\n{caption}", style="dim", highlight=False, markup=False, width=width)


def _table(rows: TableRows) -> Table:
    """Columns in the order in which the rows name them, the fullest first; numbers are aligned to the right."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    columns = list(dict.fromkeys(key for row in (max(rows, key=len), *rows) for key in row))
    for column in columns:
        number = isinstance(next(row[column] for row in rows if column in row), int | float)
        first = column == columns[0]  # it names the row: it is never cut
        table.add_column(column.replace("_", " "), justify="right" if number else "left", no_wrap=first)
    for row in rows:
        table.add_row(*(escape(_cell(row.get(column, ""))) for column in columns))
    return table


def _cell(value: Any) -> str:
    """A value as text: enough digits for a share or a number of seconds."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:.2f}"
    return str(value)
