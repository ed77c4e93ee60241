"""Tables of the authors' protocol: curves on the same graphs and on held-out ones, and what the networks are like."""

from collections.abc import Mapping
from typing import Any

from rcexplainer.benchmark.results import column, mean
from rcexplainer.metrics.direction import BETTER
from rcexplainer.paper.authors_protocol import AUTHORS_SPARSITIES, THINNED, saturated
from rcexplainer.paper.captions import class_text, panel_text
from rcexplainer.paper.cells import over_seeds, plain
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import (
    EntrySettings,
    MethodResults,
    Panel,
    SeedResults,
    TaggedResults,
    groups,
    numbers,
    reported,
)
from rcexplainer.paper.table import Column, Table, TableCell, dated, marked

KINDS = {
    "same": "the authors' protocol: fitted and measured on the same training graphs",
    "held_out": "the same explainers on held-out test graphs",
}
SHOWN = AUTHORS_SPARSITIES[1:5]  # those of the aims: .935 to .777
COMPARED = SHOWN[1]  # the sparsity at which networks are compared


def authors_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """The curves of every dataset beside the authors' and the replication's; then the networks, seed by seed.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The tables.
    """
    made = [
        _curves(settings, panel, methods, kind, text)
        for panel, methods in groups(found).items()
        for kind, text in KINDS.items()
    ]
    networks = _networks(found)
    return made + ([networks] if networks.rows else [])


def authors_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """Fidelity at the sparsities of the aims, on the same graphs, a row for each dataset and variant."""
    rows: list[tuple[TableCell, ...]] = []
    versions: list[str] = []
    for (dataset, _), methods in groups(found).items():
        for name, results in methods.items():
            cells = [over_seeds(numbers(results, "same", "fidelity", _place(share))) for share in SHOWN]
            rows.append((TableCell(f"{dataset}: {name}"), *cells, _ratio(results, methods)))
            versions.append(as_of(results))
    if not rows:
        return None
    columns = (Column("dataset, method"), *(Column(column(share)) for share in SHOWN), Column("ratio to greedy"))
    caption = "fidelity by the authors' protocol, on the graphs the method was fitted on, at the sparsities they report"
    return dated(Table(caption, columns, tuple(rows)), versions)


def _curves(settings: EntrySettings, panel: Panel, methods: MethodResults, kind: str, text: str) -> Table:
    """One dataset, one kind of graphs."""
    rows = [
        (
            TableCell(name),
            TableCell(f"{mean(numbers(results, kind, 'graphs')):.0f}"),
            *(over_seeds(numbers(results, kind, "fidelity", place)) for place in range(len(AUTHORS_SPARSITIES))),
            _ratio(results, methods, kind),
            _saturated(settings, name, results, kind),
        )
        for name, results in methods.items()
    ]
    versions = [as_of(results) for results in methods.values()]
    if kind == "same":
        for source, values in reported(settings, panel[0]).items():
            rows.append((TableCell(source), TableCell(""), *_reported(values), TableCell(""), TableCell("")))
            versions.append("")
    heads = (Column(column(share), BETTER["fidelity"]) for share in AUTHORS_SPARSITIES)
    columns = (Column("method"), Column("graphs"), *heads, Column("ratio to greedy"), Column("saturated"))
    first = next(iter(methods.values()))
    realised = ", ".join(
        f"{mean(numbers(first, kind, 'realised', place)):.3f}" for place in range(len(AUTHORS_SPARSITIES))
    )
    notes = (
        f"realised sparsities, as whole edges allow: {realised}",
        "ratio to greedy: sum of the fidelities from .935 to .777 ÷ greedy deletion's; saturated: seeds whose masks "
        "are nearly all 0 or all 1 (below .02 or above .98); methods that rank have no masks",
    )
    graphs = f"{text} predicted as {class_text(panel[0])}"
    caption = panel_text(settings, panel, "fidelity at each sparsity, edges really deleted", methods, graphs)
    return marked(dated(Table(caption, columns, tuple(rows), notes), versions))


def _saturated(settings: EntrySettings, name: str, results: SeedResults, kind: str) -> TableCell:
    """Seeds with saturated masks; – for methods without masks."""
    if settings.get("variants", {}).get(name, {}).get("preset") is None:
        return TableCell("–")
    return TableCell(f"{sum(saturated(one[kind]) for one in results)} of {len(results)}")


def _ratio(results: SeedResults, methods: MethodResults, kind: str = "same") -> TableCell:
    """Sum of the fidelities at `SHOWN` ÷ greedy deletion's, seed by seed; – where greedy's mean is under .10."""

    def total(one: Mapping[str, Any]) -> float:
        return sum(one[kind]["fidelity"][_place(share)] for share in SHOWN)

    greedy = methods.get("greedy", [])
    values = [
        total(one) / total(other)
        for one, other in zip(results, greedy, strict=False)
        if total(other) / len(SHOWN) >= 0.1
    ]
    return over_seeds(values) if values else TableCell("–")


def _reported(values: Mapping[str, float]) -> list[TableCell]:
    """What others report, each at the sparsity it is from."""
    return [plain(values.get(column(share))) for share in AUTHORS_SPARSITIES]


def _networks(found: TaggedResults) -> Table:
    """Every network: its accuracy, how large the weights of its head are, whether the edgeless graph stays."""
    rows: dict[tuple[str, int], tuple[TableCell, ...]] = {}
    for tags, one in found:
        if tags.get("network") or "same" not in one:
            continue
        key = (tags["dataset"], tags["seed"])
        head = "–" if one["head"] is None else f"{one['head']:.1f}"
        rows[key] = (
            TableCell(f"{key[0]}, seed {key[1]}"),
            TableCell(f"{one['gnn_accuracy']:.3f}"),
            TableCell(head),
            TableCell(f"{one['same']['edgeless']:.2f}"),
            *_thinned(one["same"]),
            *(TableCell(_fidelity(found, *key, name)) for name in ("released", "greedy")),
        )
    columns = (
        Column("network"),
        Column("test accuracy"),
        Column("‖w₁ − w₀‖"),
        Column("stay without any edge"),
        *(Column(f"at weight {column(weight)}") for weight in THINNED),
        *(Column(f"{name} at {column(COMPARED)}") for name in ("released", "greedy")),
    )
    caption = (
        "the networks: share of the explained graphs that keep their class when every edge is deleted, and when all "
        f"edges are given one weight; beside it the fidelity of two methods at sparsity {column(COMPARED)}"
    )
    return Table(caption, columns, tuple(rows.values()))


def _thinned(curve: Mapping[str, Any]) -> list[TableCell]:
    """The shares at each weight of `THINNED`; – in results of version 0.2, and where masks do not reach the model."""
    return [TableCell(f"{share:.2f}") for share in curve.get("thinned", ())] or [TableCell("–")] * len(THINNED)


def _fidelity(found: TaggedResults, dataset: str, seed: int, variant: str) -> str:
    """What a variant has on one network; – if it was not run."""
    where = {"dataset": dataset, "seed": seed, "variant": variant}
    values = [one["same"]["fidelity"][_place(COMPARED)] for tags, one in found if where.items() <= tags.items()]
    return f"{values[0]:.2f}" if values else "–"


def _place(share: float) -> int:
    return AUTHORS_SPARSITIES.index(share)
