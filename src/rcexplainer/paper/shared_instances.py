"""Two methods on the instances that both have explained.

A slow method explains a sample, a fast one all instances, so that their means are over different ones. Instances are
drawn in one order for all methods and noised alike, so that what both have can be compared one by one:

    fidelity at s   the mean drop over the instances that both explained
    AUC at noise    the mean over the instances that both noised and that have an AUC with both, for each kind of noise
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from rcexplainer.benchmark.results import mean
from rcexplainer.paper.job import JobResult


def on_shared(own: JobResult, other: JobResult) -> tuple[JobResult, JobResult]:
    """Restrict two results on one network to the instances they share.

    Args:
        own: A result of the kind `measure`.
        other: Another one, with the same seed.

    Returns:
        Both, with means over the shared instances; as they are where these are not known.
    """
    for narrow in (_fidelity, partial(_robustness, "robust"), partial(_robustness, "strict")):
        own, other = narrow(own, other), narrow(other, own)
    return own, other


def _fidelity(one: JobResult, other: JobResult) -> JobResult:
    if not (one.get("drops") and other.get("drops")):
        return one
    shared = _shared(one["places"], other["places"])
    return one | {"fidelity": [mean([row[place] for place, _ in shared]) for row in one["drops"]]}


def _robustness(field: str, one: JobResult, other: JobResult) -> JobResult:
    own, theirs = one.get(field) or {}, other.get(field) or {}
    alike = all(own.get(name) == theirs.get(name) for name in ("noise", "k"))
    if not (alike and own.get("each") and theirs.get("each")):
        return one
    shared = _shared(one["robust_places"], other["robust_places"])
    auc = [
        [mean(_both(mine, yours, shared, at)) for at in range(len(own["k"]))]
        for mine, yours in zip(own["each"], theirs["each"], strict=True)
    ]
    return one | {field: own | {"auc": auc}}


def _shared(places: Sequence[int], others: Sequence[int]) -> list[tuple[int, int]]:
    """Where each shared instance stands in the one list and in the other."""
    where = {place: at for at, place in enumerate(others)}
    return [(at, where[place]) for at, place in enumerate(places) if place in where]


def _both(mine: Any, yours: Any, shared: Sequence[tuple[int, int]], at: int) -> list[float]:
    """Our numbers at one level, on the graphs where both have one."""
    return [mine[i][at] for i, j in shared if mine[i][at] is not None and yours[j][at] is not None]
