"""What the results must show, and whether they do: each claim with its aim, what was found, and where it fails.

Aims stand in the entry's file of settings under `aims`. A claim is judged by means over the seeds, once all seeds of
all methods it is about are there: before that, and where a method was left out, it is open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from rcexplainer.benchmark.results import OURS, column, mean
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.paper.common import on_common
from rcexplainer.paper.entries import Plan, Results, found_of
from rcexplainer.paper.figures import duration
from rcexplainer.paper.motif_networks import using_motif
from rcexplainer.paper.tables import Found, Result, Settings, number

Aims = dict[str, Any]
Read = Callable[[Result], float]
NAN = float("nan")
WORDS = {True: "✓ reached", False: "✗ not reached", None: "– open"}


@dataclass(frozen=True)
class Verdict:
    entry: str
    claim: str
    aim: str
    found: str
    reached: bool | None  # None: nothing can be said yet


@dataclass(frozen=True)
class Check:
    """One comparison of those that a claim is made of."""

    holds: bool | None
    says: str


def verdicts(planned: Plan, results: Results) -> list[Verdict]:
    """The claims about an entry; an entry without aims has none."""
    aims = planned.settings.get("aims")
    if not aims or planned.name not in JUDGES:
        return []
    return JUDGES[planned.name](planned.settings, aims, found_of(planned, results))


def counts(judged: Sequence[Verdict]) -> tuple[int, int, int]:
    """How many are reached, not reached, open."""
    outcomes = [one.reached for one in judged]
    return outcomes.count(True), outcomes.count(False), outcomes.count(None)


def _fidelity(settings: Settings, aims: Aims, found: Found) -> list[Verdict]:
    def judged(dataset: str, rivals: Aims) -> Verdict:
        shares = rivals["sparsities"]
        reads = {column(share): _read("fidelity", SPARSITIES.index(share)) for share in shares}
        checks = _above(settings, _methods(found, dataset), rivals["methods"], reads)
        aim = f"at every sparsity from {column(shares[0])} to {column(shares[-1])}"
        return _verdict("fidelity", f"{dataset}: fidelity above {rivals['named']}", aim, checks)

    return [judged(dataset, rivals) for rivals in aims["above"] for dataset in aims["datasets"]]


def _robustness(settings: Settings, aims: Aims, found: Found) -> list[Verdict]:
    k = aims["k"]
    percents = [round(100 * level) for level in settings["noise"] if level > 0]
    rivals = [method for method in settings["methods"] if method != OURS]

    def high(dataset: str, levels: dict[str, float]) -> Verdict:
        ours = _methods(found, dataset).get(OURS, [])
        values = {percent: mean([_auc(int(percent), k)(one) for one in ours]) for percent in levels}
        checks = _open(settings, OURS, ours) or [
            _check(values[percent], values[percent] >= least, f"{_said(values[percent], least)} at {percent} %")
            for percent, least in levels.items()
        ]
        aim = ", ".join(f"≥ {column(least)} at {percent} %" for percent, least in levels.items())
        return _verdict("robustness", f"{dataset}: AUC under noise, k = {k}", aim, checks)

    def best(dataset: str) -> Verdict:
        reads = {f"{percent} %": _auc(percent, k) for percent in percents}
        checks = _above(settings, _methods(found, dataset), rivals, reads)
        claim = f"{dataset}: AUC under noise above every other method's, k = {k}"
        return _verdict("robustness", claim, "at every level of noise", checks)

    return [*(high(dataset, levels) for dataset, levels in aims["at_least"].items()), *map(best, aims["best"])]


def _time(settings: Settings, aims: Aims, found: Found) -> list[Verdict]:
    def compared(dataset: str, method: str, holds: Callable[[float], bool]) -> list[Check]:
        """Their time over ours, one graph alone."""
        methods = _methods(found, dataset)
        ours, theirs = (_mean(methods.get(name, []), "seconds") for name in (OURS, method))
        opened = [check for name in (OURS, method) for check in _open(settings, name, methods.get(name, []))]
        if opened:
            return opened
        ratio = theirs / ours
        text = f"{method} takes {f'{ratio:,.0f}' if ratio >= 10 else f'{ratio:.2f}'} × ours"
        return [_check(ratio, holds(ratio), f"{text} ({duration(theirs)} against {duration(ours)})")]

    def fast(dataset: str, method: str, most: float) -> Verdict:
        checks = compared(dataset, method, lambda ratio: 1 / ratio <= most)
        return _verdict("time", f"{dataset}: time for one graph", f"≤ {most:g} × {method}'s", checks)

    def slow(dataset: str, method: str, least: float) -> Verdict:
        checks = compared(dataset, method, lambda ratio: ratio >= least)
        return _verdict("time", f"{dataset}: time of {method} for one graph", f"≥ {least:g} × ours", checks)

    return [
        judge(dataset, method, bound)
        for dataset in aims["datasets"]
        for judge, bounds in ((fast, aims["at_most"]), (slow, aims["at_least"]))
        for method, bound in bounds.items()
    ]


def _nodes(settings: Settings, aims: Aims, found: Found) -> list[Verdict]:
    def motif(dataset: str, title: str, name: str, least: float) -> Verdict:
        ours, used = (_methods(ones, dataset).get(OURS, []) for ones in (found, using_motif(settings, found)))
        value = _mean(used, name)
        without = "" if len(used) == len(ours) else f" ({len(used)} of {len(ours)} networks use the motif)"
        checks = _open(settings, OURS, ours) or [
            _check(value, value >= least, f"{_said(value, least)}{without}") if used else Check(None, f"–{without}")
        ]
        return _verdict("nodes", f"{dataset}: {title} of the motif", f"≥ {column(least)}", checks)

    def counterfactuals(dataset: str) -> Verdict:
        ours = _methods(found, dataset).get(OURS, [])
        flipped, size = _mean(ours, "search_flipped"), _mean(ours, "search_size")
        checks = _open(settings, OURS, ours) or [
            _check(flipped, flipped >= aims["flipped"], f"{_said(flipped, aims['flipped'])} flipped"),
            _check(size, size <= aims["edges"], f"{size:.1f} edges"),
        ]
        aim = f"≥ {column(aims['flipped'])} flipped by its own search, median ≤ {aims['edges']} edges"
        return _verdict("nodes", f"{dataset}: counterfactuals", aim, checks)

    return [
        verdict
        for dataset, (auc, accuracy) in aims["motif"].items()
        for verdict in (
            motif(dataset, "AUC", "auc", auc),
            motif(dataset, "accuracy", "accuracy", accuracy),
            counterfactuals(dataset),
        )
    ]


def _links(settings: Settings, aims: Aims, found: Found) -> list[Verdict]:
    def judged(dataset: str, claim: str, name: str, least: float) -> Verdict:
        ours = _methods(found, dataset).get(OURS, [])
        value = _mean(ours, name)
        checks = _open(settings, OURS, ours) or [_check(value, value >= least, _said(value, least))]
        return _verdict("links", f"{dataset}: {claim}", f"≥ {column(least)}", checks)

    return [
        judged(dataset, claim, name, aims[aim])
        for dataset in settings["datasets"]
        for claim, name, aim in (
            ("AUC of the motif", "auc", "auc"),
            ("pairs that its own search flips", "search_flipped", "flipped"),
        )
    ]


def _case_study(settings: Settings, aims: Aims, found: Found) -> list[Verdict]:
    results = [result for _, result in found]
    groups: dict[str, list[Result]] = {}
    for result in results:
        for pair in result["pairs"]:
            groups.setdefault(f"{pair['own']}, not {pair['other']}", []).append(pair)

    def judged(claim: str, aim: str, name: str, holds: Callable[[float], bool]) -> Verdict:
        values = sorted((_mean(own, name), pair) for pair, own in groups.items())
        low = [_check(value, holds(value), f"{_said(value)} ({pair})") for value, pair in values if not holds(value)]
        fine = [Check(True, f"lowest {_said(value)} ({pair})") for value, pair in values[:1]]
        return _verdict("case-study", claim, aim, _open(settings, "the case study", results) or low or fine)

    least = aims["auc"]
    telling = "AUC of the motif that tells two classes apart"
    return [
        judged(telling, f"≥ {column(least)}, every pair", "auc", lambda value: value >= least),
        judged("p(class) lost without that motif", "> 0, every pair", "lost", lambda value: value > 0),
        judged("p(other) gained without that motif", "> 0, every pair", "gained", lambda value: value > 0),
    ]


JUDGES: dict[str, Callable[[Settings, Aims, Found], list[Verdict]]] = {
    "fidelity": _fidelity,
    "robustness": _robustness,
    "time": _time,
    "nodes": _nodes,
    "links": _links,
    "case-study": _case_study,
}


def _verdict(entry: str, claim: str, aim: str, checks: Sequence[Check]) -> Verdict:
    """Reached if all hold; what was found is where it fails, else what is missing, else everything."""
    failed = [check for check in checks if check.holds is False]
    missing = [check for check in checks if check.holds is None]
    found = "; ".join(dict.fromkeys(check.says for check in failed or missing or checks))
    return Verdict(entry, claim, aim, found, False if failed else None if missing else True)


def _above(
    settings: Settings, methods: dict[str, list[Result]], rivals: Sequence[str], reads: dict[str, Read]
) -> list[Check]:
    """Is ours above every rival at every place, on the instances that both were asked about? Where not, by how much;
    else which rival comes closest."""
    ours = methods.get(OURS, [])
    checks = _open(settings, OURS, ours)
    if checks:
        return checks
    gaps: list[tuple[float, str]] = []
    for rival in rivals:
        theirs = methods.get(rival, [])
        opened = _open(settings, rival, theirs)
        checks += opened
        if opened:
            continue
        by_seed = {one["seed"]: one for one in theirs}
        both = [on_common(one, by_seed[one["seed"]]) for one in ours if one["seed"] in by_seed]
        pairs = {
            at: (mean([read(own) for own, _ in both]), mean([read(other) for _, other in both]))
            for at, read in reads.items()
        }
        below = [
            f"{at} ({_said(own, other)} against {_said(other, own)})"
            for at, (own, other) in pairs.items()
            if own <= other
        ]
        unknown = [at for at, (own, other) in pairs.items() if isnan(own - other)]
        if below:
            checks.append(Check(False, f"not above {rival} at {', '.join(below)}"))
        if unknown:
            checks.append(Check(None, f"{rival} has no value at {', '.join(unknown)}"))
        gaps += [
            (own - other, f"closest: {rival} at {at} ({_said(own, other)} against {_said(other, own)})")
            for at, (own, other) in pairs.items()
            if own > other
        ]
    return checks or [Check(True, min(gaps)[1]) if gaps else Check(None, "nothing was compared")]


def _open(settings: Settings, name: str, results: Sequence[Result]) -> list[Check]:
    """Why nothing can be said yet, if so."""
    skipped = [one["skipped"] for one in results if one.get("skipped")]
    if not results:
        return [Check(None, f"{name}: not run")]
    if skipped:
        return [Check(None, f"{name} is left out: {skipped[0]}")]
    if len(results) < settings["seeds"]:
        return [Check(None, f"{name}: {len(results)} of {settings['seeds']} seeds")]
    return []


def _check(value: float, holds: bool, says: str) -> Check:
    return Check(None, "not measured") if isnan(value) else Check(holds, says)


def _methods(found: Found, dataset: str) -> dict[str, list[Result]]:
    methods: dict[str, list[Result]] = {}
    for tags, result in found:
        if tags["dataset"] == dataset and not tags.get("network"):
            methods.setdefault(tags["variant"], []).append(result)
    return methods


def _read(*path: str | int) -> Read:
    return lambda result: number(result, *path)


def _auc(percent: int, k: int) -> Read:
    """The AUC at this noise, wherever it is in the result."""

    def read(result: Result) -> float:
        robust = result.get("robust") or {"noise": (), "k": ()}
        percents = [round(100 * level) for level in robust["noise"]]
        if percent not in percents or k not in robust["k"]:
            return NAN
        return number(robust, "auc", percents.index(percent), robust["k"].index(k))

    return read


def _mean(results: Sequence[Result], name: str) -> float:
    return mean([number(one, name) for one in results])


def _said(value: float, beside: float = NAN) -> str:
    """Three digits, or as many as tell it from what it is compared with: what is missed by little is seen to be."""
    digits = next((few for few in (3, 4, 5) if f"{value:.{few}f}" != f"{beside:.{few}f}"), 3)
    shown = f"{value:.{digits}f}"
    return shown.replace("0.", ".", 1) if abs(value) < 1 else shown
