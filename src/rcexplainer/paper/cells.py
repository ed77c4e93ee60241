"""The cells and columns of tables: a `Fill` is a column with the function that makes its cell from a method's results.

A method that was left out has no row but a note; so has one that explained a sample. A column without any text is not
shown, nor a row without a number.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from rcexplainer.benchmark.results import column, mean
from rcexplainer.metrics.direction import BETTER
from rcexplainer.paper.captions import panel_text
from rcexplainer.paper.record import as_of
from rcexplainer.paper.reference import published, source_notes
from rcexplainer.paper.result_groups import (
    EntrySettings,
    MethodResults,
    NoteMaker,
    SeedResults,
    TaggedResults,
    done,
    groups,
    numbers,
    reasons,
    reported,
    samples,
    spread,
)
from rcexplainer.paper.table import Column, Table, TableCell, dated, marked

Fill: TypeAlias = tuple[Column, Callable[[SeedResults, Any], TableCell]]  # from results and what the paper reports
NumberPath: TypeAlias = tuple[str | int, ...]  # names and places that lead to a number in a result


def panel_tables(
    settings: EntrySettings,
    found: TaggedResults,
    caption: str,
    fills: Sequence[Fill],
    notes: NoteMaker = samples,
    instances: str | None = None,
) -> list[Table]:
    """A table for every dataset and network, in which methods compete.

    Args:
        settings: The entry's.
        found: Its results.
        caption: What is shown, after dataset, network, instances and seeds.
        fills: The columns.
        notes: Makes the notes from the methods of a table.
        instances: Which instances it is about, where not those of the entry (`captions.panel_text`).

    Returns:
        The tables that have a row, with the best of each column marked.
    """
    made = [
        method_table(
            panel_text(settings, panel, caption, done(methods), instances),
            "method",
            methods,
            fills,
            reported(settings, panel[0]),
            notes,
        )
        for panel, methods in groups(found).items()
    ]
    return [marked(one) for one in made if one]


def method_table(
    caption: str,
    first: str,
    methods: MethodResults,
    fills: Sequence[Fill],
    reference: Mapping[str, Any],
    notes: NoteMaker = samples,
) -> Table | None:
    """A row for each method that has a number.

    Args:
        caption: Of the table.
        first: The title of the first column.
        methods: Method → its results.
        fills: The other columns.
        reference: Method → what the paper reports.
        notes: Makes the notes.

    Returns:
        The table. Where no method has a number, a row for each that was left out, if the notes name them; else None.
    """
    rows = {name: [fill(own, reference.get(name)) for _, fill in fills] for name, own in done(methods).items()}
    rows = {name: row for name, row in rows.items() if any(cell.value is not None for cell in row)}
    if not rows:
        gone = tuple(
            (TableCell(name), TableCell(reason)) for name, reason in reasons(methods).items() if notes(methods)
        )
        return Table(caption, (Column(first), Column("left out")), gone) if gone else None
    shown = [place for place in range(len(fills)) if any(row[place].text for row in rows.values())]
    table = Table(
        caption,
        (Column(first), *(fills[place][0] for place in shown)),
        tuple((TableCell(name), *(row[place] for place in shown)) for name, row in rows.items()),
        tuple(notes(methods)),
    )
    return dated(table, [as_of(methods[name]) for name in rows])


def compared(
    settings: EntrySettings, found: TaggedResults, what: str, title: str, paths: Mapping[str, NumberPath]
) -> list[Table]:
    """Ours, what others report and the difference, a row for each number that is reported.

    Args:
        settings: The entry's.
        found: Its results.
        what: What is compared, for the caption.
        title: The column that tells the numbers of a method apart, such as the sparsity.
        paths: Its values → where the number is in a result.

    Returns:
        A table for every dataset and network with such numbers. Where all are of one source, measured where they are
        listed, it heads their column; else a column says whose each is, and from which sparsity.
    """
    made: list[Table] = []
    for panel, methods in groups(found).items():
        others = published(settings, panel[0])
        rows = {
            (name, at): (over_seeds(numbers(results, *paths[at])), one)
            for name, results in methods.items()
            for at, one in others.get(name, {}).items()
            if at in paths
        }
        rows = {key: row for key, row in rows.items() if row[0].value is not None}
        if not rows:
            continue
        origins = dict.fromkeys(one.origin for _, one in rows.values())
        whose = next(iter(origins)) if len(origins) == 1 else ""
        columns = [Column("method"), Column(title), Column("ours"), Column(whose or "reported")]
        columns += [*([] if whose else [Column("by")]), Column("difference")]
        cells = tuple(
            (
                TableCell(name),
                TableCell(at),
                ours,
                plain(one.value),
                *([] if whose else [TableCell(one.origin)]),
                difference(ours, one.value if one.comparable(at) else None),
            )
            for (name, at), (ours, one) in rows.items()
        )
        beside = f"the {whose}'s" if whose else "what others report"
        caption = panel_text(settings, panel, f"{what}, beside {beside}", done(methods))
        notes = source_notes(settings, [(at, one) for (_, at), (_, one) in rows.items()])
        table = Table(caption, tuple(columns), cells, notes)
        made.append(dated(table, [as_of(methods[name]) for name, _ in rows]))
    return made


# Cells


def over_seeds(values: Sequence[float], digits: int = 2) -> TableCell:
    """Mean ± standard deviation; – for what could not be measured."""
    return shown_as(values, lambda _: spread(values, digits))


def shown_as(values: Sequence[float], show: Callable[[float], str]) -> TableCell:
    """The mean, as `show` writes it; – for what could not be measured."""
    centre = mean(values)
    return TableCell("–") if centre != centre else TableCell(show(centre), centre)


def plain(value: float | None) -> TableCell:
    """As the paper prints it: no number of ours, so that it makes no row."""
    return TableCell("" if value is None else f"{value:,g}")


def count(results: SeedResults, *path: str | int) -> TableCell:
    """A sum over the seeds: it describes, and makes no row."""
    return TableCell(f"{sum(value for value in numbers(results, *path) if value == value):.0f}")


def difference(ours: TableCell, paper: float | None, digits: int = 2) -> TableCell:
    """Ours − the paper's; empty where one is missing."""
    if ours.value is None or paper is None:
        return TableCell("")
    return TableCell(signed(ours.value - paper, lambda size: f"{size:.{digits}f}"), ours.value - paper)


def signed(value: float, show: Callable[[float], str]) -> str:
    """A number with its sign, unless it is printed as zero."""
    text = show(abs(value))
    return ("" if not text.strip("0.") else "−" if value < 0 else "+") + text


# Columns


def counted(title: str, *path: str | int) -> Fill:
    """A column of sums over the seeds."""
    return Column(title), lambda results, _: count(results, *path)


def metric(title: str, *path: str | int, digits: int = 2) -> Fill:
    """A column of means over the seeds; the last name in the path says which direction is better."""
    name = [step for step in path if isinstance(step, str)][-1]
    return Column(title, BETTER.get(name)), lambda results, _: over_seeds(numbers(results, *path), digits)


def at_sparsities(sparsities: Sequence[float], name: str) -> list[Fill]:
    """A column for each sparsity of a number that is measured at all of them."""
    return [metric(column(share), name, place) for place, share in enumerate(sparsities)]


def beside(title: str, path: NumberPath, place: int, digits: int = 2) -> list[Fill]:
    """Three columns: ours, the paper's (at this place of what it reports), the difference."""
    own, fill = metric(title, *path, digits=digits)
    return [
        (own, fill),
        (Column(f"{title}, paper"), lambda _, paper: plain(listed(paper, place))),
        (
            Column(f"{title}, difference"),
            lambda results, paper: difference(fill(results, paper), listed(paper, place), digits),
        ),
    ]


def listed(paper: Any, place: int) -> float | None:
    """A number of a list that may hold a – where the paper has none."""
    found = paper[place] if paper else None
    return float(found) if isinstance(found, int | float) else None
