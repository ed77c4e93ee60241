"""How a table is filled: a list of columns, each with the function that makes a cell of a method's results, one a seed,
and of what the paper reports.

A method that was left out has no row but a note; so has one that was asked about fewer instances than the others. A
column without a text is not shown, nor a row without a number.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from rcexplainer.benchmark.results import column, mean, std
from rcexplainer.metrics.direction import BETTER
from rcexplainer.paper.table import Cell, Column, Table, marked

NAN = float("nan")

Settings: TypeAlias = dict[str, Any]
Result: TypeAlias = dict[str, Any]
Seeds: TypeAlias = list[Result]  # of one method or variant, one each
Found: TypeAlias = list[tuple[dict[str, Any], Result]]  # what sets a job apart from the others, and its result
Methods: TypeAlias = dict[str, Seeds]
Panel: TypeAlias = tuple[str, str]  # dataset and network
Fill: TypeAlias = tuple[Column, Callable[[Seeds, Any], Cell]]
Notes: TypeAlias = Callable[[Methods], list[str]]
Where: TypeAlias = tuple[str | int, ...]  # where a number is in a result


def number(found: Any, *path: str | int) -> float:
    """A number somewhere in a result; nan where there is none: JSON has no nan, and a list may be empty."""
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return NAN
    return NAN if found is None else float(found)


def numbers(results: Seeds, *path: str | int) -> list[float]:
    return [number(one, *path) for one in results]


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Mean ± standard deviation over the seeds."""
    centre = mean(values)
    if centre != centre:
        return "–"
    shown = f"{centre:z.{digits}f}".replace("-", "−")
    return shown + (f" ± {std(values):.{digits}f}" if len(values) > 1 else "")


# Rows


def groups(found: Found) -> dict[Panel, Methods]:
    """(dataset, network) → method → results."""
    made: dict[Panel, Methods] = {}
    for tags, result in found:
        if not tags.get("network"):
            made.setdefault((tags["dataset"], tags["model"]), {}).setdefault(tags["variant"], []).append(result)
    return made


def about(key: Panel, caption: str) -> str:
    return f"{key[0]}, network {key[1]}: {caption}"


def reported(settings: Settings, dataset: str) -> dict[str, Any]:
    """What the paper reports of a dataset, by method."""
    return settings.get("reference", {}).get(dataset, {})


def left_out(methods: Methods) -> list[str]:
    """Who has no number, and why."""
    notes: list[str] = []
    for name, reason in _reasons(methods).items():
        gone, every = sum(bool(one.get("skipped")) for one in methods[name]), len(methods[name])
        some = "" if gone == every else f" for {gone} of {every} seeds"
        notes.append(f"{name} is left out{some}: {reason}")
    return notes


def samples(methods: Methods) -> list[str]:
    """Who was left out, and who explained fewer instances than there are, those of one size together."""
    found: dict[str, list[str]] = {}
    for name, results in done(methods).items():
        if any(one.get("instances", 0) + one.get("failed", 0) < one.get("held_out", 0) for one in results):
            taken, whole = (_range([one.get(key, 0) for one in results]) for key in ("instances", "held_out"))
            found.setdefault(f"{taken} instances a seed of {whole}", []).append(name)
    return left_out(methods) + [f"{', '.join(names)}: {text}" for text, names in found.items()]


def no_notes(methods: Methods) -> list[str]:
    """For a table that stands beside another with the same methods."""
    return []


def done(methods: Methods) -> Methods:
    """Without what was left out."""
    kept = {name: [one for one in results if not one.get("skipped")] for name, results in methods.items()}
    return {name: results for name, results in kept.items() if results}


def done_groups(found: Found) -> dict[Panel, Methods]:
    """`groups` without what was left out, nor those that have nothing else."""
    return {panel: kept for panel, methods in groups(found).items() if (kept := done(methods))}


def each(settings: Settings, found: Found, caption: str, fills: Sequence[Fill], notes: Notes = samples) -> list[Table]:
    """A table for every dataset and network, in which methods compete."""
    made = [
        table(about(key, caption), "method", methods, fills, reported(settings, key[0]), notes)
        for key, methods in groups(found).items()
    ]
    return [marked(one) for one in made if one]


def table(
    caption: str,
    first: str,
    methods: Methods,
    fills: Sequence[Fill],
    reference: Mapping[str, Any],
    notes: Notes = samples,
) -> Table | None:
    """A row for each method that has a number. Where none has, a row for each that was left out, if the notes are to
    tell; else None."""
    rows = {name: [fill(own, reference.get(name)) for _, fill in fills] for name, own in done(methods).items()}
    rows = {name: row for name, row in rows.items() if any(cell.value is not None for cell in row)}
    if not rows:
        reasons = tuple((Cell(name), Cell(reason)) for name, reason in _reasons(methods).items() if notes(methods))
        return Table(caption, (Column(first), Column("left out")), reasons) if reasons else None
    shown = [place for place in range(len(fills)) if any(row[place].text for row in rows.values())]
    return Table(
        caption,
        (Column(first), *(fills[place][0] for place in shown)),
        tuple((Cell(name), *(row[place] for place in shown)) for name, row in rows.items()),
        tuple(notes(methods)),
    )


def _reasons(methods: Methods) -> dict[str, str]:
    found = {
        name: next((one["skipped"] for one in results if one.get("skipped")), "") for name, results in methods.items()
    }
    return {name: reason for name, reason in found.items() if reason}


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"


# Cells


def over_seeds(values: Sequence[float], digits: int = 2) -> Cell:
    """Mean ± standard deviation, or – for what could not be measured."""
    return shown_as(values, lambda _: spread(values, digits))


def shown_as(values: Sequence[float], show: Callable[[float], str]) -> Cell:
    """The mean, as `show` writes it."""
    centre = mean(values)
    return Cell("–") if centre != centre else Cell(show(centre), centre)


def plain(value: float | None) -> Cell:
    """As the paper prints it: no number of ours, so that it makes no row."""
    return Cell("" if value is None else f"{value:,g}")


def count(results: Seeds, *path: str | int) -> Cell:
    """A sum over the seeds: it describes, and makes no row."""
    return Cell(f"{sum(value for value in numbers(results, *path) if value == value):.0f}")


def difference(ours: Cell, paper: float | None, digits: int = 2) -> Cell:
    """Ours − the paper's."""
    if ours.value is None or paper is None:
        return Cell("")
    return Cell(signed(ours.value - paper, lambda size: f"{size:.{digits}f}"), ours.value - paper)


def signed(value: float, show: Callable[[float], str]) -> str:
    """With its sign, unless it reads as nothing."""
    text = show(abs(value))
    return ("" if not text.strip("0.") else "−" if value < 0 else "+") + text


# Columns


def counted(title: str, *path: str | int) -> Fill:
    return Column(title), lambda results, _: count(results, *path)


def metric(title: str, *path: str | int, digits: int = 2) -> Fill:
    """The number at this path over the seeds; the last name in it says which direction is better."""
    name = [step for step in path if isinstance(step, str)][-1]
    return Column(title, BETTER.get(name)), lambda results, _: over_seeds(numbers(results, *path), digits)


def at_sparsities(sparsities: Sequence[float], name: str) -> list[Fill]:
    return [metric(column(share), name, place) for place, share in enumerate(sparsities)]


def beside(title: str, path: Where, place: int, digits: int = 2) -> list[Fill]:
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


def compared(settings: Settings, found: Found, what: str, title: str, paths: Mapping[str, Where]) -> list[Table]:
    """A row for each number that the paper reports, by method and by `title`: ours, the paper's, the difference."""
    columns = (Column("method"), Column(title), Column("ours"), Column("paper"), Column("difference"))
    made: list[Table] = []
    for key, methods in groups(found).items():
        reference = reported(settings, key[0])
        rows = tuple(
            (Cell(name), Cell(at), ours, plain(paper), difference(ours, paper))
            for name, results in methods.items()
            for at, paper in reference.get(name, {}).items()
            if at in paths and (ours := over_seeds(numbers(results, *paths[at]))).value is not None
        )
        if rows:
            made.append(Table(about(key, f"{what}, beside the paper's"), columns, rows))
    return made
