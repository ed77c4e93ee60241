"""The training diagram's table and figure, from what `training_diagram` kept of a run."""

from collections.abc import Sequence
from typing import Any

from rcexplainer.benchmark.results import short
from rcexplainer.paper.captions import setting_text
from rcexplainer.paper.figure_style import PaperFigure
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults
from rcexplainer.paper.table import Column, Table, TableCell, dated
from rcexplainer.viz.training_page import training_page

TRAINING_COLUMNS = (
    Column("epochs"),
    Column("kept inside", "higher"),
    Column("remainder outside", "higher"),
    Column("edges kept"),
    Column("undecided"),
)


def training_table(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """The run at the epochs that are shown: held-out graphs on the right side, size of the masks, terms of the loss."""
    made: list[Table] = []
    for tags, result in found:
        if tags.get("network"):
            continue
        caption = (
            f"{setting_text(settings, (tags['dataset'], tags['model']), instances='')}, test accuracy "
            f"{result['accuracy']:.3f}, seed {settings['seed']}; RCExplainer is trained on "
            f"{result['graphs']['training']} graphs; on {result['graphs']['held out']} held-out graphs: the share that "
            "stays in its region with the edges the mask keeps, and the share that leaves it with the remainder; the "
            "mean sum of a mask, and the share of its edges between .1 and .9; the terms of the loss on training graphs"
        )
        columns = (*TRAINING_COLUMNS, *(Column(name) for name in _names(result)))
        shown = {*settings["shown"], len(result["epochs"]) - 1}
        rows = tuple(_row(row, _names(result)) for row in result["epochs"] if row["epoch"] in shown)
        made.append(dated(Table(caption, columns, rows), [as_of([result])] * len(rows)))
    return made


def training_figure(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    """Embeddings, boundaries and masks of the run."""
    return [
        PaperFigure("training", _caption(tags["dataset"], **result["plane"]), training_page(result))
        for tags, result in found
        if not tags.get("network")
    ]


def _names(result: dict[str, Any]) -> list[str]:
    """The terms of the loss; before the first epoch there is none."""
    return list(result["epochs"][-1]["terms"] or ())


def _row(row: dict[str, Any], names: Sequence[str]) -> tuple[TableCell, ...]:
    shares = (TableCell(short(row[name]), row[name]) for name in ("kept_inside", "left_outside"))
    size, undecided = TableCell(f"{row['size']:.1f}", row["size"]), TableCell(short(row["undecided"]), row["undecided"])
    terms = ((row["terms"] or {}).get(name) for name in names)
    return (
        TableCell(str(row["epoch"])),
        *shares,
        size,
        undecided,
        *(TableCell("") if value is None else TableCell(f"{value:.3f}", value) for value in terms),
    )


def _caption(dataset: str, normals: float, spread: float) -> str:
    return (
        f"Training on {dataset}: the plane holds {normals:.0%} of the boundaries' normals and {spread:.0%} of the "
        "embeddings' spread; every example is the first correctly predicted held-out graph of its class."
    )
