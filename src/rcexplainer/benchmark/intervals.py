"""Confidence bands over seeds: mean ± half the width of the 95 % interval of Student's t.

    half = t · s / √n,    s² = Σ (x − mean)² / (n − 1),    t = the 97.5 % quantile with n − 1 degrees of freedom

A single value has no spread: its half-width is nan. Seeds without a value are left out.
"""

from collections.abc import Sequence
from math import nan, sqrt
from statistics import fmean, stdev

NORMAL = 1.959964  # the limit of the quantile for many degrees of freedom

# By degrees of freedom, from 1.
QUANTILES = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)


def quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t: from the table, beyond it by its expansion in 1 / freedom (to 1e-3)."""
    if freedom <= len(QUANTILES):
        return QUANTILES[freedom - 1]
    z = NORMAL
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def band(values: Sequence[float]) -> tuple[float, float]:
    """(mean, half-width) of the values that are not nan; (nan, nan) if all are, half-width nan for a single one."""
    known = [value for value in values if value == value]
    if len(known) < 2:
        return (fmean(known) if known else nan), nan
    return fmean(known), quantile(len(known) - 1) * stdev(known) / sqrt(len(known))
