"""The comparisons that claims are made of: one number against a bound, or RCExplainer against other methods.

A comparison is open where a method was left out, or has not all seeds yet.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from operator import le, lt

from rcexplainer.benchmark.results import OURS, mean
from rcexplainer.paper.job import JobResult
from rcexplainer.paper.result_groups import NAN, EntrySettings, MethodResults, SeedResults, TaggedResults, number
from rcexplainer.paper.shared_instances import on_shared

Reader = Callable[[JobResult], float]  # a number of a result


@dataclass(frozen=True)
class ClaimCheck:
    """One comparison.

    Attributes:
        holds: Whether it holds; None: it cannot be decided yet.
        says: What was found.
    """

    holds: bool | None
    says: str


Claim = tuple[str, str, list[ClaimCheck]]  # what is claimed, the aim, the comparisons


def check(value: float, holds: bool, says: str) -> ClaimCheck:
    """A comparison of a number that may not have been measured.

    Args:
        value: The number.
        holds: Whether it is as it should be.
        says: What was found.

    Returns:
        The comparison; open where the number is nan.
    """
    return ClaimCheck(None, "not measured") if isnan(value) else ClaimCheck(holds, says)


def undecided(settings: EntrySettings, name: str, results: SeedResults) -> list[ClaimCheck]:
    """Why nothing can be decided about a method yet.

    Args:
        settings: The entry's.
        name: The method's name.
        results: Its results.

    Returns:
        One open check; none where all seeds are there.
    """
    skipped = [one["skipped"] for one in results if one.get("skipped")]
    if not results:
        return [ClaimCheck(None, f"{name}: not run")]
    if skipped:
        return [ClaimCheck(None, f"{name} is left out: {skipped[0]}")]
    if len(results) < settings["seeds"]:
        return [ClaimCheck(None, f"{name}: {len(results)} of {settings['seeds']} seeds")]
    return []


def above(
    settings: EntrySettings,
    methods: MethodResults,
    rivals: Sequence[str],
    readers: Mapping[str, Reader],
    own_name: str = OURS,
    ties: bool = False,
) -> list[ClaimCheck]:
    """Whether RCExplainer is above every rival everywhere, on the instances that both explained.

    Args:
        settings: The entry's.
        methods: Method → its results.
        rivals: The other methods.
        readers: What is compared, by name: sparsities, levels of noise.
        own_name: The row of RCExplainer that is compared.
        ties: Whether the same mean is enough.

    Returns:
        A failed check for each rival it is not above, an open one for each that cannot be compared; where there are
        none, one that names the closest rival.
    """
    ours = methods.get(own_name, [])
    checks = undecided(settings, own_name, ours)
    if checks:
        return checks
    blank = [at for at, read in readers.items() if isnan(mean([read(one) for one in ours]))]
    if blank:
        return [ClaimCheck(None, f"{own_name} has no value at {', '.join(blank)}")]
    gaps: list[tuple[float, str]] = []
    behind, word = (lt, "below") if ties else (le, "not above")
    for rival in rivals:
        theirs = methods.get(rival, [])
        opened = undecided(settings, rival, theirs)
        checks += opened
        if opened:
            continue
        by_seed = {one["seed"]: one for one in theirs}
        both = [on_shared(one, by_seed[one["seed"]]) for one in ours if one["seed"] in by_seed]
        pairs = {
            at: (mean([read(own) for own, _ in both]), mean([read(other) for _, other in both]))
            for at, read in readers.items()
        }
        below = [f"{at} ({_versus(own, other)})" for at, (own, other) in pairs.items() if behind(own, other)]
        unknown = [at for at, (own, other) in pairs.items() if isnan(own - other)]
        if below:
            checks.append(ClaimCheck(False, f"{word} {rival} at {', '.join(below)}"))
        if unknown:
            checks.append(ClaimCheck(None, f"{rival} has no value at {', '.join(unknown)}"))
        gaps += [
            (own - other, f"closest: {rival} at {at} ({_versus(own, other)})")
            for at, (own, other) in pairs.items()
            if not behind(own, other) and own == own and other == other
        ]
    return checks or [ClaimCheck(True, min(gaps)[1]) if gaps else ClaimCheck(None, "nothing was compared")]


def methods_on(found: TaggedResults, dataset: str, model: str | None = None) -> MethodResults:
    """The results of every method on one dataset.

    Args:
        found: The results of an entry.
        dataset: The dataset.
        model: The network's architecture; None: the entry has one for each dataset.
    """
    methods: MethodResults = {}
    for tags, result in found:
        if tags["dataset"] == dataset and model in (None, tags.get("model")) and not tags.get("network"):
            methods.setdefault(tags["variant"], []).append(result)
    return methods


def mean_number(results: SeedResults, name: str) -> float:
    """The mean of a number over the seeds."""
    return mean([number(one, name) for one in results])


def value_reader(*path: str | int) -> Reader:
    """What reads the number at this path."""
    return lambda result: number(result, *path)


def auc_reader(percent: int, k: int, field: str = "robust") -> Reader:
    """What reads the AUC at this level of noise, wherever it is in a result; nan where it was not measured.

    Args:
        percent: The level of noise.
        k: Top edges that must survive it.
        field: "robust" for the paper's noise, "strict" for strict noise.
    """

    def read(result: JobResult) -> float:
        robust = result.get(field) or {"noise": (), "k": ()}
        percents = [round(100 * level) for level in robust["noise"]]
        if percent not in percents or k not in robust["k"]:
            return NAN
        return number(robust, "auc", percents.index(percent), robust["k"].index(k))

    return read


def digits(value: float, beside: float = NAN) -> str:
    """A number with three digits, or enough digits to tell it from its target.

    Args:
        value: The number.
        beside: The target.

    Returns:
        The text, without a leading zero.
    """
    few = next((few for few in (3, 4, 5) if f"{value:.{few}f}" != f"{beside:.{few}f}"), 3)
    shown = f"{value:.{few}f}"
    return shown.replace("0.", ".", 1) if abs(value) < 1 else shown


def _versus(own: float, other: float) -> str:
    return f"{digits(own, other)} against {digits(other, own)}"
