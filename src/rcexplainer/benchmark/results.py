"""Numbers over seeds and how they are written: means, standard deviations, columns, short texts."""

from collections.abc import Sequence
from math import nan
from statistics import fmean, stdev
from typing import Any

HEADLINE_SPARSITIES = (0.95, 0.90, 0.85, 0.80, 0.75)  # ratios to greedy deletion are taken over these
OURS = "rcexplainer"

Rows = list[dict[str, Any]]
Tables = list[tuple[Rows, str]]  # each with its caption


def means_and_stds(numbers: Sequence[dict[str, float]]) -> dict[str, Any]:
    """The mean of every number over the seeds, and under `std` its standard deviation."""
    columns = {name: [one[name] for one in numbers] for name in numbers[0]}
    means = {name: mean(values) for name, values in columns.items()}
    return {**means, "std": {name: std(values) for name, values in columns.items()}}


def mean(values: Sequence[float]) -> float:
    """The mean of the values that are not nan; nan where all are."""
    known = [value for value in values if value == value]
    return fmean(known) if known else nan


def std(values: Sequence[float]) -> float:
    """The sample standard deviation of the values that are not nan; 0 for a single one, nan where there is none."""
    known = [value for value in values if value == value]
    return stdev(known) if len(known) > 1 else 0.0 if known else nan


def column(share: float) -> str:
    """A sparsity as the name of a column: .90, .837."""
    digits = 2 if round(100 * share) == round(100 * share, 6) else 3
    return f"{share:.{digits}f}".removeprefix("0")


def columns(sparsities: Sequence[float], values: Sequence[float]) -> dict[str, float]:
    """Values at sparsities by the names of their columns."""
    return {column(share): value for share, value in zip(sparsities, values, strict=True)}


def short(value: float) -> str:
    """Two digits, without a leading zero; – for nan."""
    if value != value:
        return "–"
    text = f"{round(value, 2) + 0.0:.2f}"  # + 0.0: there is no −0
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0") else text


def seeds_text(count: int) -> str:
    """How many seeds a table is of."""
    return "one seed" if count == 1 else f"means of {count} seeds"
