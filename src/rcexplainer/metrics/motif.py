"""Ground truth: is the known motif what gets the scores? Higher is better.

AUC = P(score of a motif edge > score of another edge), ties count ½, pooled over the edges of all graphs
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation


def auc(scores: Tensor, positive: Tensor) -> float:
    """Area under the ROC curve, by ranks (Mann–Whitney); nan where there is only one kind."""
    count = int(positive.sum())
    others = len(positive) - count
    if not count or not others:
        return float("nan")
    _, inverse, sizes = torch.unique(scores, return_inverse=True, return_counts=True)
    rank = (sizes.cumsum(0) - sizes).double() + (sizes + 1) / 2  # tied scores share their middle rank
    return float((rank[inverse][positive].sum() - count * (count + 1) / 2) / (count * others))


def motif_auc(explanations: Sequence[Explanation]) -> float:
    """AUC of the edge scores against `edge_motif`, pooled over all graphs."""
    if any("edge_motif" not in one.graph for one in explanations):
        raise RCExplainerError("motif_auc needs graphs that carry `edge_motif`: at least one does not")
    scores = torch.cat([one.edge_scores for one in explanations])
    return auc(scores, torch.cat([one.graph.edge_motif for one in explanations]))
