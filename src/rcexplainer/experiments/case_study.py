"""The paper's case study (appendix C): what makes a graph this class and not that one?

Three classes, each with two of three motifs, so that each pair of classes shares one. For every pair (i, j), on
held-out graphs rightly predicted i and asked about j: the motif that i has and j lacks should get the scores, the
shared one should not, and deleting it should lower p(i) and raise p(j).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from rcexplainer.datasets import GraphDataset
from rcexplainer.experiments.accuracy import versions
from rcexplainer.experiments.running import trained_gnn
from rcexplainer.explainer import RCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.fitted import FittedRCExplainer
from rcexplainer.gnn import delete_edges
from rcexplainer.metrics.motif import auc

MOTIFS = ((0, 1), (1, 2), (0, 2))  # the kinds of motif of each class of `three-motifs`


@dataclass(frozen=True)
class Pair:
    """Graphs predicted `own`, asked about `other`."""

    own: str
    other: str
    graphs: int
    auc: float  # of the motif that tells the two apart, against all other edges
    auc_shared: float  # of the motif that both have
    lost: float  # mean drop of p(own) when the telling motif is deleted
    gained: float  # mean rise of p(other)
    flipped: float  # share of counterfactuals that really are the other class
    size: float  # mean number of edges in these


@dataclass(frozen=True)
class CaseStudy:
    seed: int
    accuracy: float
    pairs: tuple[Pair, ...]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "class": pair.own,
                "and not": pair.other,
                "graphs": pair.graphs,
                "AUC telling motif": round(pair.auc, 3),
                "AUC shared motif": round(pair.auc_shared, 3),
                "p(class) lost": round(pair.lost, 3),
                "p(other) gained": round(pair.gained, 3),
                "flipped": round(pair.flipped, 3),
                "edges": round(pair.size, 2),
            }
            for pair in self.pairs
        ]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "versions": versions()}


def case_study(seed: int = 0, *, settings: Mapping[str, Any] | None = None, progress: bool = True) -> CaseStudy:
    """One network, one explainer conditioned on the other class, all pairs of classes."""
    explainer = RCExplainer(target_class="each", **(settings or {}))
    data, trained = trained_gnn("three-motifs", "paper", seed, progress=progress)
    fitted = explainer.fit(
        trained.model,
        data.subset("train"),
        val=data.subset("val"),
        class_names=data.class_names,
        seed=seed,
        progress=progress,
    )
    pairs = [_pair(fitted, data, own, other) for own in range(3) for other in range(3) if own != other]
    return CaseStudy(seed, trained.accuracy["test"], tuple(pair for pair in pairs if pair is not None))


def _pair(fitted: FittedRCExplainer, data: GraphDataset, own: int, other: int) -> Pair | None:
    predicted = fitted.explain(data.subset("test"), search="none", on_error="keep")
    right = [one.graph for one in predicted if isinstance(one, Explanation) and one.prediction == int(one.graph.y)]
    graphs = [graph for graph in right if int(graph.y) == own]  # others may lack the motifs of their predicted class
    if not graphs:
        return None
    asked = fitted.explain(graphs, target_class=other, search="greedy", on_error="keep")
    shown = [one for one in asked if isinstance(one, Explanation)]
    (telling,) = set(MOTIFS[own]) - set(MOTIFS[other])
    (shared,) = set(MOTIFS[own]) & set(MOTIFS[other])
    scores = torch.cat([one.edge_scores for one in shown])
    kinds = torch.cat([one.graph.edge_motif_id for one in shown])
    lost, gained = _deleted(fitted, shown, telling, own, other)
    found = [one.counterfactual for one in shown if one.counterfactual is not None and one.counterfactual.flipped]
    sizes = [len(case.columns) / 2 for case in found]
    return Pair(
        data.class_names[own],
        data.class_names[other],
        len(shown),
        auc(scores, kinds == telling),
        auc(scores, kinds == shared),
        lost,
        gained,
        len(found) / len(shown),
        sum(sizes) / len(sizes) if sizes else float("nan"),
    )


@torch.no_grad()
def _deleted(
    fitted: FittedRCExplainer, shown: list[Explanation], kind: int, own: int, other: int
) -> tuple[float, float]:
    """Mean change of both classes' probabilities when the motif of this kind is really deleted."""
    left = [delete_edges(one.graph, one.graph.edge_motif_id == kind) for one in shown]
    after: Tensor = fitted.split.log_probs(fitted.split.run(left).output).exp()
    before = torch.stack([one.probabilities for one in shown])
    change = (after - before).mean(0)
    return float(-change[own]), float(change[other])
