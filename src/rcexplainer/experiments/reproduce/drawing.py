"""`figures/` of a results folder: every figure that can be drawn from what is known so far, as SVG and as PNG."""

import logging
from collections.abc import Sequence
from pathlib import Path

from rcexplainer.errors import MissingExtraError
from rcexplainer.experiments.reproduce.entries import Plan, Results, figures
from rcexplainer.viz.pages import save_figure

FOLDER = "figures"
KINDS = ("svg", "png")
log = logging.getLogger(__name__)


def write_figures(folder: Path, plans: Sequence[Plan], results: Results) -> list[Path]:
    """The files written: none without matplotlib, which is said."""
    try:
        return [
            save_figure(drawn.figure, folder / FOLDER / f"{drawn.name}.{kind}")
            for planned in plans
            for drawn in figures(planned, results)
            for kind in KINDS
        ]
    except MissingExtraError as error:
        log.warning("no figures are drawn: %s", error)
        return []
