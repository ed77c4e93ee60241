"""Graph sets: RCExplainer beside random order, occlusion and greedy deletion on held-out graphs, class by class.

The GNN, the regions and the mask network are fitted on the training graphs, choices are made on the validation graphs,
and every number is of test graphs, for each class: of the graphs *predicted* as the class, and of those *labelled* as
it. The predicted class is explained in both, as in the paper's code: the fidelity of a graph labelled as the class is
the drop of the probability of whatever class the model predicts for it.
"""

from collections.abc import Mapping
from functools import partial

from rcexplainer.benchmark.case import GREEDY_DEPTH, Case
from rcexplainer.benchmark.graph_summary import graph_summary
from rcexplainer.benchmark.graph_tables import graph_tables
from rcexplainer.benchmark.groups import (
    Group,
    GroupExplanations,
    GroupMeasurement,
    Measure,
    NetworkResult,
    explained_at_random,
    motif_use,
    usual_search,
)
from rcexplainer.benchmark.measures import (
    NAN,
    ROBUST_GRAPHS,
    ROBUST_K,
    ROBUST_NOISE,
    EdgeSet,
    VerifiedCounterfactuals,
    edge_set,
    keeps_without_edges,
    verified_counterfactuals,
)
from rcexplainer.benchmark.motif_directions import known_direction
from rcexplainer.benchmark.networks import on_device, sample
from rcexplainer.benchmark.plan import Plan
from rcexplainer.benchmark.reliance import reliance
from rcexplainer.benchmark.results import HEADLINE_SPARSITIES, OURS
from rcexplainer.explainer import FittedRCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import Fidelity, RegionAgreement, fidelity, motif_auc, region_agreement, robustness
from rcexplainer.metrics.perturbation import NoiseProtocol

TIMED_GRAPHS = 20  # on which the times of a method are taken


def graph_plan(robust: bool = True) -> Plan:
    """The plan for graph sets.

    Args:
        robust: Measure robustness to noise, the paper's and strict.
    """
    measures: dict[str, Measure] = {
        "fidelity": _fidelity,
        "auc": _auc,
        "counterfactuals": _counterfactuals,
        "edges": _edges,
        "edgeless": lambda shown: keeps_without_edges(shown.case.split, shown.ones),
        "region_agreement": _region_agreement,
    }
    if robust:
        measures |= {
            "robustness": partial(_robustness, "paper"),
            "strict_robustness": partial(_robustness, "strict"),
        }
    measurement = GroupMeasurement(by_class, measures, usual_search, lambda case, _: case.places, TIMED_GRAPHS)
    return Plan(measurement, _network, graph_summary, graph_tables)


def by_class(case: Case, method: str, shown: Mapping[int, Explanation]) -> list[Group]:
    """The explained graphs of each class: those predicted as it, then those labelled as it; empty ones are left out."""
    members = {
        "predicted": {place: one.prediction for place, one in shown.items()},
        "labelled": {place: int(one.graph.y) for place, one in shown.items()},
    }
    groups = [
        Group(name, label, [place for place, member in classes.items() if member == number])
        for name, classes in members.items()
        for number, label in enumerate(case.data.class_names)
    ]
    return [group for group in groups if group.places]


def _fidelity(shown: GroupExplanations) -> Fidelity:
    return fidelity(shown.case.split, shown.ones, HEADLINE_SPARSITIES)


def _auc(shown: GroupExplanations) -> float:
    return motif_auc(shown.ones) if shown.case.data.has_ground_truth else NAN


def _counterfactuals(shown: GroupExplanations) -> VerifiedCounterfactuals:
    """Within the share of the units that greedy deletion orders."""
    return verified_counterfactuals(shown.case.split, shown.ones, GREEDY_DEPTH)


def _edges(shown: GroupExplanations) -> EdgeSet | None:
    return edge_set(shown.case.split, shown.ones) if shown.method == OURS else None


def _robustness(protocol: NoiseProtocol, shown: GroupExplanations) -> float:
    """AUC at 10 % noise on some of the graphs predicted as the class, the same ones for every method."""
    if shown.group != "predicted":
        return NAN
    seed = shown.case.seed
    some = [shown.ones[place] for place in sample(len(shown.ones), ROBUST_GRAPHS, seed)]
    graphs = on_device([one.graph for one in some], shown.case.device)
    found = robustness(shown.fitted, graphs, [ROBUST_NOISE], ROBUST_K, protocol=protocol, seed=seed, explanations=some)
    return found.auc[0][0]


def _region_agreement(shown: GroupExplanations) -> RegionAgreement | None:
    """Of the graphs predicted as the class."""
    if shown.group != "predicted" or not isinstance(shown.fitted, FittedRCExplainer):
        return None
    return region_agreement(shown.fitted, shown.ones, seed=shown.case.seed)


def _network(case: Case) -> NetworkResult:
    shown = explained_at_random(case, case.places)
    uses = []
    for group in by_class(case, "", shown):
        ones = [shown[place] for place in group.places]
        relied = reliance(case.split, ones) if case.data.has_ground_truth else None
        uses.append(motif_use(case, group, ones, relied, known_direction(case.split, ones)))
    return NetworkResult(case.seed, case.accuracy, tuple(uses))
