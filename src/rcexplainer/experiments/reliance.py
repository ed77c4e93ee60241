"""How far a network relies on the motif, whichever method explains it: what its ground truth can be found by at all.

An edge of the motif that changes nothing, and an edge outside of it that does, are told the wrong way round by every
method that is true to the network.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from rcexplainer.experiments.measuring import predictions
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel, delete_edges
from rcexplainer.gnn.instances import Instances, single_effects
from rcexplainer.metrics.motif import motif_edges

LITTLE = 0.01  # a change of the probability that says nothing


@dataclass(frozen=True)
class Reliance:
    """Means over some instances."""

    enough: float  # share of the instances with the same prediction when nothing but the motif is left
    idle: float  # share of the motif's edges that change p by less than LITTLE when deleted alone
    foreign: float  # share of all other edges that change it by more


def reliance(split: SplitModel, shown: Sequence[Explanation]) -> Reliance:
    """Ask the network about the motifs of these instances; nan where there is no edge to ask about."""
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
    )
