"""What counterfactuals that hold must show: as stable as the graphs they come from, found where greedy deletion finds
one, and not much larger. A claim is about every predicted class of a dataset, each as a mean over the seeds."""

from collections.abc import Iterator
from typing import Any

from rcexplainer.benchmark.results import OURS, column, mean
from rcexplainer.paper.checks import Claim, ClaimCheck, check, digits, mean_number, methods_on, undecided
from rcexplainer.paper.counterfactual_stability import NO_CONFIDENCE, confidence_key
from rcexplainer.paper.result_groups import NAN, EntrySettings, MethodResults, SeedResults, TaggedResults, numbers
from rcexplainer.paper.stability_tables import GREEDY_SEARCH, class_names, class_results


def stability_claims(settings: EntrySettings, aims: dict[str, Any], found: TaggedResults) -> Iterator[Claim]:
    """The claims about RCExplainer's own search.

    Args:
        settings: The entry's.
        aims: `datasets`; `noise`: the kinds of noise; `flipped`: of those that greedy deletion flips; `edges`: times
            as many as without a confidence.
        found: The results of the entry.

    Yields:
        The claims of each dataset.
    """
    confidence = settings["confidence"]
    key, sure = confidence_key(confidence), f"at confidence {column(confidence)}"
    for dataset in aims["datasets"]:
        methods = methods_on(found, dataset)
        opened = undecided(settings, OURS, methods.get(OURS, []))
        pairs = [] if opened else [(name, class_results(methods, name, key)) for name in class_names(methods)]
        for kind in aims["noise"]:
            checks = [one for name, rows in pairs for one in _stable(settings, name, rows[GREEDY_SEARCH], kind)]
            levels = " and ".join(f"{100 * level:g}" for level in settings["noise"])
            claim = f"{dataset}: counterfactuals {sure} under {kind} noise"
            yield claim, f"as stable as the originals at {levels} %", opened or checks
        least, most = aims["flipped"], aims["edges"]
        greedy = opened or undecided(settings, "greedy", methods.get("greedy", []))
        yield (
            f"{dataset}: flipped {sure}",
            f"≥ {column(least)} where greedy deletion can",
            greedy or [_flipped(name, rows, least) for name, rows in pairs],
        )
        plain = {} if opened else {name: class_results(methods, name, NO_CONFIDENCE) for name, _ in pairs}
        yield (
            f"{dataset}: edges deleted {sure}",
            f"median ≤ {most:g} × those without",
            opened or [_edges(name, rows[GREEDY_SEARCH], plain[name][GREEDY_SEARCH], most) for name, rows in pairs],
        )


def _stable(settings: EntrySettings, name: str, ours: SeedResults, kind: str) -> list[ClaimCheck]:
    """The share still flipped against the originals' own, at every level."""
    checks = []
    for place, level in enumerate(settings["noise"]):
        own, original = (mean(numbers(ours, "stability", kind, which, place)) for which in ("flipped", "original"))
        says = f"{digits(own, original)} against {digits(original, own)} at {100 * level:g} % ({name})"
        checks.append(check(own - original, own >= original, says))
    return checks


def _flipped(name: str, rows: MethodResults, least: float) -> ClaimCheck:
    """Of the graphs that greedy deletion flips, the share that RCExplainer's own search flips, over all seeds."""
    ours = {one["seed"]: set(one.get("places", ())) for one in rows[GREEDY_SEARCH]}
    theirs = {one["seed"]: set(one.get("places", ())) for one in rows.get("greedy", [])}
    can = sum(len(places) for places in theirs.values())
    both = sum(len(places & ours.get(seed, set())) for seed, places in theirs.items())
    share = both / can if can else NAN
    return check(share, share >= least, f"{digits(share, least)} ({name}, {both} of {can})")


def _edges(name: str, sure: SeedResults, plain: SeedResults, most: float) -> ClaimCheck:
    """The median size with a confidence over that without, means over the seeds."""
    own, other = mean_number(sure, "size"), mean_number(plain, "size")
    ratio = own / other if other else NAN
    return check(ratio, ratio <= most, f"{ratio:.2f} × ({name}, {own:.1f} against {other:.1f})")
