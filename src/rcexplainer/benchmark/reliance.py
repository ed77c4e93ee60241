"""How far a network relies on the motif, whichever method explains it: what its ground truth can be found by at all.

An edge of the motif that changes nothing, and an edge outside of it that does, are told the wrong way round by every
method that is true to the network.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from rcexplainer.benchmark.measures import predictions
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel, delete_edges
from rcexplainer.gnn.instances import Instances, single_effects
from rcexplainer.metrics.motif import motif_edges

LITTLE = 0.01  # a change of the probability that says nothing
ASKED, PAIRS = 30, 5000  # instances of which every pair of edges is tried, if it has no more pairs than so many


@dataclass(frozen=True)
class Reliance:
    """Means over some instances."""

    enough: float  # share of the instances with the same prediction when nothing but the motif is left
    idle: float  # share of the motif's edges that change p by less than LITTLE when deleted alone
    foreign: float  # share of all other edges that change it by more
    two: float  # share of the instances, of those that were asked, that flip without some one or two edges


def reliance(split: SplitModel, shown: Sequence[Explanation]) -> Reliance:
    """Ask the network about the motifs of these instances, of those that have one; nan where there is none."""
    shown = [one for one in shown if bool(motif_edges(one).any())]
    if not shown:
        return Reliance(*[float("nan")] * 4)
    labels = torch.tensor([one.prediction for one in shown])
    motif = [motif_edges(one) for one in shown]
    alone = [delete_edges(one.instance, ~own) for one, own in zip(shown, motif, strict=True)]
    instances = Instances(split, [one.instance for one in shown])
    units, columns = instances.units, torch.cat(motif)
    inside = torch.zeros(len(units), dtype=torch.bool)
    inside[units.of_edge[columns & (units.of_edge >= 0)]] = True
    moved = single_effects(instances, labels).abs() >= LITTLE
    return Reliance(
        float((predictions(split, alone) == labels).float().mean()),
        float((~moved[inside]).float().mean()),
        float(moved[~inside].float().mean()),
        two_flip(split, shown[:ASKED]),
    )


@torch.no_grad()
def two_flip(split: SplitModel, shown: Sequence[Explanation]) -> float:
    """Whether there is any counterfactual of one or two edges at all, by trying every one; nan where none was asked."""
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
    return sum(found) / len(found) if found else float("nan")
