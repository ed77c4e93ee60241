"""The results of an entry, grouped for tables and figures: dataset and network → method → one result a seed."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from rcexplainer.benchmark.results import mean, std
from rcexplainer.metrics.fidelity import SPARSITIES
from rcexplainer.paper.job import JobResult, Tags

NAN = float("nan")
SUMMED_SPARSITIES = SPARSITIES[:5]  # .95 to .75: those whose fidelities are summed up

EntrySettings: TypeAlias = dict[str, Any]  # an entry's file of settings, in one profile
TaggedResults: TypeAlias = list[tuple[Tags, JobResult]]  # what tells a job apart from the others, and its result
SeedResults: TypeAlias = list[JobResult]  # of one method or variant, one each
MethodResults: TypeAlias = dict[str, SeedResults]
Panel: TypeAlias = tuple[str, str]  # dataset and network
NoteMaker: TypeAlias = Callable[[MethodResults], list[str]]


def number(found: Any, *path: str | int) -> float:
    """A number somewhere in a result.

    Args:
        found: The result.
        *path: Names and places that lead to it.

    Returns:
        The number; nan where there is none: JSON has no nan, and a list may be empty.
    """
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return NAN
    return NAN if found is None else float(found)


def numbers(results: SeedResults, *path: str | int) -> list[float]:
    """The number at this path, of every seed."""
    return [number(one, *path) for one in results]


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Mean ± standard deviation over the seeds, as text; – without a value."""
    centre = mean(values)
    if centre != centre:
        return "–"
    shown = f"{centre:z.{digits}f}".replace("-", "−")
    return shown + (f" ± {std(values):.{digits}f}" if len(values) > 1 else "")


def groups(found: TaggedResults) -> dict[Panel, MethodResults]:
    """Group the results of methods; those of networks are left out.

    Args:
        found: The results of an entry.

    Returns:
        (dataset, network) → method or variant → its results.
    """
    made: dict[Panel, MethodResults] = {}
    for tags, result in without_networks(found):
        made.setdefault((tags["dataset"], tags["model"]), {}).setdefault(tags["variant"], []).append(result)
    return made


def without_networks(found: TaggedResults) -> TaggedResults:
    """The results of an entry less those of the networks that were trained for it."""
    return [(tags, result) for tags, result in found if not tags.get("network")]


def done(methods: MethodResults) -> MethodResults:
    """The methods without those that were left out."""
    kept = {name: [one for one in results if not one.get("skipped")] for name, results in methods.items()}
    return {name: results for name, results in kept.items() if results}


def done_groups(found: TaggedResults) -> dict[Panel, MethodResults]:
    """`groups` without methods that were left out, nor panels that have no other."""
    return {panel: kept for panel, methods in groups(found).items() if (kept := done(methods))}


def reported(settings: EntrySettings, dataset: str) -> dict[str, Any]:
    """What the paper reports for a dataset, by method."""
    return settings.get("reference", {}).get(dataset, {})


def reasons(methods: MethodResults) -> dict[str, str]:
    """Method → why it was left out, of those that were."""
    found = {
        name: next((one["skipped"] for one in results if one.get("skipped")), "") for name, results in methods.items()
    }
    return {name: reason for name, reason in found.items() if reason}


def left_out(methods: MethodResults) -> list[str]:
    """A note for every method that was left out, with the reason."""
    notes: list[str] = []
    for name, reason in reasons(methods).items():
        gone, every = sum(bool(one.get("skipped")) for one in methods[name]), len(methods[name])
        some = "" if gone == every else f" for {gone} of {every} seeds"
        notes.append(f"{name} is left out{some}: {reason}")
    return notes


def dead_runs(methods: MethodResults) -> list[str]:
    """A note for every method with a dead run, with the reason in the first of them."""
    notes: list[str] = []
    for name, results in done(methods).items():
        if found := [one["dead"] for one in results if one.get("dead")]:
            notes.append(f"{name}, {len(found)} of {len(results)} seeds: {found[0]}")
    return notes


def samples(methods: MethodResults) -> list[str]:
    """Notes on methods that were left out, on dead runs, and on samples, those of one size together."""
    found: dict[str, list[str]] = {}
    for name, results in done(methods).items():
        if any(one.get("instances", 0) + one.get("failed", 0) < one.get("held_out", 0) for one in results):
            taken, whole = (_range([one.get(key, 0) for one in results]) for key in ("instances", "held_out"))
            found.setdefault(f"{taken} instances a seed of {whole}", []).append(name)
    return left_out(methods) + dead_runs(methods) + [f"{', '.join(names)}: {text}" for text, names in found.items()]


def no_notes(methods: MethodResults) -> list[str]:
    """No notes, for a table beside another one with the same methods."""
    return []


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"
