"""Which way the edges of known motifs push predictions: measured where graphs carry their motif, and said in words."""

from collections.abc import Sequence
from dataclasses import fields

import torch
from torch import Tensor

from rcexplainer.benchmark.results import mean
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import SplitModel
from rcexplainer.metrics import MotifDirection, motif_direction

MOTIF_NUMBERS = ("edge_motif_id", "node_motif_id")  # which motif is a node's or a link's own


def known_direction(split: SplitModel, ones: Sequence[Explanation]) -> MotifDirection | None:
    """The shares of the motifs' edges that support and oppose the prediction.

    Args:
        split: The model that was explained.
        ones: Its explanations; those of graphs that do not carry their motif are left out.

    Returns:
        The shares; None where no graph carries its motif.
    """
    known = [one for one in ones if carries_motif(one)]
    return motif_direction(split, known) if known else None


def carries_motif(one: Explanation) -> bool:
    """Whether the motif of an instance is known: its graph says so of each edge, as truth or falsehood."""
    motif = one.graph.get("edge_motif")
    return (
        isinstance(motif, Tensor)
        and motif.dtype == torch.bool  # a user's own graphs may hold anything by this name
        and motif.shape == (one.graph.num_edges,)
        and (one.index is None or all(name in one.graph for name in MOTIF_NUMBERS))
    )


def mean_direction(ones: Sequence[MotifDirection]) -> MotifDirection:
    """The means of the shares; nan where there is none."""
    return MotifDirection(*(mean([getattr(one, field.name) for one in ones]) for field in fields(MotifDirection)))


def direction_text(one: MotifDirection) -> str:
    """The shares as part of a caption."""
    return (
        f"deleted alone, {one.supports:.2f} of the motif's edges support the prediction, {one.opposes:.2f} oppose it, "
        f"{one.neither:.2f} do neither"
    )
