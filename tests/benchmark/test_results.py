"""Numbers over seeds and how they are written."""

import math

import pytest

from rcexplainer.benchmark.results import (
    HEADLINE_SPARSITIES,
    column,
    columns,
    mean,
    means_and_stds,
    seeds_text,
    short,
    std,
)
from rcexplainer.metrics.fidelity import SPARSITIES


def test_summaries() -> None:
    nan = float("nan")
    assert mean([1, nan, 3]) == 2
    assert math.isnan(mean([nan]))
    assert std([1, nan, 3]) == pytest.approx(math.sqrt(2))
    assert std([1]) == 0
    assert means_and_stds([{"a": 1.0}, {"a": 3.0}]) == {"a": 2, "std": {"a": pytest.approx(math.sqrt(2))}}
    assert [short(value) for value in (0.5, -0.001, -0.25, 1.0, 0.999, 12.5, nan)] == [
        ".50",
        ".00",
        "-.25",
        "1.00",
        "1.00",
        "12.50",
        "–",
    ]
    assert [column(share) for share in (0.95, 0.9, 0.837)] == [".95", ".90", ".837"]
    assert columns((0.95, 0.9), (1.0, 2.0)) == {".95": 1.0, ".90": 2.0}
    assert [seeds_text(count) for count in (1, 3)] == ["one seed", "means of 3 seeds"]


def test_headline_sparsities_are_the_first_of_those_measured() -> None:
    assert SPARSITIES[: len(HEADLINE_SPARSITIES)] == HEADLINE_SPARSITIES
