"""Comparison with a known motif. Higher is better.

    AUC        P(score of a motif edge > score of another edge), ties count ½, pooled over the edges of all instances
    accuracy   follow the edges by score until as many nodes are met as the motif has; the share of them in the motif,
               averaged over instances

For nodes and links there are two definitions of the ground truth: "own", the motif they are part of (the paper), and
"every" motif in their computation graph (a well-known replication). For graphs it is their marked edges.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation

Truth = Literal["own", "every"]


def auc(scores: Tensor, positive: Tensor) -> float:
    """Area under the ROC curve, by ranks (Mann–Whitney).

    Args:
        scores: [n].
        positive: [n], boolean.

    Returns:
        The AUC; nan if all are positive or none is.
    """
    count = int(positive.sum())
    others = len(positive) - count
    if not count or not others:
        return float("nan")
    _, inverse, sizes = torch.unique(scores, return_inverse=True, return_counts=True)
    rank = (sizes.cumsum(0) - sizes).double() + (sizes + 1) / 2  # tied scores share their middle rank
    return float((rank[inverse][positive].sum() - count * (count + 1) / 2) / (count * others))


def motif_auc(explanations: Sequence[Explanation], truth: Truth = "own") -> float:
    """AUC of the edge scores against the motif, pooled over all instances.

    Args:
        explanations: Explanations of graphs that carry their motif.
        truth: "own" or "every".

    Returns:
        The AUC; nan without explanations.

    Raises:
        RCExplainerError: The graphs carry no motif, or `truth` is unknown.
    """
    _check(explanations, truth)
    if not explanations:
        return float("nan")
    positive = torch.cat([motif_edges(one, truth) for one in explanations])
    return auc(torch.cat([one.scores for one in explanations]), positive)


def motif_accuracy(explanations: Sequence[Explanation], truth: Truth = "own") -> float:
    """Mean share of the top nodes that are in the motif; instances without a motif are skipped.

    Args:
        explanations: Explanations of graphs that carry their motif.
        truth: "own" or "every".

    Returns:
        The mean; nan if no instance has a motif.

    Raises:
        RCExplainerError: The graphs carry no motif, or `truth` is unknown.
    """
    _check(explanations, truth)
    shares = [_share(one, truth) for one in explanations]
    found = [share for share in shares if share is not None]
    return sum(found) / len(found) if found else float("nan")


def _share(one: Explanation, truth: Truth) -> float | None:
    edges = one.instance.edge_index
    inside = set(edges[:, motif_edges(one, truth)].flatten().tolist())
    size = len(
        set(edges[:, motif_edges(one)].flatten().tolist())
    )  # as many nodes as one motif has, for both definitions
    if not size:
        return None
    met: dict[int, None] = {}
    for column in one.scores.argsort(descending=True, stable=True).tolist():
        met.update(dict.fromkeys(edges[:, column].tolist()))
        if len(met) >= size:
            break
    return sum(node in inside for node in list(met)[:size]) / size


def motif_edges(one: Explanation, truth: Truth = "own") -> Tensor:
    """Which columns of the instance's `edge_index` belong to the motif, boolean."""
    graph = one.graph
    if one.index is None or truth == "every":
        return one.within(graph.edge_motif)
    own = int(graph.node_motif_id[one.index if isinstance(one.index, int) else one.index[0]])
    return one.within(graph.edge_motif & (graph.edge_motif_id == own))


def _check(explanations: Sequence[Explanation], truth: str) -> None:
    if truth not in get_args(Truth):
        raise RCExplainerError(f"truth must be one of {', '.join(get_args(Truth))}, got {truth!r}")
    needed = ("edge_motif",) if truth == "every" else ("edge_motif", "edge_motif_id", "node_motif_id")
    for one in explanations:
        for name in needed[: 1 if one.index is None else None]:
            if name not in one.graph:
                raise RCExplainerError(f"ground truth needs graphs that carry `{name}`: at least one does not")
