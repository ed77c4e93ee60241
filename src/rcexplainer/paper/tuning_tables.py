"""Tables of the settings of baselines: which ones won, and every member of every grid."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rcexplainer.benchmark.results import HEADLINE_SPARSITIES, column
from rcexplainer.datasets import task_of
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults
from rcexplainer.paper.table import Column, Table, TableCell, dated

RULE = "the largest fidelity, summed over the sparsities .95 to .75, on validation instances; never test instances"


@dataclass(frozen=True)
class GridPoint:
    """One member of a grid, as it was measured.

    Attributes:
        name: For people.
        settings: On top of the method's defaults.
        fidelity: At the headline sparsities; empty where it was left out.
        remark: Why it is dead, or was left out; "" for one that is neither.
    """

    name: str
    settings: Mapping[str, Any]
    fidelity: tuple[float, ...]
    remark: str = ""

    @property
    def total(self) -> float:
        """What the rule compares."""
        return sum(self.fidelity) if self.fidelity else float("-inf")


def grid_points(names: Sequence[str], result: JobResult) -> list[GridPoint]:
    """The members of a grid.

    Args:
        names: What each is called.
        result: Of a job of the kind `tuning`.

    Returns:
        A point for each, in order.
    """
    return [
        GridPoint(name, one["settings"], tuple(one.get("fidelity", ())), one.get("skipped") or one.get("dead", ""))
        for name, one in zip(names, result["points"], strict=True)
    ]


def best_settings(points: Sequence[GridPoint]) -> GridPoint | None:
    """The point that the rule chooses, the first one in a tie; None where all were left out."""
    found = max(points, key=lambda point: point.total)
    return found if found.fidelity else None


def tuned_winners(settings: EntrySettings, found: TaggedResults) -> dict[str, dict[str, Mapping[str, Any]]]:
    """What `tuned.toml` has to say.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        Dataset → method → the settings that won; none where the defaults did.
    """
    made: dict[str, dict[str, Mapping[str, Any]]] = {}
    for dataset, method, points, _ in _grids(settings, found):
        if (best := best_settings(points)) is not None:
            made.setdefault(dataset, {})[method] = best.settings
    return made


def tuning_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """The winners of all datasets, then the grids of each."""
    grids = list(_grids(settings, found))
    if not grids:
        return []
    datasets = dict.fromkeys(dataset for dataset, *_ in grids)
    return [_winners(settings, grids), *(_every_point(dataset, grids) for dataset in datasets)]


Grid = tuple[str, str, list[GridPoint], JobResult]  # dataset, method, its points, the result they are from


def _grids(settings: EntrySettings, found: TaggedResults) -> Iterator[Grid]:
    for tags, result in found:
        if not tags.get("network"):
            dataset, method = tags["dataset"], tags["variant"]
            names = list(settings["grids"][task_of(dataset)][method])
            yield dataset, method, grid_points(names, result), result


def _winners(settings: EntrySettings, grids: Sequence[Grid]) -> Table:
    caption = (
        f"network {settings['model']}, seed {settings['seed']}, fitted on up to {settings['graphs']} training graphs, "
        f"or on two thirds of the motifs to learn from: the settings of baselines in all tables. The rule: {RULE}"
    )
    columns = ("dataset", "method", "chosen", "sum", "first of the grid", "random order", "instances", "remark")
    rows = tuple(
        (
            TableCell(dataset),
            TableCell(method),
            TableCell(settings_text(best.settings) if best else "–"),
            _number(best.total) if best else TableCell("–"),
            _number(points[0].total),
            _number(result["random"]),
            TableCell(str(result["instances"])),
            TableCell(best.remark if best else points[0].remark),
        )
        for dataset, method, points, result in grids
        for best in [best_settings(points)]
    )
    table = Table(caption, tuple(map(Column, columns)), rows)
    return dated(table, [as_of([result]) for *_, result in grids])


def _every_point(dataset: str, grids: Sequence[Grid]) -> Table:
    own = [(method, points, result) for name, method, points, result in grids if name == dataset]
    titles = ("method", "settings", *map(column, HEADLINE_SPARSITIES), "sum", "rule", "remark")
    rows = [
        (
            TableCell(method),
            TableCell(f"{point.name}: {settings_text(point.settings)}" if point.settings else point.name),
            *(_number(value) for value in point.fidelity or [float("nan")] * len(HEADLINE_SPARSITIES)),
            _number(point.total),
            TableCell("← chosen" if point is best_settings(points) else ""),
            TableCell(point.remark),
        )
        for method, points, _ in own
        for point in points
    ]
    caption = (
        f"{dataset}: fidelity on validation instances at each sparsity, and its sum, for every setting that was tried"
    )
    versions = [as_of([result]) for _, points, result in own for _ in points]
    return dated(Table(caption, tuple(map(Column, titles)), tuple(rows)), versions)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings in words."""
    return ", ".join(f"{name} = {value}" for name, value in settings.items()) or "the defaults"


def _number(value: float) -> TableCell:
    finite = value == value and abs(value) != float("inf")
    return TableCell(f"{value:.2f}", value) if finite else TableCell("–")
