"""The numbers of an evaluation on graph sets: means over the seeds, and methods beside greedy deletion and occlusion.

    ratio              Σ fidelity ÷ Σ greedy deletion's, over the sparsities; nan if greedy's mean is below LEAST_GREEDY
    difference         mean fidelity − greedy deletion's
    above_occlusion    whether the fidelity is above occlusion's, at each sparsity from .90 down

Both methods of a comparison are taken on the graphs that both could explain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rcexplainer.benchmark.cost_tables import cost_rows
from rcexplainer.benchmark.groups import GroupResult, MotifUse
from rcexplainer.benchmark.measures import NAN, EdgeSet, VerifiedCounterfactuals
from rcexplainer.benchmark.plan import Evaluation
from rcexplainer.benchmark.reliance import Reliance
from rcexplainer.benchmark.results import HEADLINE_SPARSITIES, Rows, column, columns, mean, means_and_stds
from rcexplainer.metrics import MotifDirection, RegionAgreement

LEAST_GREEDY = 0.1  # a ratio to a smaller mean fidelity of greedy deletion would be noise
FROM_90 = HEADLINE_SPARSITIES.index(0.90)  # from this sparsity on, scores are to be above occlusion's
NO_AGREEMENT = RegionAgreement()
NO_DIRECTION = MotifDirection(NAN, NAN, NAN)
NO_COUNTERFACTUALS = VerifiedCounterfactuals(NAN, NAN, NAN, NAN)


@dataclass(frozen=True)
class Relative:
    """The fidelity of a method beside greedy deletion's and occlusion's, on one group of graphs."""

    ratio: float
    difference: float
    above_occlusion: tuple[bool, ...]


def relative(own: GroupResult, greedy: GroupResult, occlusion: GroupResult) -> Relative:
    """Compare a method with the two references on one group of graphs."""
    mine, reference = _paired(own, greedy)
    ceiling = sum(reference)
    mine_too, other = _paired(own, occlusion)
    return Relative(
        sum(mine) / ceiling if ceiling >= LEAST_GREEDY * len(reference) else NAN,
        (sum(mine) - ceiling) / len(reference),
        tuple(a > b for a, b in zip(mine_too[FROM_90:], other[FROM_90:], strict=True)),
    )


def _paired(one: GroupResult, other: GroupResult) -> tuple[Sequence[float], Sequence[float]]:
    """The fidelities of two methods on the graphs that both could explain."""
    assert one.fidelity is not None  # graph plans measure it
    assert other.fidelity is not None
    if one.places == other.places:
        return one.fidelity.drop, other.fidelity.drop
    common = set(one.places) & set(other.places)
    return _drops(one, common), _drops(other, common)


def _drops(one: GroupResult, places: set[int]) -> list[float]:
    assert one.fidelity is not None
    kept = [position for position, place in enumerate(one.places) if place in places]
    return [mean([row[position] for position in kept]) for row in one.fidelity.each]


def graph_summary(evaluation: Evaluation) -> dict[str, Any]:
    """Means over the seeds: what can be flipped, every method on every group, and costs."""
    return {
        "first": flippable_rows(evaluation),
        "means": method_rows(evaluation),
        "mean_costs": cost_rows(evaluation.results),
        "beside_references": [
            {"seed": seed, "group": one.group, "label": one.label, "method": method, **asdict(beside)}
            for seed, method, one, beside in relatives(evaluation)
        ],
    }


def flippable_rows(evaluation: Evaluation) -> Rows:
    """What deleting edges can do at all to the graphs of each group: means over the seeds."""
    greedy = {
        (one.seed, group.group, group.label): (group.counterfactuals or NO_COUNTERFACTUALS).flipped
        for one in evaluation.results
        if one.method == "greedy"
        for group in one.groups
    }
    edgeless = {
        (one.seed, group.group, group.label): group.edgeless
        for one in evaluation.results
        if one.method == "greedy"
        for group in one.groups
    }
    groups: dict[tuple[str, str], list[tuple[MotifUse, dict[str, float]]]] = {}
    for network in evaluation.networks:
        for one in network.motif_use:
            numbers = {"greedy": greedy.get((network.seed, one.group, one.label), NAN), "motif": one.flips}
            numbers |= asdict(one.reliance or Reliance()) | asdict(one.direction or NO_DIRECTION)
            numbers["edgeless"] = edgeless.get((network.seed, one.group, one.label), NAN)
            groups.setdefault((one.group, one.label), []).append((one, numbers))
    return [
        {
            "group": group,
            "class": label,
            "graphs": mean([one.instances for one, _ in ones]),
            **means_and_stds([numbers for _, numbers in ones]),
        }
        for (group, label), ones in groups.items()
    ]


def method_rows(evaluation: Evaluation) -> Rows:
    """Means over the seeds, a line for each group, class and method; `std` holds the standard deviations."""
    groups: dict[tuple[str, str, str], list[tuple[GroupResult, Relative]]] = {}
    for _, method, one, beside in relatives(evaluation):
        groups.setdefault((one.group, one.label, method), []).append((one, beside))
    rows = {
        key: dict(zip(("group", "class", "method"), key, strict=True))
        | {"graphs": mean([len(one.places) for one, _ in ones])}
        | means_and_stds([_numbers(*pair) for pair in ones])
        for key, ones in groups.items()
    }
    for (group, label, _), row in rows.items():
        other = rows[group, label, "occlusion"]
        row["above_occlusion"] = [row[column(share)] > other[column(share)] for share in HEADLINE_SPARSITIES[FROM_90:]]
    return list(rows.values())


def relatives(evaluation: Evaluation) -> Iterator[tuple[int, str, GroupResult, Relative]]:
    """(seed, method, its result on a group, the same beside the references), seed by seed and group by group."""
    for seed in evaluation.seeds:
        found: dict[tuple[str, str], dict[str, GroupResult]] = {}
        for one in evaluation.results:
            if one.seed == seed:
                for group in one.groups:
                    found.setdefault((group.group, group.label), {})[one.method] = group
        for methods in found.values():
            if {"greedy", "occlusion"} <= methods.keys():
                for name, group in methods.items():
                    yield seed, name, group, relative(group, methods["greedy"], methods["occlusion"])


def _numbers(one: GroupResult, beside: Relative) -> dict[str, float]:
    """Everything that has a mean over the seeds, by the names of its columns."""
    assert one.fidelity is not None
    edges = one.edges or EdgeSet(NAN, NAN)
    return {
        **columns(HEADLINE_SPARSITIES, one.fidelity.drop),
        "ratio": beside.ratio,
        "difference": beside.difference,
        "AUC": one.auc,
        "robustness": one.robustness,
        "strict_robustness": one.strict_robustness,
        **asdict(one.counterfactuals or NO_COUNTERFACTUALS),
        "edges_sparsity": edges.sparsity,
        "edges_flips": edges.flips,
        "region_difference": (one.region_agreement or NO_AGREEMENT).difference,
        "region_chance": (one.region_agreement or NO_AGREEMENT).chance,
        "region_p": (one.region_agreement or NO_AGREEMENT).p_value,
    }
