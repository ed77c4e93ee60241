"""The authors' protocol: one class alone, methods fitted and judged on the same graphs; held-out graphs beside them.

    same       training graphs predicted as the class, which the method was fitted on, as in the authors' code
    held out   test graphs predicted as the class

At each sparsity of the authors' curve the top max(1, round((1 − s)·|E|)) edges are really deleted; `realised` is the
mean sparsity that whole edges allow. Beside the curves stands what the network is like: its accuracy, ‖w₁ − w₀‖ of its
head, the share of the graphs that keep their class without any edge, and with all edges at one weight below 1; and
what the masks are like: their mean, and how far apart they are within a graph.

A class that is left when all edges are made weaker alike is one where losses of soft masks have an easy way out: with
one mask for all edges, say .6, the kept graph (weights .6) is inside and the remainder (weights .4) outside, and no
edge had to be chosen. Explanations are of deletions, where that mask says nothing.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import torch
from torch import nn

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.networks import sample
from rcexplainer.explanation import Explanation
from rcexplainer.fit.edgeless import stays, stays_thinned
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics import fidelity
from rcexplainer.paper.job import JobResult

AUTHORS_SPARSITIES = (0.978, 0.935, 0.883, 0.837, 0.777, 0.524)
# Scores are ½ (1 + f / (1 + |f|)): a mask σ(f) of .02 has a score of .10, one of .98 a score of .90.
EMPTY, FULL = 0.10, 0.90
THINNED = (0.75, 0.5, 0.4, 0.25)  # weights that all edges are given at once


@dataclass(frozen=True)
class GraphCurve:
    """Fidelity of some graphs at `AUTHORS_SPARSITIES`."""

    graphs: int
    fidelity: tuple[float, ...]
    flips: tuple[float, ...]
    realised: tuple[float, ...]
    edgeless: float  # share of the graphs that keep their class without any edge
    thinned: tuple[
        float, ...
    ]  # and with all edges at each weight of `THINNED`; none where masks do not reach the model
    density: float  # mean score
    spread: float  # mean over the graphs of largest − smallest score

    @classmethod
    def of(cls, case: Case, ones: Sequence[Explanation]) -> "GraphCurve":
        """The curve of these explanations."""
        found = fidelity(case.split, ones, AUTHORS_SPARSITIES)
        instances = Instances(case.split, [one.instance for one in ones])
        labels = torch.tensor([one.prediction for one in ones])
        every = instances.everything
        kept = stays(instances, labels, every)
        thinned = [
            stays_thinned(instances, labels, every, weight) for weight in THINNED if case.split.masking is not None
        ]
        return cls(
            len(ones),
            found.drop,
            found.flips,
            tuple(fmean(_realised(one, share) for one in ones) for share in AUTHORS_SPARSITIES),
            float(kept.double().mean()),
            tuple(float(one.double().mean()) for one in thinned),
            fmean(float(one.unit_scores.mean()) for one in ones),
            fmean(float(one.unit_scores.max() - one.unit_scores.min()) for one in ones),
        )


def authors_curves(case: Case, method: str, most: int | None = None) -> JobResult:
    """Fit a method as the authors did, and measure it on the same graphs and on held-out ones.

    Args:
        case: A network, with the layout `authors`.
        method: A key of `METHODS`.
        most: Graphs of each kind that it explains, drawn with the seed; None: all of them.

    Returns:
        The curves, and what network and masks are like.
    """
    fitted = METHODS[method].fit(case, False)
    kinds: dict[str, Any] = {}
    for name, graphs in (("same", case.training), ("held_out", case.graphs(case.places))):
        chosen = [graphs[place] for place in sample(len(graphs), most or len(graphs), case.seed)]
        found = fitted.explain(chosen, search="none", on_error="keep")
        ones = [one for one in found if isinstance(one, Explanation) and len(one.units)]
        kinds[name] = asdict(GraphCurve.of(case, ones))
    return {
        **kinds,
        "sparsities": AUTHORS_SPARSITIES,
        "gnn_accuracy": case.accuracy,
        "head": head_norm(case.model.get_submodule(case.split.head_name)),
    }


def head_norm(head: nn.Module) -> float | None:
    """‖w₁ − w₀‖ of a linear head with two classes; None for any other head."""
    layers = [layer for layer in head.modules() if isinstance(layer, nn.Linear)]
    if len(layers) != 1 or layers[0].out_features != 2:
        return None
    return float((layers[0].weight[1] - layers[0].weight[0]).detach().norm())


def saturated(curve: dict[str, Any]) -> bool:
    """Whether the masks of some graphs are nearly 0, or nearly 1, on average; their order may still say something."""
    return not EMPTY <= curve["density"] <= FULL


def _realised(one: Explanation, share: float) -> float:
    """The sparsity that whole edges allow."""
    chosen = one.within(one.at_sparsity(share))
    return 1 - len(set(one.units.of_edge[chosen].tolist())) / len(one.units)
