"""Node and link sets: does the own motif of an instance get the scores, and does deleting few edges flip it?

Nodes: the mask network is fitted on the nodes of half of the motifs, a tenth of which is set apart to choose among its
restarts; the headline is of the nodes of the other half. All motif nodes, the paper's protocol, stand beside it. Links:
fitted on the training part, explained are those of the test part that the network correctly predicts as links.

A network whose predictions do not change when a node's own motif is deleted does not use it, and its ground truth says
nothing: such networks are counted, and left out of the headline.

A method has a row for each of its readings: scores, and relevance where it has that. `live_auc` is over the edges that
can matter at all; `auc` over all edges of the computation graphs, most of which may be dead; `node_auc` is the mean of
the instances' own AUCs over live edges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.cost_tables import cost_rows, cost_table
from rcexplainer.benchmark.groups import (
    Group,
    GroupExplanations,
    GroupMeasurement,
    GroupResult,
    NetworkResult,
    explained_at_random,
    motif_use,
    usual_search,
)
from rcexplainer.benchmark.measures import NAN, VerifiedCounterfactuals, keeps_without_edges
from rcexplainer.benchmark.motif_directions import direction_text, mean_direction
from rcexplainer.benchmark.networks import sample
from rcexplainer.benchmark.plan import Evaluation, Plan
from rcexplainer.benchmark.recovery import second_reading
from rcexplainer.benchmark.reliance import NEGLIGIBLE, Reliance, reliance
from rcexplainer.benchmark.results import OURS, Rows, Tables, mean, std
from rcexplainer.datasets import GraphDataset, task_of
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import (
    MotifRecovery,
    counterfactuals,
    motif_accuracy,
    motif_auc,
    motif_direction,
    motif_recovery,
)

USES_MOTIF = 0.9  # a network counts if at least this share of its motif nodes flips when their motif is deleted
REFERENCE_INSTANCES = 30  # on which the slow references are run
REFERENCE_DEPTH = 0.1  # the share of the units that greedy deletion orders
TIMED_INSTANCES = 5  # on which the times of a method are taken

RECOVERY = tuple(field.name for field in fields(MotifRecovery))
NUMBERS = ("auc_every", "accuracy_every", "flipped", "size", "edgeless")


def motif_plan() -> Plan:
    """The plan for node and link sets."""
    measures = {
        "auc": lambda shown: motif_auc(shown.ones),
        "accuracy": lambda shown: motif_accuracy(shown.ones),
        "recovery": lambda shown: motif_recovery(shown.ones),
        "relevance": lambda shown: second_reading(shown.ones),
        "auc_every": lambda shown: motif_auc(shown.ones, "every"),
        "accuracy_every": lambda shown: motif_accuracy(shown.ones, "every"),
        "counterfactuals": _counterfactuals,
        "edgeless": lambda shown: keeps_without_edges(shown.case.split, shown.ones),
    }
    measurement = GroupMeasurement(_groups, measures, usual_search, _places, TIMED_INSTANCES)
    return Plan(measurement, _network, motif_summary, motif_tables, greedy_depth=REFERENCE_DEPTH)


def _places(case: Case, method: str) -> list[int]:
    """RCExplainer explains all instances, the references some of the held-out ones."""
    return case.places if method == OURS else sample(case.count, REFERENCE_INSTANCES, case.seed)


def _groups(case: Case, method: str, shown: Mapping[int, Explanation]) -> list[Group]:
    if method != OURS:
        return [Group(f"unseen, {min(case.count, REFERENCE_INSTANCES)} of them", "", list(shown))]
    unseen = [place for place in shown if place < case.count]
    right = [place for place in unseen if correctly_predicted(case.data, shown[place])]
    groups = {"unseen": unseen, "unseen, correctly predicted": right, "all": list(shown)}
    return [Group(name, "", places) for name, places in groups.items() if places]


def correctly_predicted(data: GraphDataset, one: Explanation) -> bool:
    """Whether a node's prediction is its label: for a misclassified node the motif need not be the cause. Links make
    no such group: all that are explained are correctly predicted."""
    return data.task == "node" and one.prediction == int(data.graph.y[one.index])


def _counterfactuals(shown: GroupExplanations) -> VerifiedCounterfactuals:
    """All flips count, of whatever size; they were verified when they were searched for."""
    found = counterfactuals(shown.ones)
    return VerifiedCounterfactuals(found.flipped, found.size, found.minimal)


def _network(case: Case) -> NetworkResult:
    """Motif flips of all instances; reliance of the instances on which the references are run."""
    shown = explained_at_random(case, case.places)
    some = [shown[place] for place in sample(case.count, REFERENCE_INSTANCES, case.seed) if place in shown]
    ones = list(shown.values())
    direction = motif_direction(case.split, ones)
    use = motif_use(case, Group("all", "", list(shown)), ones, reliance(case.split, some), direction)
    return NetworkResult(case.seed, case.accuracy, (use,))


def motif_shares(evaluation: Evaluation) -> dict[int, float]:
    """The share of instances that flip without their motif, by seed."""
    return {network.seed: network.motif_use[0].flips for network in evaluation.networks}


def mean_rows(evaluation: Evaluation, headline: bool) -> Rows:
    """Mean ± standard deviation over the networks, of one its value; in the headline, over those that use the motif."""
    shares = motif_shares(evaluation)
    found: dict[tuple[str, str], list[GroupResult]] = {}
    for one in evaluation.results:
        if not headline or shares[one.seed] >= USES_MOTIF:
            for group in one.groups:
                found.setdefault((one.method, group.group), []).append(group)
    noun = f"{task_of(evaluation.dataset)}s"
    rows: Rows = []
    for (method, name), ones in found.items():
        about = {"method": method, noun: name, "networks": len(ones)}
        rows.append({**about, "reading": "scores", **_recovery_texts([one.recovery for one in ones]), **_texts(ones)})
        if all(one.relevance is not None for one in ones):
            second = _recovery_texts([one.relevance for one in ones])
            rows.append({**about, "reading": "relevance", **second, **dict.fromkeys(NUMBERS, "")})
    return rows


def _recovery_texts(ones: Sequence[MotifRecovery | None]) -> dict[str, str]:
    """How well one reading finds the motif, in words."""
    return {name: _text([getattr(one, name, NAN) for one in ones]) for name in RECOVERY}


def _texts(ones: Sequence[GroupResult]) -> dict[str, str]:
    """The numbers that a method has once, whatever the reading."""
    return {
        name: _text([getattr(one.counterfactuals if name in ("flipped", "size") else one, name) for one in ones])
        for name in NUMBERS
    }


def _text(values: Sequence[float]) -> str:
    spread = f" ± {std(values):.3f}" if sum(value == value for value in values) > 1 else ""  # one value has none
    return f"{mean(values):.3f}{spread}"


def motif_summary(evaluation: Evaluation) -> dict[str, Any]:
    """Means over all networks and over those that use the motif, and costs."""
    return {
        "means": {name: mean_rows(evaluation, headline=name == "headline") for name in ("headline", "all")},
        "mean_costs": cost_rows(evaluation.results),
        "motif_flips": list(motif_shares(evaluation).values()),
    }


def motif_tables(evaluation: Evaluation) -> Tables:
    """Networks that use the motif, if there are any; all networks; costs."""
    shares = list(motif_shares(evaluation).values())
    good = sum(share >= USES_MOTIF for share in shares)
    relied = [use.reliance for network in evaluation.networks for use in network.motif_use if use.reliance is not None]
    means = {field.name: mean([getattr(one, field.name) for one in relied]) for field in fields(Reliance)}
    ways = [use.direction for network in evaluation.networks for use in network.motif_use if use.direction is not None]
    noun = task_of(evaluation.dataset)
    note = (
        f"share of motif {noun}s that flip when their motif is deleted, by seed: "
        f"{', '.join(f'{share:.2f}' for share in shares)}; {good} of {len(shares)} networks reach {USES_MOTIF:.0%} and "
        f"count in the headline; {means['enough']:.2f} keep their prediction when only the motif is left, "
        f"{means['idle']:.2f} of its edges change p by less than {NEGLIGIBLE} when deleted alone, "
        f"{means['foreign']:.2f} of all other edges by more; {means['two']:.2f} of those small enough to try every "
        f"pair flip without some one or two edges; {direction_text(mean_direction(ways))}; edgeless: share that keeps "
        "its prediction without any edge"
    )
    tables: Tables = [(mean_rows(evaluation, headline=False), f"all networks; {note}")]
    if good:
        tables.insert(0, (mean_rows(evaluation, headline=True), "networks that use the motif"))
    return [*tables, cost_table(evaluation.results, noun)]
