"""`rcexplainer datasets`: which datasets there are, and their sizes."""

from dataclasses import asdict
from typing import Annotated

import typer

from rcexplainer.cli.options import INPUT, Json, Root
from rcexplainer.cli.output import show

EXAMPLES = (
    "rcexplainer datasets",
    "rcexplainer datasets ba-shapes mutagenicity",
    "rcexplainer datasets csv:molecules.csv --json",
)


def datasets(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Load these datasets and show their sizes.", show_default=False),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(metavar="N", rich_help_panel=INPUT, help="Random seed of generated graphs and of the split."),
    ] = 0,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """List the datasets, or load some of them and show their sizes."""
    if names:
        from rcexplainer.datasets.inventory import describe

        found = [describe(name, root=root, seed=seed) for name in names]
        caption = "nodes and edges: means over the graphs; an undirected edge counts once"
        show([asdict(one) for one in found], [one.row() for one in found], caption, as_json)
        return
    from rcexplainer.datasets.entries import DATASETS, FAMILIES  # a list of names needs no torch

    listed = [{"name": name, "task": one.task, "about": one.about} for name, one in {**DATASETS, **FAMILIES}.items()]
    show(listed, listed, "`rcexplainer datasets NAME` shows the sizes of a dataset", as_json)
