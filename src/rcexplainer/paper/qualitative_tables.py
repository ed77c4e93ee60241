"""The examples of explanations as a table and as a figure."""

from typing import Any

from rcexplainer.benchmark.results import short
from rcexplainer.paper.captions import network_notes
from rcexplainer.paper.figure_style import PaperFigure
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults
from rcexplainer.paper.table import Column, Table, TableCell, dated
from rcexplainer.viz.method_grid import Shown, explanation_grid

QUALITATIVE_COLUMNS = (
    Column("dataset"),
    Column("method"),
    Column("motif edges"),
    Column("of them found", "higher"),
    Column("deleting them"),
    Column("deleting the motif"),
)
QUALITATIVE_CAPTION = (
    "The first held-out instance of each dataset that is correctly predicted and has a motif of k edges: how many "
    "of them are among a method's top k, and whether the prediction changes when these, or the motif, are deleted"
)


def qualitative_table(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """A row for every dataset and method.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The table; a method that was left out has a note in it, or a row where all were left out.
    """
    shown = [(tags, result) for tags, result in _explained(found) if not result.get("skipped")]
    gone = [(tags, result["skipped"]) for tags, result in _explained(found) if result.get("skipped")]
    if shown:
        notes = (
            *(f"{tags['dataset']}, {tags['variant']} is left out: {reason}" for tags, reason in gone),
            *network_notes(settings, _seed(settings)),
        )
        table = Table(QUALITATIVE_CAPTION, QUALITATIVE_COLUMNS, tuple(_row(*one) for one in shown), notes)
        return [dated(table, [as_of([result]) for _, result in shown])]
    rows = tuple((TableCell(tags["dataset"]), TableCell(tags["variant"]), TableCell(reason)) for tags, reason in gone)
    return [Table("Nothing could be explained", (*QUALITATIVE_COLUMNS[:2], Column("left out")), rows)] if rows else []


def qualitative_square(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """The same with datasets as rows and methods as columns; None where nothing was explained.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The table.
    """
    shown = {(tags["dataset"], tags["variant"]): one for tags, one in _explained(found) if not one.get("skipped")}
    datasets, methods = (list(dict.fromkeys(pair[place] for pair in shown)) for place in (0, 1))

    def cell(one: JobResult | None) -> TableCell:
        return TableCell("–" if one is None else f"{one['found']} of {one['k']}, {_outcome(one['flips'])}")

    rows = tuple((TableCell(own), *(cell(shown.get((own, method))) for method in methods)) for own in datasets)
    versions = [as_of(one for pair, one in shown.items() if pair[0] == own) for own in datasets]
    columns = (Column("dataset"), *map(Column, methods))
    notes = tuple(network_notes(settings, _seed(settings)))
    return dated(Table(QUALITATIVE_CAPTION, columns, rows, notes), versions) if rows else None


def _row(tags: dict[str, Any], result: dict[str, Any]) -> tuple[TableCell, ...]:
    share = result["found"] / result["k"]
    return (
        TableCell(tags["dataset"]),
        TableCell(tags["variant"]),
        TableCell(str(result["k"])),
        TableCell(f"{result['found']} ({short(share)})", share),
        TableCell(_outcome(result["flips"]), float(result["flips"])),
        TableCell(_outcome(result["motif_flips"]), float(result["motif_flips"])),
    )


def qualitative_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """A drawing for every dataset and method."""
    cells = {
        (tags["dataset"], tags["variant"]): Shown.of(result)
        for tags, result in _explained(found)
        if not result.get("skipped")
    }
    if not cells:
        return []
    caption = (
        "Explanations of one instance of each dataset, the first held-out one that is correctly predicted and has a "
        "motif. Black: a method's top k edges, k being the size of the motif as far as it lies in the computation "
        "graph; the motif has a blue band. Of large computation graphs the part around both is drawn."
    )
    return [PaperFigure("qualitative", caption, explanation_grid(cells))]


def _seed(settings: EntrySettings) -> str:
    return f"seed {settings['seed']}" if "seed" in settings else ""


def _explained(found: TaggedResults) -> TaggedResults:
    return [(tags, result) for tags, result in found if not tags.get("network")]


def _outcome(flips: bool) -> str:
    return "flips" if flips else "does not flip"
