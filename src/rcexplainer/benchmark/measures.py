"""What is measured of explanations: always the model on graphs whose edges are really gone.

flipped    share with a flipping counterfactual that takes away at most 30 % of the units; size: their median size
minimal    share of the flipping counterfactuals that are said to be minimal
verified   share of a sample of these that the model confirms: it flips, and putting back any unit undoes that
edges      the set {score > ½}: its mean sparsity 1 − |S| / |E|, and how often deleting exactly it flips
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel, delete_edges
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import flips as found_by_search
from rcexplainer.metrics.motif import motif_edges

WITHIN = 0.3  # counterfactuals count as found within this share of the units
VERIFIED = 50  # counterfactuals of a group that are verified once more
TIMED = 20  # graphs explained one by one, with a clock

NAN = float("nan")


@dataclass(frozen=True)
class Counterfactuals(found_by_search.Counterfactuals):
    verified: float


@dataclass(frozen=True)
class EdgeSet:
    sparsity: float
    flips: float


def predictions(split: SplitModel, graphs: Sequence[Data]) -> Tensor:
    """The predicted class of each graph, [n]."""
    return Instances(split, list(graphs)).passes(lambda done: split.log_probs(done.output)).argmax(1)


def flips_without(split: SplitModel, ones: Sequence[Explanation], removed: Sequence[Tensor]) -> Tensor:
    """Whether each prediction is another one when these edges of the whole graph are really deleted, [n]."""
    left = [delete_edges(one.instance, one.within(mask)) for one, mask in zip(ones, removed, strict=True)]
    return predictions(split, left) != torch.tensor([one.prediction for one in ones])


def counterfactuals(split: SplitModel, ones: Sequence[Explanation]) -> Counterfactuals:
    """How many flip, how small they are, and whether that is true."""
    found = found_by_search.counterfactuals(ones, WITHIN)
    claimed = found_by_search.minimal(found_by_search.flipping(ones))
    sample = claimed[:: max(1, len(claimed) // VERIFIED)][:VERIFIED]
    verified = sum(is_minimal(split, one) for one in sample) / len(sample) if sample else NAN
    return Counterfactuals(found.flipped, found.size, found.minimal, verified)


def is_minimal(split: SplitModel, one: Explanation) -> bool:
    """Ask the model: without the removed units it predicts another class, with any one of them put back it does not."""
    assert one.counterfactual is not None  # a search was asked for
    removed = one.counterfactual.removed
    back = [removed & (one.units.of_edge != unit) for unit in one.removed_units.tolist()]
    flips = flips_without(split, [one] * (1 + len(back)), [removed, *back]).tolist()
    return flips[0] and not any(flips[1:])


def edge_set(split: SplitModel, ones: Sequence[Explanation]) -> EdgeSet:
    """The edges with a score above ½, as a set."""
    kept = [1 - float((one.unit_scores > 0.5).float().mean()) if len(one.units) else 1.0 for one in ones]
    flips = flips_without(split, ones, [one.edges for one in ones])
    return EdgeSet(sum(kept) / len(kept), float(flips.float().mean()))


def motif_flips(split: SplitModel, ones: Sequence[Explanation]) -> float:
    """The share that flips when the known motif (its own) is deleted, of those that have one; nan where none has."""
    known = [one for one in ones if "edge_motif" in one.graph and bool(motif_edges(one).any())]
    if not known:
        return NAN
    left = [delete_edges(one.instance, motif_edges(one)) for one in known]
    after = predictions(split, left)
    return float((after != torch.tensor([one.prediction for one in known])).float().mean())


def seconds_each(method: FittedExplainer, graphs: Sequence[Data]) -> float:
    """The median time of the scores of one graph alone."""
    times: list[float] = []
    for graph in graphs[:TIMED]:
        started = time.perf_counter()
        method.explain([graph], search="none", on_error="keep")
        times.append(time.perf_counter() - started)
    return median(times)
