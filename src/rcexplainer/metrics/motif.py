"""Comparison with a known motif. Higher is better.

    AUC        P(score of a motif edge > score of another edge), ties count ½, pooled over the edges of all instances
    live AUC   the same over live edges alone, those that belong to a unit: over the others, such as the edges at the
               rim of a node's computation graph, no message reaches the explained node; every method scores them 0
    node AUC   the mean over instances of the AUC among an instance's own live edges: levels need not be comparable
    accuracy   follow the edges by score until as many nodes are met as the motif has; the share of them in the motif,
               averaged over instances

Each is of one of the two readings of an edge: its score (does losing it change the answer?) or its relevance (does it
matter at all, either way?).

For nodes and links there are two definitions of the ground truth: "own", the motif they are part of (the paper), and
"every" motif in their computation graph (a well-known replication). For graphs it is their marked edges.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, get_args

import torch
from torch import Tensor

from rcexplainer.arguments import clear_arguments
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import EdgeReading, Explanation
from rcexplainer.metrics.explained_model import check_explanations

Truth = Literal["own", "every"]


@dataclass(frozen=True)
class MotifRecovery:
    """How well one reading of the edges finds the motif; nan where nothing can be compared."""

    live_auc: float  # ↑ over live edges, pooled
    auc: float  # ↑ over all edges of the computation graphs, pooled
    node_auc: float  # ↑ over live edges, the mean of the instances' own
    accuracy: float  # ↑


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


@clear_arguments()
def motif_auc(
    explanations: Sequence[Explanation],
    truth: Truth = "own",
    *,
    reading: EdgeReading = "scores",
    live: bool = False,
    pooled: bool = True,
) -> float:
    """AUC of the edge scores against the motif.

    Args:
        explanations: Explanations of graphs that carry their motif.
        truth: "own" or "every".
        reading: "scores" or "relevance".
        live: Only over edges that can matter for the prediction.
        pooled: Over the edges of all instances together; False: the mean of the instances' own AUCs, of those that have
            edges inside the motif and outside.

    Returns:
        The AUC; nan if there is nothing to compare.

    Raises:
        RCExplainerError: The graphs carry no motif, `truth` is unknown, or the method has no such reading.
    """
    check_truth(explanations, truth)
    if not pooled:
        known = [own for own in motif_aucs(explanations, truth, reading=reading, live=live) if own == own]
        return fmean(known) if known else float("nan")
    if not explanations:
        return float("nan")
    pairs = [_compared(one, truth, reading, live) for one in explanations]
    return auc(torch.cat([values for values, _ in pairs]), torch.cat([positive for _, positive in pairs]))


def motif_aucs(
    explanations: Sequence[Explanation], truth: Truth = "own", *, reading: EdgeReading = "scores", live: bool = True
) -> list[float]:
    """The AUC of every instance among its own edges; arguments as for `motif_auc`.

    Returns:
        One for each explanation; nan where all edges are in the motif, or none.
    """
    check_truth(explanations, truth)
    return [auc(*_compared(one, truth, reading, live)) for one in explanations]


@clear_arguments()
def motif_accuracy(
    explanations: Sequence[Explanation], truth: Truth = "own", *, reading: EdgeReading = "scores"
) -> float:
    """Mean share of the top nodes that are in the motif; instances without a motif are skipped.

    Args:
        explanations: Explanations of graphs that carry their motif.
        truth: "own" or "every".
        reading: "scores" or "relevance".

    Returns:
        The mean; nan if no instance has a motif.

    Raises:
        RCExplainerError: The graphs carry no motif, `truth` is unknown, or the method has no such reading.
    """
    found = [own for own in motif_accuracies(explanations, truth, reading=reading) if own == own]
    return sum(found) / len(found) if found else float("nan")


def motif_accuracies(
    explanations: Sequence[Explanation], truth: Truth = "own", *, reading: EdgeReading = "scores"
) -> list[float]:
    """The share of every instance's top nodes that are in the motif; arguments as for `motif_accuracy`.

    Returns:
        One for each explanation; nan for an instance without a motif.
    """
    check_truth(explanations, truth)
    return [_share(one, truth, reading) for one in explanations]


@clear_arguments()
def motif_recovery(explanations: Sequence[Explanation], reading: EdgeReading = "scores") -> MotifRecovery:
    """All four numbers of one reading, against the own motif.

    Args:
        explanations: Explanations of graphs that carry their motif.
        reading: "scores" or "relevance".

    Raises:
        RCExplainerError: The graphs carry no motif, or the method has no such reading.
    """
    return MotifRecovery(
        live_auc=motif_auc(explanations, reading=reading, live=True),
        auc=motif_auc(explanations, reading=reading),
        node_auc=motif_auc(explanations, reading=reading, live=True, pooled=False),
        accuracy=motif_accuracy(explanations, reading=reading),
    )


def live_edges(one: Explanation) -> Tensor:
    """Which columns of the instance's `edge_index` can matter for its prediction: those of a unit; boolean."""
    return one.within(one.units.of_edge) >= 0


def _compared(one: Explanation, truth: Truth, reading: EdgeReading, live: bool) -> tuple[Tensor, Tensor]:
    """One reading of an instance's edges, and which of them are in the motif."""
    values, positive = one.reading(reading), motif_edges(one, truth)
    kept = live_edges(one) if live else torch.ones_like(positive)
    return values[kept], positive[kept]


def _share(one: Explanation, truth: Truth, reading: EdgeReading) -> float:
    edges = one.instance.edge_index
    inside = set(edges[:, motif_edges(one, truth)].flatten().tolist())
    size = len(
        set(edges[:, motif_edges(one)].flatten().tolist())
    )  # as many nodes as one motif has, for both definitions
    if not size:
        return float("nan")
    met: dict[int, None] = {}
    for column in one.reading(reading).argsort(descending=True, stable=True).tolist():
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


def check_truth(explanations: Sequence[Explanation], truth: str) -> None:
    """Refuse graphs without ground truth, and a definition of it that is none."""
    if truth not in get_args(Truth):
        raise RCExplainerError(f"truth must be one of {', '.join(get_args(Truth))}, got {truth!r}")
    check_explanations(explanations)
    needed = ("edge_motif",) if truth == "every" else ("edge_motif", "edge_motif_id", "node_motif_id")
    for one in explanations:
        for name in needed[: 1 if one.index is None else None]:
            if name not in one.graph:
                raise RCExplainerError(f"ground truth needs graphs that carry `{name}`: at least one does not")
