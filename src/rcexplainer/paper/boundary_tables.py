"""What boundaries add: rows that differ only in what masks should lead out of, each beside the first, seed by seed."""

from collections.abc import Callable, Sequence

from rcexplainer.benchmark.intervals import band
from rcexplainer.metrics.direction import BETTER
from rcexplainer.paper.captions import panel_text
from rcexplainer.paper.cells import metric, over_seeds, signed
from rcexplainer.paper.fidelity_tables import robust_column, summed_fidelity
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import (
    EntrySettings,
    MethodResults,
    SeedResults,
    TaggedResults,
    done_groups,
    number,
)
from rcexplainer.paper.table import Column, Table, TableCell, dated

Score = Callable[[JobResult], float]

# What is compared pair by pair: title → the number of a result.
PAIRED: dict[str, Score] = {
    "Σ fidelity": summed_fidelity,
    "robust": lambda one: number(one, "robust", "auc", 0, 0),
    "robust, strict": lambda one: number(one, "strict", "auc", 0, 0),
    "motif AUC": lambda one: number(one, "auc"),
}
CAPTION = (
    "same network, optimiser, noisy copies with the stability loss, gates and λ; Δ: less the first row of the same "
    "training, paired by seed, with its 95 % interval; * where it does not contain 0; dead: seeds whose scores are "
    "constant or no better than random order; robust: AUC at 10 % noise, the paper's and strict"
)
REFERENCE_ROWS = ("greedy", "random")


def boundary_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """A table for each dataset and network: the numbers, and the differences to the first row of each training.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The tables.
    """
    return [
        _panel(panel_text(settings, panel, CAPTION, methods), methods) for panel, methods in done_groups(found).items()
    ]


def boundary_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """Σ fidelity of every row on every network, less that of the first row of its training.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The table; None without results.
    """
    panels = done_groups(found)
    names = [
        name
        for name in dict.fromkeys(name for methods in panels.values() for name in methods)
        if name not in REFERENCE_ROWS
    ]
    if not names:
        return None
    rows, versions = [], []
    for name in names:
        cells = []
        for methods in panels.values():
            first = first_of(name, methods)
            known = name in methods and first is not None
            cells.append(
                _difference(methods[name], methods[first], summed_fidelity) if known and first else TableCell("")
            )
        rows.append((TableCell(name), *cells))
        versions.append(as_of(one for methods in panels.values() for one in methods.get(name, ())))
    columns = (Column("what masks should leave"), *(Column(f"{dataset}, {model}") for dataset, model in panels))
    caption = (
        "sum of fidelities at sparsities .95 to .75; the first row of each training, and the others less the first, "
        "paired by seed, with the 95 % interval; * where it does not contain 0"
    )
    return dated(Table(caption, columns, tuple(rows)), versions)


def first_of(name: str, methods: MethodResults) -> str | None:
    """The row that a row is compared with: the first one of the same training."""
    alike = [one for one in methods if one.startswith("default") == name.startswith("default")]
    alike = [one for one in alike if one not in REFERENCE_ROWS]
    return alike[0] if alike else None


def _panel(caption: str, methods: MethodResults) -> Table:
    """One dataset and network."""
    fills = [metric("motif AUC", "auc"), metric("flipped", "flipped")]
    fills = [
        (Column("Σ fidelity", BETTER["fidelity"]), lambda results, _: over_seeds(list(map(summed_fidelity, results)))),
        robust_column(),
        robust_column("strict", "robust, strict"),
        *fills,
    ]
    rows, versions = [], []
    for name, results in methods.items():
        first = first_of(name, methods)
        compared = first is not None and name != first and name not in REFERENCE_ROWS
        differences = [
            _difference(results, methods[first], score) if compared and first else TableCell("")
            for score in PAIRED.values()
        ]
        rows.append((TableCell(name), *(fill(results, None) for _, fill in fills), *differences, _dead(results)))
        versions.append(as_of(results))
    columns = (
        Column("what masks should leave"),
        *(column for column, _ in fills),
        *(Column(f"Δ {title}") for title in PAIRED),
        Column("dead"),
    )
    shown = [place for place in range(len(columns)) if any(row[place].text not in ("", "–") for row in rows)]
    table = Table(
        caption, tuple(columns[place] for place in shown), tuple(tuple(row[place] for place in shown) for row in rows)
    )
    return dated(table, versions)


def _difference(results: SeedResults, first: SeedResults, score: Score) -> TableCell:
    """Mean difference to the first row, paired by seed, with its 95 % interval; the row itself shows its own mean."""
    if results is first:
        return over_seeds([score(one) for one in results])
    by_seed = {one["seed"]: score(one) for one in first}
    return paired([score(one) - by_seed[one["seed"]] for one in results if one["seed"] in by_seed])


def paired(differences: Sequence[float], digits: int = 2) -> TableCell:
    """Mean ± half the 95 % interval of paired differences, with a star where it does not contain 0.

    Args:
        differences: One for each seed.
        digits: How many are printed.
    """
    centre, half = band(differences)
    if centre != centre:
        return TableCell("–")
    text = signed(centre, lambda size: f"{size:.{digits}f}")
    if half != half:
        return TableCell(text, centre)
    clear = abs(centre) > half and text.strip("+−0.")  # what is printed as 0 is none worth a star
    return TableCell(f"{text} ± {half:.{digits}f}{'*' if clear else ''}", centre)


def _dead(results: SeedResults) -> TableCell:
    """Seeds whose scores are constant or no better than random order."""
    gone = sum(bool(one.get("dead")) for one in results)
    return TableCell(f"{gone} of {len(results)}")
