"""What is measured of explanations: always the model on graphs whose edges are really gone.

flipped    share with a flipping counterfactual of at most a given share of the units; size: their median size
minimal    share of the flipping counterfactuals that are claimed to be minimal
verified   share of a sample of these that the model confirms: it flips, and putting back any unit undoes that
edges      the set {score > ½}: its mean sparsity 1 − |S| / |E|, and how often deleting exactly it flips
edgeless   share that keeps its prediction without any deletable edge

The measures of `rcexplainer.metrics` (fidelity, sufficiency, motif scores, robustness) are used as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.explanation import Explanation
from rcexplainer.fit.edgeless import stays
from rcexplainer.gnn import SplitModel, delete_edges
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics.flips import Counterfactuals, counterfactuals, flipping, minimal
from rcexplainer.metrics.motif import motif_edges

VERIFIED = 50  # counterfactuals of a group that are verified once more
ROBUST_NOISE, ROBUST_K = 0.1, 8  # the noise level and k at which the robustness of methods is compared
ROBUST_GRAPHS = 100  # graphs of a group whose noisy copies are explained
ROBUST_CAPTION = (
    f"robust: AUC of a noisy graph's scores against the clean top {ROBUST_K} edges at {ROBUST_NOISE:.0%} noise, the "
    "paper's (about half of it really changes edges, mostly additions) and strict (all of it, half deletions)"
).replace("%", " %")

NAN = float("nan")


@dataclass(frozen=True)
class VerifiedCounterfactuals(Counterfactuals):
    """Counterfactuals, and whether their claims to be minimal hold; `verified` is nan where none was tried."""

    verified: float = NAN


@dataclass(frozen=True)
class EdgeSet:
    """The edges with a score above ½, as a set: means over explanations."""

    sparsity: float
    flips: float  # share that flips when exactly this set is deleted


def predictions(split: SplitModel, graphs: Sequence[Data]) -> Tensor:
    """The predicted class of each graph, [n]."""
    return Instances(split, list(graphs)).passes(lambda done: split.log_probs(done.output)).argmax(1)


def flips_without(split: SplitModel, ones: Sequence[Explanation], removed: Sequence[Tensor]) -> Tensor:
    """Whether each prediction changes when these edges (masks of the whole graph) are really deleted, [n]."""
    left = [delete_edges(one.instance, one.within(mask)) for one, mask in zip(ones, removed, strict=True)]
    return predictions(split, left) != torch.tensor([one.prediction for one in ones])


def verified_counterfactuals(split: SplitModel, ones: Sequence[Explanation], within: float) -> VerifiedCounterfactuals:
    """How many flip, how small they are, and whether claims to be minimal hold for a sample of VERIFIED of them.

    Args:
        split: The model that the explanations are of.
        ones: Explanations with counterfactuals.
        within: Counterfactuals count up to this share of the units.
    """
    found = counterfactuals(ones, within)
    claimed = minimal(flipping(ones))
    sample = claimed[:: max(1, len(claimed) // VERIFIED)][:VERIFIED]
    verified = sum(is_minimal(split, one) for one in sample) / len(sample) if sample else NAN
    return VerifiedCounterfactuals(found.flipped, found.size, found.minimal, verified)


def is_minimal(split: SplitModel, one: Explanation) -> bool:
    """Whether the model predicts another class without the removed units, and not with any one of them put back."""
    assert one.counterfactual is not None  # there was a search
    removed = one.counterfactual.removed
    back = [removed & (one.units.of_edge != unit) for unit in one.removed_units.tolist()]
    flips = flips_without(split, [one] * (1 + len(back)), [removed, *back]).tolist()
    return flips[0] and not any(flips[1:])


def edge_set(split: SplitModel, ones: Sequence[Explanation]) -> EdgeSet:
    """Sparsity and flips of the set of edges with a score above ½."""
    kept = [1 - float((one.unit_scores > 0.5).float().mean()) if len(one.units) else 1.0 for one in ones]
    flips = flips_without(split, ones, [one.edges for one in ones])
    return EdgeSet(sum(kept) / len(kept), float(flips.float().mean()))


def keeps_without_edges(split: SplitModel, ones: Sequence[Explanation]) -> float:
    """The share of instances that keep their prediction when all their deletable edges are deleted."""
    instances = Instances(split, [one.instance for one in ones])
    labels = torch.tensor([one.prediction for one in ones], device=instances.everything.device)
    return float(stays(instances, labels, instances.everything).double().mean())


def motif_flips(split: SplitModel, ones: Sequence[Explanation]) -> float:
    """The share of instances with a known motif that flip when their own motif is deleted; nan where none has one."""
    known = [one for one in ones if "edge_motif" in one.graph and bool(motif_edges(one).any())]
    if not known:
        return NAN
    left = [delete_edges(one.instance, motif_edges(one)) for one in known]
    after = predictions(split, left)
    return float((after != torch.tensor([one.prediction for one in known])).float().mean())
