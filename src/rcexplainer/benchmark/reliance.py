"""How far a network relies on the motif: an upper bound on what any faithful explainer can recover of the ground truth.

An edge of the motif that changes nothing, and an edge outside of it that changes the prediction, are misranked by every
faithful method.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from rcexplainer.benchmark.measures import NAN, predictions
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel, delete_edges
from rcexplainer.gnn.effects import single_effects
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics.motif import motif_edges

NEGLIGIBLE = 0.01  # smaller changes of the probability do not count
PAIRED, PAIRS = 30, 5000  # every pair of edges is tried on this number of instances, if they have at most PAIRS of them


@dataclass(frozen=True)
class Reliance:
    """How far a network relies on the motif: means over some instances; nan where there is no motif."""

    enough: float = NAN  # share of the instances with the same prediction when nothing but the motif is left
    idle: float = NAN  # share of the motif's edges that change p by less than NEGLIGIBLE when deleted alone
    foreign: float = NAN  # share of all other edges that change it by more
    two: float = NAN  # share of the instances on which all pairs were tried that flip without some one or two edges


def reliance(split: SplitModel, shown: Sequence[Explanation]) -> Reliance:
    """Run the network with and without the motifs of these instances; those without a motif are left out.

    Args:
        split: The model that the explanations are of.
        shown: Explanations of any method: only their instances and predictions are used.
    """
    shown = [one for one in shown if bool(motif_edges(one).any())]
    if not shown:
        return Reliance()
    labels = torch.tensor([one.prediction for one in shown])
    motif = [motif_edges(one) for one in shown]
    alone = [delete_edges(one.instance, ~own) for one, own in zip(shown, motif, strict=True)]
    instances = Instances(split, [one.instance for one in shown])
    units, columns = instances.units, torch.cat(motif)
    inside = torch.zeros(len(units), dtype=torch.bool)
    inside[units.of_edge[columns & (units.of_edge >= 0)]] = True
    moved = single_effects(instances, labels).abs() >= NEGLIGIBLE
    return Reliance(
        float((predictions(split, alone) == labels).float().mean()),
        float((~moved[inside]).float().mean()),
        float(moved[~inside].float().mean()),
        two_flip(split, shown[:PAIRED]),
    )


@torch.no_grad()
def two_flip(split: SplitModel, shown: Sequence[Explanation]) -> float:
    """The share of small instances that flip without some one or two edges, by trying all; nan where none is small."""
    found: list[bool] = []
    for one in shown:
        instance = Instances(split, [one.instance])
        number = len(instance.units)
        if not 0 < number * (number + 1) // 2 <= PAIRS:
            continue
        chosen = torch.combinations(torch.arange(number), 2, with_replacement=True)
        removed = torch.zeros(len(chosen), number, dtype=torch.bool).scatter_(1, chosen, True)
        left = instance.log_probs(torch.zeros(len(chosen), dtype=torch.long), removed.flatten()).argmax(1)
        found.append(bool((left != one.prediction).any()))
    return sum(found) / len(found) if found else NAN
