"""From the results of an entry's jobs to its tables: a row for each method or variant, means ± standard deviations over
the seeds, and what the paper reports beside them. Directions and winners follow from the metrics (`BETTER`).

A table is a list of columns, each with the function that fills it from a method's results, one a seed. A method that
was left out has no row but a note, as has one that explains a sample; a column or row without any number is not shown.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from rcexplainer.experiments.reproduce.table import Cell, Column, Table, marked
from rcexplainer.experiments.results import OURS, SPARSITIES, column, mean, std
from rcexplainer.metrics.better import ARROWS, BETTER
from rcexplainer.metrics.fidelity import SPARSITIES as MEASURED

__all__ = [
    "Cell",
    "Column",
    "Found",
    "Table",
    "ablation",
    "case_study",
    "datasets",
    "fidelity",
    "nodes",
    "number",
    "robustness",
    "spread",
    "times",
]

NAN = float("nan")
Settings: TypeAlias = dict[str, Any]
Result: TypeAlias = dict[str, Any]
Found: TypeAlias = list[tuple[dict[str, Any], Result]]  # what sets a job apart from the others, and its result
Path: TypeAlias = tuple[str | int, ...]  # where a number is in a result
Fill: TypeAlias = tuple[Column, Callable[[list[Result], Any], Cell]]  # of a method's results and what the paper reports
Groups: TypeAlias = dict[tuple[str, str], dict[str, list[Result]]]  # (dataset, network) → method → results


def datasets(settings: Settings, found: Found) -> list[Table]:
    groups: dict[str, list[Result]] = {}
    for tags, result in found:
        groups.setdefault(tags["dataset"], []).append(result)
    shape = ("nodes", "edges", "graphs", "classes")
    fills: list[Fill] = [fill for place, name in enumerate(shape) for fill in (_shape(name), _reported(name, place))]
    fills += _beside("test accuracy", ("accuracy",), lambda paper: _one(paper, 4))
    fills += [_metric("motif flips", "motif_flips"), (Column("networks"), lambda own, _: Cell(str(len(own))))]
    table = _table(
        "Ours beside the paper's; motif flips: share of the instances that flip without their motif",
        "dataset",
        {name: groups[name] for name in settings["datasets"] if name in groups},
        fills,
        settings.get("reference", {}),
    )
    return [table] if table else []


def fidelity(settings: Settings, found: Found) -> list[Table]:
    every = _each(
        settings,
        found,
        f"fidelity at sparsity: p lost without the explanation {_arrow('fidelity')}",
        [_instances(), *_at(MEASURED, "fidelity")],
    )
    every += _compared(
        settings,
        found,
        f"fidelity {_arrow('fidelity')}",
        "sparsity",
        {column(s): ("fidelity", at) for at, s in enumerate(MEASURED)},
    )
    if "vary" in settings:  # one method at several settings: the rest would say the same again
        return every
    more = {
        "labelled": "fidelity on test graphs labelled as the class, of methods fast enough to explain them all",
        "flips": "share of the predictions that change without the explanation",
        "kept": "sufficiency: share of the predictions that stay with the explanation alone",
        "kept_drop": "sufficiency: p lost with the explanation alone",
    }
    for name, caption in more.items():
        every += _each(settings, found, caption, _at(MEASURED, name))
    return every


def robustness(settings: Settings, found: Found) -> list[Table]:
    levels = {f"{100 * level:.0f} %": at for at, level in enumerate(settings["noise"])}
    made: list[Table] = []
    for place, k in enumerate(settings.get("k", (8,))):
        caption = f"AUC of the noisy graph's scores against the clean graph's top {k} edges"
        paths: dict[str, Path] = {name: ("robust", "auc", at, place) for name, at in levels.items()}
        made += _each(settings, found, caption, [_noisy(), *(_metric(name, *path) for name, path in paths.items())])
        if k == 8:
            named = {name.removesuffix(" %"): path for name, path in paths.items()}
            made += _compared(settings, found, f"AUC {_arrow('auc')}, k = 8", "noise, %", named)
    for place, k in enumerate(_node_k(found)):
        caption = f"share of the clean graph's top {k} nodes that are the noisy graph's too"
        fills = [_metric(name, "robust", "node_accuracy", at, place) for name, at in levels.items()]
        made += _each(settings, found, caption, fills)
    caption = "Jaccard overlap of what the counterfactuals of a graph and of its noisy copy (10 %) delete"
    copies: Fill = (Column("copies"), lambda results, _: _count(results, "jaccard_copies"))
    return made + _each(settings, found, caption, [copies, _metric("overlap", "jaccard")])


def times(settings: Settings, found: Found) -> list[Table]:
    made = []
    for key, methods in _groups(found).items():
        fills: list[Fill] = [
            (Column("mean ± std, ms", BETTER["seconds_mean"]), _mean_time),
            _milliseconds("median, ms", "seconds"),
            _times_ours(mean(_values(methods.get(OURS, []), "seconds"))),
            _milliseconds("95 %, ms", "seconds_p95"),
            _milliseconds("first, ms", "cold"),
            _milliseconds("in a batch, ms", "batched"),
            (Column("fit, s"), lambda results, _: _cell(_values(results, "fit"), lambda value: f"{value:.1f}")),
            (Column("paper, ms"), lambda _, paper: _plain(None if paper is None else 1000 * paper)),
            (Column("difference, ms"), _slower),
        ]
        reference = settings.get("reference", {}).get(key[0], {})
        made.append(_table(_about(key, TIMES), "method", methods, fills, reference))
    return [marked(table) for table in made if table]


TIMES = (
    "time for the scores of one explanation, alone (the first apart: it warms up) and in a batch of all; the "
    "difference to the paper is our mean's, on other hardware"
)


def nodes(settings: Settings, found: Found) -> list[Table]:
    fills = [
        _instances("nodes"),
        *_beside("AUC", ("auc",), lambda paper: _one(paper, 0), 3),
        *_beside("accuracy", ("accuracy",), lambda paper: _one(paper, 1), 3),
        _metric("flipped", "flipped"),
        _metric("minimal", "minimal"),
        _metric("edges", "size"),
    ]
    return _each(settings, found, "nodes of motifs that no method was fitted on", fills)


def ablation(settings: Settings, found: Found) -> list[Table]:
    def total(results: list[Result], _: Any) -> Cell:
        return _cell([sum(number(one, "fidelity", at) for at in range(len(SPARSITIES))) for one in results])

    fills = [
        *_at(SPARSITIES, "fidelity"),
        (Column("sum", BETTER["fidelity"]), total),
        _metric("robust", "robust", "auc", 0, 0),
    ]
    return _each(
        settings, found, "fidelity at sparsity and its sum, beside greedy deletion's; robust: AUC under noise", fills
    )


def case_study(settings: Settings, found: Found) -> list[Table]:
    shown = {
        "AUC telling": "auc",
        "AUC shared": "auc_shared",
        "p(class) lost": "lost",
        "p(other) gained": "gained",
        "flipped": "flipped",
    }
    names = ("own", "other", "seed")
    columns = [Column("class"), Column("and not"), Column("seed")]
    columns += [Column(title, BETTER.get(name)) for title, name in shown.items()]
    rows = tuple(
        (*(Cell(str(pair[name])) for name in names), *(_cell([number(pair, name)]) for name in shown.values()))
        for _, result in found
        for pair in result["pairs"]
    )
    caption = "three-motifs: the motif that tells two classes apart, and the one they share"
    return [Table(caption, tuple(columns), rows)] if rows else []


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Mean ± standard deviation over the seeds."""
    centre = mean(values)
    if centre != centre:
        return "–"
    return f"{centre:.{digits}f}" + (f" ± {std(values):.{digits}f}" if len(values) > 1 else "")


def number(found: Any, *path: str | int) -> float:
    """A number somewhere in a result; nan where there is none: JSON has no nan, and a list may be empty."""
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return NAN
    return NAN if found is None else float(found)


# Rows and notes


def _groups(found: Found) -> Groups:
    groups: Groups = {}
    for tags, result in found:
        if not tags.get("network"):
            own = groups.setdefault((tags["dataset"], tags["model"]), {})
            own.setdefault(tags["variant"], []).append(result)
    return groups


def _each(settings: Settings, found: Found, caption: str, fills: Sequence[Fill]) -> list[Table]:
    """A table for every dataset and network."""
    made = [
        _table(_about(key, caption), "method", methods, fills, settings.get("reference", {}).get(key[0], {}))
        for key, methods in _groups(found).items()
    ]
    return [marked(table) for table in made if table]


def _about(key: tuple[str, str], caption: str) -> str:
    return f"{key[0]}, network {key[1]}: {caption}"


def _table(
    caption: str, first: str, methods: dict[str, list[Result]], fills: Sequence[Fill], reference: dict[str, Any]
) -> Table | None:
    """A row for each method that has a number; None where none has."""
    done = {name: [one for one in results if not one.get("skipped")] for name, results in methods.items()}
    rows = {name: [fill(own, reference.get(name)) for _, fill in fills] for name, own in done.items() if own}
    rows = {name: row for name, row in rows.items() if any(cell.value is not None for cell in row)}
    if not rows:
        return None
    shown = [place for place in range(len(fills)) if any(row[place].text for row in rows.values())]
    return Table(
        caption,
        (Column(first), *(fills[place][0] for place in shown)),
        tuple((Cell(name), *(row[place] for place in shown)) for name, row in rows.items()),
        (*_left_out(methods), *_samples({name: done[name] for name in rows})),
    )


def _left_out(methods: dict[str, list[Result]]) -> Iterable[str]:
    for name, results in methods.items():
        reasons = [one["skipped"] for one in results if one.get("skipped")]
        if reasons:
            some = "" if len(reasons) == len(results) else f" for {len(reasons)} of {len(results)} seeds"
            yield f"{name} is left out{some}: {reasons[0]}"


def _samples(methods: dict[str, list[Result]]) -> Iterable[str]:
    """Who explained a sample, those of one size together."""
    groups: dict[str, list[str]] = {}
    for name, results in methods.items():
        if any(one.get("instances", 0) + one.get("failed", 0) < one.get("held_out", 0) for one in results):
            taken, whole = (_range([one.get(key, 0) for one in results]) for key in ("instances", "held_out"))
            groups.setdefault(f"{taken} instances a seed of {whole}", []).append(name)
    return [f"{', '.join(names)}: {text}" for text, names in groups.items()]


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"


# Beside the paper


def _compared(settings: Settings, found: Found, what: str, title: str, paths: dict[str, Path]) -> list[Table]:
    """A row for each number that the paper reports, by method and by `title`: ours, the paper's, the difference."""
    columns = (Column("method"), Column(title), Column("ours"), Column("paper"), Column("difference"))
    made: list[Table] = []
    for key, methods in _groups(found).items():
        reference = settings.get("reference", {}).get(key[0], {})
        rows = tuple(
            (Cell(name), Cell(at), ours, _plain(paper), _difference(ours, paper))
            for name, results in methods.items()
            for at, paper in reference.get(name, {}).items()
            if at in paths and (ours := _cell([number(one, *paths[at]) for one in results])).value is not None
        )
        if rows:
            made.append(Table(_about(key, f"{what}, beside the paper's"), columns, rows))
    return made


def _beside(title: str, path: Path, reported: Callable[[Any], float | None], digits: int = 2) -> list[Fill]:
    """Three columns: ours, the paper's, the difference."""
    own, fill = _metric(title, *path, digits=digits)
    return [
        (own, fill),
        (Column(f"{title}, paper"), lambda _, paper: _plain(reported(paper))),
        (
            Column(f"{title}, difference"),
            lambda results, paper: _difference(fill(results, paper), reported(paper), digits),
        ),
    ]


def _one(paper: Any, place: int) -> float | None:
    """A number of a list that may hold a – where the paper has none."""
    found = paper[place] if paper else None
    return float(found) if isinstance(found, int | float) else None


def _difference(ours: Cell, paper: float | None, digits: int = 2) -> Cell:
    if ours.value is None or paper is None:
        return Cell("")
    return Cell(f"{ours.value - paper:+.{digits}f}".replace("-", "−"), ours.value - paper)


def _plain(value: float | None) -> Cell:
    """As the paper prints it; not a number of ours."""
    return Cell("" if value is None else f"{value:,g}")


# Cells


def _arrow(name: str) -> str:
    return ARROWS[BETTER[name]]


def _values(results: Sequence[Result], *path: str | int) -> list[float]:
    return [number(one, *path) for one in results]


def _cell(values: Sequence[float], show: Callable[[float], str] | None = None, digits: int = 2) -> Cell:
    centre = mean(values)
    if centre != centre:
        return Cell("–")
    return Cell(show(centre) if show else spread(values, digits), centre)


def _metric(title: str, *path: str | int, digits: int = 2) -> Fill:
    """Mean ± standard deviation of the number at this path; the last name in it says which direction is better."""
    name = [step for step in path if isinstance(step, str)][-1]
    return Column(title, BETTER.get(name)), lambda results, _: _cell(_values(results, *path), digits=digits)


def _at(sparsities: Sequence[float], name: str) -> list[Fill]:
    return [_metric(column(share), name, place) for place, share in enumerate(sparsities)]


def _count(results: Sequence[Result], *path: str | int) -> Cell:
    """A sum over the seeds: it describes, and is no number that is compared."""
    return Cell(f"{sum(value for value in _values(results, *path) if value == value):.0f}")


def _instances(title: str = "instances") -> Fill:
    return Column(title), lambda results, _: _count(results, "instances")


def _noisy() -> Fill:
    return Column("graphs"), lambda results, _: _count(results, "robust", "graphs")


def _node_k(found: Found) -> list[int]:
    return next((result["robust"]["node_k"] for _, result in found if result.get("robust")), [])


def _shape(name: str) -> Fill:
    def fill(own: list[Result], _: Any) -> Cell:
        value = own[0]["dataset"][name]
        return Cell(
            str(len(value)) if name == "classes" else f"{value:g}" if float(value).is_integer() else f"{value:.2f}"
        )

    return Column(name), fill


def _reported(name: str, place: int) -> Fill:
    return Column(f"{name}, paper"), lambda _, paper: _plain(_one(paper, place))


def _milliseconds(title: str, name: str) -> Fill:
    return Column(title, BETTER[name]), lambda results, _: _cell(_values(results, name), _in_ms)


def _in_ms(seconds: float) -> str:
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


def _mean_time(results: list[Result], _: Any) -> Cell:
    """The standard deviation is over explanations, its mean over the seeds."""
    centre, deviation = (mean(_values(results, name)) for name in ("seconds_mean", "seconds_std"))
    return Cell("–") if centre != centre else Cell(f"{_in_ms(centre)} ± {_in_ms(deviation)}", centre)


def _times_ours(ours: float) -> Fill:
    """The median as a multiple of RCExplainer's."""

    def fill(results: list[Result], _: Any) -> Cell:
        ratio = mean(_values(results, "seconds")) / ours
        return Cell("–") if ratio != ratio else Cell(f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}", ratio)

    return Column("× ours"), fill


def _slower(results: list[Result], paper: float | None) -> Cell:
    ours = mean(_values(results, "seconds_mean"))
    if paper is None or ours != ours:
        return Cell("")
    return Cell(("+" if ours >= paper else "−") + _in_ms(abs(ours - paper)), ours - paper)
