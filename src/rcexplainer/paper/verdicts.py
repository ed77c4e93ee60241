"""What the results must show, and whether they do: each claim with its aim, what was found, and where it fails.

Aims are in the entry's file of settings under `aims`. A claim is about means over the seeds, and is decided once all
seeds of all methods it is about are there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rcexplainer.benchmark.results import OURS, column, mean
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.paper.authors_protocol import AUTHORS_SPARSITIES
from rcexplainer.paper.checks import (
    ClaimCheck,
    above,
    auc_reader,
    check,
    digits,
    mean_number,
    methods_on,
    undecided,
    value_reader,
)
from rcexplainer.paper.dial_tables import cost_checks, ratio_checks
from rcexplainer.paper.node_claims import edgeless_claims, recovery_claims
from rcexplainer.paper.plan import EntryPlan, Results
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import EntrySettings, SeedResults, TaggedResults, numbers, without_networks
from rcexplainer.paper.robustness_tables import NOISES, NoiseFields
from rcexplainer.paper.scores_alone import score_claims
from rcexplainer.paper.stability_claims import stability_claims
from rcexplainer.paper.time_tables import duration

Aims = dict[str, Any]
VERDICT_WORDS = {True: "✓ reached", False: "✗ not reached", None: "– open"}


@dataclass(frozen=True)
class Verdict:
    """A claim about an entry, and whether it holds.

    Attributes:
        entry: The entry's name.
        claim: What is claimed.
        aim: What would show it.
        found: What was found.
        reached: Whether it holds; None: it cannot be decided yet.
        as_of: The earlier version whose results of the entry it was judged by; "" where all are this version's.
    """

    entry: str
    claim: str
    aim: str
    found: str
    reached: bool | None
    as_of: str = ""

    @property
    def finding(self) -> str:
        """What was found, with the version where it is an earlier one's."""
        return f"{self.found} (as of version {self.as_of})" if self.as_of and self.reached is not None else self.found


def verdicts(planned: EntryPlan, results: Results) -> list[Verdict]:
    """The claims about an entry.

    Args:
        planned: The entry.
        results: Job → its result.

    Returns:
        A verdict for each; none for an entry without aims.
    """
    aims = planned.settings.get("aims")
    if not aims or planned.name not in JUDGES:
        return []
    found = planned.tagged(results)
    version = as_of(result for _, result in found)
    return [replace(one, as_of=version) for one in JUDGES[planned.name](planned.settings, aims, found)]


def counts(judged: Sequence[Verdict]) -> tuple[int, int, int]:
    """How many claims are reached, not reached, open."""
    outcomes = [one.reached for one in judged]
    return outcomes.count(True), outcomes.count(False), outcomes.count(None)


def _fidelity(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    def judged(dataset: str, rivals: Aims) -> Verdict:
        shares = rivals["sparsities"]
        reads = {column(share): value_reader("fidelity", SPARSITIES.index(share)) for share in shares}
        checks = above(settings, methods_on(found, dataset), rivals["methods"], reads)
        aim = f"at every sparsity from {column(shares[0])} to {column(shares[-1])}"
        return _verdict("fidelity", f"{dataset}: fidelity above {rivals['named']}", aim, checks)

    return [judged(dataset, rivals) for rivals in aims["above"] for dataset in aims["datasets"]]


def _robustness(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    k = aims["k"]
    percents = [round(100 * level) for level in settings["noise"] if level > 0]

    def high(noise: NoiseFields, dataset: str, levels: dict[str, float]) -> Verdict:
        ours = methods_on(found, dataset).get(OURS, [])
        reads = {percent: auc_reader(int(percent), k, noise.field) for percent in levels}
        values = {percent: mean([read(one) for one in ours]) for percent, read in reads.items()}
        checks = undecided(settings, OURS, ours) or [
            check(values[percent], values[percent] >= least, f"{digits(values[percent], least)} at {percent} %")
            for percent, least in levels.items()
        ]
        aim = ", ".join(f"≥ {column(least)} at {percent} %" for percent, least in levels.items())
        return _verdict("robustness", f"{dataset}: AUC under {noise.short}, k = {k}", aim, checks)

    def best(noise: NoiseFields, dataset: str, named: str, rivals: Sequence[str]) -> Verdict:
        reads = {f"{percent} %": auc_reader(percent, k, noise.field) for percent in percents}
        checks = above(settings, methods_on(found, dataset), rivals, reads)
        claim = f"{dataset}: AUC under {noise.short} above {named}, k = {k}"
        return _verdict("robustness", claim, "at every level", checks)

    others = [method for method in settings["methods"] if method != OURS]
    rivals = {"every other method's": others, "baselines with the same stability loss": aims["helped"]}
    return [
        *(
            high(noise, dataset, levels)
            for noise in NOISES
            for dataset, levels in aims["at_least"][noise.protocol].items()
        ),
        *(
            best(noise, dataset, named, names)
            for named, names in rivals.items()
            for noise in NOISES
            for dataset in aims["best"]
        ),
    ]


def _time(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    def compared(dataset: str, method: str, holds: Callable[[float], bool]) -> list[ClaimCheck]:
        """Their time over ours, for one graph alone."""
        methods = methods_on(found, dataset)
        ours, theirs = (mean_number(methods.get(name, []), "seconds") for name in (OURS, method))
        opened = [check for name in (OURS, method) for check in undecided(settings, name, methods.get(name, []))]
        if opened:
            return opened
        ratio = theirs / ours
        text = f"{method} takes {f'{ratio:,.0f}' if ratio >= 10 else f'{ratio:.2f}'} × ours"
        return [check(ratio, holds(ratio), f"{text} ({duration(theirs)} against {duration(ours)})")]

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


def _recovery(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    return [_verdict("nodes", *claim) for claim in recovery_claims(settings, aims, found)]


def _edgeless_nodes(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    return [_verdict("nodes-edgeless", *claim) for claim in edgeless_claims(settings, aims, found)]


def _links(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    def judged(dataset: str, claim: str, name: str, least: float) -> Verdict:
        ours = methods_on(found, dataset).get(OURS, [])
        value = mean_number(ours, name)
        checks = undecided(settings, OURS, ours) or [check(value, value >= least, digits(value, least))]
        return _verdict("links", f"{dataset}: {claim}", f"≥ {column(least)}", checks)

    return [
        judged(dataset, claim, name, aims[aim])
        for dataset in settings["datasets"]
        for claim, name, aim in (
            ("AUC of the motif", "auc", "auc"),
            ("pairs that its own search flips", "search_flipped", "flipped"),
        )
    ]


def _case_study(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    results = [result for _, result in without_networks(found)]
    groups: dict[str, SeedResults] = {}
    for result in results:
        for pair in result["pairs"]:
            groups.setdefault(f"{pair['own']}, not {pair['other']}", []).append(pair)

    def judged(claim: str, aim: str, name: str, holds: Callable[[float], bool]) -> Verdict:
        values = sorted((mean_number(own, name), pair) for pair, own in groups.items())
        low = [check(value, holds(value), f"{digits(value)} ({pair})") for value, pair in values if not holds(value)]
        fine = [ClaimCheck(True, f"lowest {digits(value)} ({pair})") for value, pair in values[:1]]
        return _verdict("case-study", claim, aim, undecided(settings, "the case study", results) or low or fine)

    least = aims["auc"]
    telling = "AUC of the motif that tells two classes apart"
    return [
        judged(telling, f"≥ {column(least)}, every pair", "auc", lambda value: value >= least),
        judged("p(class) lost without that motif", "> 0, every pair", "lost", lambda value: value > 0),
        judged("p(other) gained without that motif", "> 0, every pair", "gained", lambda value: value > 0),
    ]


def _authors(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    methods = methods_on(found, aims["dataset"])
    greedy = methods.get("greedy", [])

    def total(results: SeedResults) -> float:
        return sum(_at(results, float(share)) for share in aims["released"])

    def _at(results: SeedResults, share: float) -> float:
        return mean(numbers(results, "same", "fidelity", AUTHORS_SPARSITIES.index(share)))

    released, paper = (methods.get(name, []) for name in ("released", "paper"))
    values = [(share, _at(released, float(share)), least) for share, least in aims["released"].items()]
    aim = ", ".join(f"≥ {column(least)} at {share}" for share, _, least in values)
    ratio, least = total(paper) / total(greedy), aims["paper"]
    return [
        _verdict(
            "authors",
            f"{aims['dataset']}: fidelity of preset released by the authors' protocol",
            aim,
            undecided(settings, "released", released)
            or [check(value, value >= low, f"{digits(value, low)} at {share}") for share, value, low in values],
        ),
        _verdict(
            "authors",
            f"{aims['dataset']}: preset paper by the authors' protocol",
            f"≥ {column(least)} of greedy deletion",
            undecided(settings, "paper", paper)
            or undecided(settings, "greedy", greedy)
            or [check(ratio, ratio >= least, f"{digits(ratio, least)} of greedy deletion")],
        ),
    ]


def _stability(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    return [_verdict("stability", *claim) for claim in stability_claims(settings, aims, found)]


def _dial(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    def beaten(dataset: str) -> Verdict:
        checks = cost_checks(settings, methods_on(found, dataset, settings["model"]))
        claim = f"{dataset}: no method above RCExplainer with as few model runs"
        return _verdict("dial", claim, "every class", checks)

    return [beaten(dataset) for dataset in aims["datasets"]]


def _planned(settings: EntrySettings, aims: Aims, found: TaggedResults) -> list[Verdict]:
    first = settings.get("first_seed", 0)
    seeds = f"seeds {first}–{first + settings['seeds'] - 1}"

    def refined(dataset: str, runs: str, least: float) -> Verdict:
        named = f"{runs} runs" if runs.isdigit() else "greedy deletion's own number of runs"
        methods = methods_on(found, dataset, settings["model"])
        checks = ratio_checks(settings, methods, int(runs) if runs.isdigit() else runs, least)
        claim = f"{dataset}: refined with {named}, {seeds}"
        return _verdict("planned", claim, f"≥ {column(least)} of greedy, every class", checks)

    return [
        *(
            _verdict("planned", f"{claim}, {seeds}", aim, checks)
            for claim, aim, checks in score_claims(settings, aims["scores"], found)
        ),
        *(refined(dataset, runs, least) for dataset in aims["datasets"] for runs, least in aims["ratio"].items()),
    ]


JUDGES: dict[str, Callable[[EntrySettings, Aims, TaggedResults], list[Verdict]]] = {
    "fidelity": _fidelity,
    "authors": _authors,
    "robustness": _robustness,
    "stability": _stability,
    "time": _time,
    "dial": _dial,
    "planned": _planned,
    "nodes": _recovery,
    "nodes-edgeless": _edgeless_nodes,
    "links": _links,
    "case-study": _case_study,
}


def _verdict(entry: str, claim: str, aim: str, checks: Sequence[ClaimCheck]) -> Verdict:
    """Reached if all hold; what was found is where it fails, else what is missing, else everything."""
    failed = [one for one in checks if one.holds is False]
    missing = [one for one in checks if one.holds is None]
    found = "; ".join(dict.fromkeys(one.says for one in failed or missing or checks))
    return Verdict(entry, claim, aim, found, False if failed else None if missing else True)
