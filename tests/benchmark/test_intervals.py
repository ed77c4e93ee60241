"""Bands by hand."""

import math

import pytest

from rcexplainer.benchmark.intervals import band, quantile


def test_three_values_by_hand() -> None:
    """1, 2, 3: mean 2, s = 1, t(2) = 4.3027: half = 4.3027 / √3."""
    assert band([1.0, 2.0, 3.0]) == pytest.approx((2.0, 4.3027 / math.sqrt(3)))


def test_two_values_by_hand() -> None:
    """0, 2: mean 1, s = √2, t(1) = 12.7062: half = 12.7062 · √2 / √2."""
    assert band([0.0, 2.0]) == pytest.approx((1.0, 12.7062))


def test_one_value_has_no_width_and_none_has_no_mean() -> None:
    centre, half = band([0.4])
    assert centre == 0.4
    assert math.isnan(half)
    assert all(math.isnan(value) for value in band([]))


def test_seeds_without_a_value_are_left_out() -> None:
    assert band([0.0, float("nan"), 2.0]) == band([0.0, 2.0])
    assert band([0.5, 0.5]) == (0.5, 0.0)


@pytest.mark.parametrize(("freedom", "expected"), [(2, 4.3027), (9, 2.2622), (11, 2.2010), (20, 2.0860), (100, 1.9840)])
def test_quantiles_are_those_of_printed_tables(freedom: int, expected: float) -> None:
    assert quantile(freedom) == pytest.approx(expected, abs=1e-3)
