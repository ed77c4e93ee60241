"""The paper's case study (appendix C): what makes a graph this class and not that one?

Three classes, each with two of three motifs, so that each pair of classes shares one. For every pair (i, j), on
held-out graphs correctly predicted i and explained towards j: the motif that i has and j lacks should get the scores,
the shared one should not, and deleting it should lower p(i) and raise p(j).

One mask network, conditioned on the other class, is trained for all pairs. Its losses differ from those of the default
preset (`CASE_SETTINGS`). The default looks for the fewest edges that change a prediction: one or two edges of a motif
are enough, and the rest of the motif gets no credit. Here the boundary between the two classes enters the loss, as in
the paper, and above all the effect of each edge alone on the other class, with a temperature at which the weaker edges
of a motif still count. Fewer graphs and epochs are enough, and faster.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from rcexplainer.benchmark.networks import trained_gnn
from rcexplainer.datasets import GraphDataset
from rcexplainer.explainer import FittedRCExplainer, RCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import delete_edges
from rcexplainer.gnn.effects import single_effects
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics.motif import auc
from rcexplainer.paper.case_examples import examples_json
from rcexplainer.paper.job import JobResult
from rcexplainer.saving.fingerprint import weights_digest

CASE_DATASET, CASE_MODEL = "three-motifs", "paper"
CLASS_MOTIFS = ((0, 1), (1, 2), (0, 2))  # the kinds of motif of each class of `three-motifs`
MOTIF_NAMES = ("house", "cycle", "clique")
CASE_SETTINGS: dict[str, Any] = {
    "network": "factorised",  # chosen on seeds 30 and 31
    "weight_regions": 0.1,  # with 1 it sometimes outweighs the effects, and the scores go to the tree
    "weight_order": 0.0,
    "weight_outcome": 0.0,
    "weight_effect": 10.0,
    "effect_temperature": 0.3,
    "noise": 0.15,
    "weight_stable": 0.0,
    "teacher_limit": 600,
    "epochs": 50,
    "patience": 30,
}


@dataclass(frozen=True)
class ClassPair:
    """Graphs predicted `own`, explained towards `other`.

    Attributes:
        seed: Of graphs, network and explainer.
        own: The predicted class.
        other: The other class.
        telling: The motif that tells the two apart.
        shared: The motif that both have.
        graphs: How many were explained.
        auc: Of the telling motif, against all other edges.
        auc_shared: Of the shared motif.
        auc_occlusion: Of the telling motif, by what p(other) gains when each edge alone is deleted.
        lost: Mean drop of p(own) when the telling motif is deleted.
        gained: Mean rise of p(other).
        flipped: Share of the counterfactuals that are predicted as the other class.
        size: Mean number of edges they delete.
    """

    seed: int
    own: str
    other: str
    telling: str
    shared: str
    graphs: int
    auc: float
    auc_shared: float
    auc_occlusion: float
    lost: float
    gained: float
    flipped: float
    size: float


def case_study(
    seed: int, *, settings: Mapping[str, Any] | None = None, keep: Path | None = None, progress: bool = True
) -> JobResult:
    """One network, one explainer conditioned on the other class, all pairs of classes.

    Args:
        seed: Draws graphs, split, weights.
        settings: Of RCExplainer, on top of `CASE_SETTINGS`.
        keep: A folder of trained networks, used and added to.
        progress: Whether progress bars are shown.

    Returns:
        `classes`, `accuracy` and `weights` of the network, `pairs` (`ClassPair`), and `examples`, the first graph of
        each class.
    """
    explainer = RCExplainer(target_class="each", **(CASE_SETTINGS | dict(settings or {})))
    data, trained = trained_gnn(CASE_DATASET, CASE_MODEL, seed, keep=keep, progress=progress)
    fitted = explainer.fit(
        trained.model,
        data.subset("train"),
        val=data.subset("val"),
        class_names=data.class_names,
        seed=seed,
        progress=progress,
    )
    explained = {(own, other): ones for own, other, ones in _explained(fitted, data)}
    pairs = [asdict(_pair(fitted, ones, own, other, seed)) for (own, other), ones in explained.items()]
    return {
        "classes": list(data.class_names),
        "accuracy": [trained.accuracy["test"]],
        "weights": weights_digest(trained.model),
        "pairs": pairs,
        "examples": examples_json({pair: ones[0] for pair, ones in explained.items()}),
    }


def _explained(fitted: FittedRCExplainer, data: GraphDataset) -> Iterator[tuple[int, int, list[Explanation]]]:
    """The correctly predicted test graphs of every class, explained towards every other class; misclassified graphs
    may lack the motifs of their predicted class."""
    predicted = fitted.explain(data.subset("test"), search="none", on_error="keep")
    right = [one.graph for one in predicted if isinstance(one, Explanation) and one.prediction == int(one.graph.y)]
    for own in range(len(CLASS_MOTIFS)):
        graphs = [graph for graph in right if int(graph.y) == own]
        for other in range(len(CLASS_MOTIFS)):
            if graphs and other != own:
                found = fitted.explain(graphs, target_class=other, search="greedy")
                yield own, other, [one for one in found if isinstance(one, Explanation)]


def _pair(fitted: FittedRCExplainer, ones: list[Explanation], own: int, other: int, seed: int) -> ClassPair:
    (telling,) = set(CLASS_MOTIFS[own]) - set(CLASS_MOTIFS[other])
    (shared,) = set(CLASS_MOTIFS[own]) & set(CLASS_MOTIFS[other])
    scores = torch.cat([one.edge_scores for one in ones])
    kinds = torch.cat([one.graph.edge_motif_id for one in ones])
    lost, gained = _without(fitted, ones, telling, own, other)
    flipped = [one for one in ones if one.counterfactual is not None and one.counterfactual.flipped]
    sizes = [len(one.removed_units) for one in flipped]
    return ClassPair(
        seed=seed,
        own=fitted.class_names[own],
        other=fitted.class_names[other],
        telling=MOTIF_NAMES[telling],
        shared=MOTIF_NAMES[shared],
        graphs=len(ones),
        auc=auc(scores, kinds == telling),
        auc_shared=auc(scores, kinds == shared),
        auc_occlusion=auc(_occluded(fitted, ones, own, other), kinds == telling),
        lost=lost,
        gained=gained,
        flipped=len(flipped) / len(ones),
        size=fmean(sizes) if sizes else float("nan"),
    )


@torch.no_grad()
def _without(
    fitted: FittedRCExplainer, ones: list[Explanation], kind: int, own: int, other: int
) -> tuple[float, float]:
    """Mean change of both classes' probabilities when the motif of this kind is really deleted."""
    left = [delete_edges(one.graph, one.graph.edge_motif_id == kind) for one in ones]
    after: Tensor = fitted.split.log_probs(fitted.split.run(left).output).exp()
    before = torch.stack([one.probabilities for one in ones])
    change = (after - before).mean(0)
    return float(-change[own]), float(change[other])


@torch.no_grad()
def _occluded(fitted: FittedRCExplainer, ones: list[Explanation], own: int, other: int) -> Tensor:
    """What p(other) gains when each edge alone is deleted, one value per column of all graphs."""
    instances = Instances(fitted.split, [one.graph for one in ones])
    labels = torch.full((len(ones),), own)
    with fitted.split.scope:
        effects = single_effects(instances, labels, torch.full_like(labels, other))
    return instances.units.to_edges(effects, 0.0)
