"""The lines of a drawing: every unordered pair of nodes once, with the properties of all edges between them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.errors import RCExplainerError


@dataclass(frozen=True, eq=False)
class Pairs:
    """Unordered pairs of different nodes.

    Attributes:
        ends: [2, pairs] their nodes, the smaller number first.
        scores: [pairs] the highest score of the edges between them; None without scores.
        removed: [pairs] bool; whether one of these edges is removed.
        kind: [pairs] the kind of motif, −1 outside.
        direction: [pairs] 1 if all edges go from the first node to the second, −1 if all go back, 0 if both exist.
        loops: The nodes with a self-loop.
    """

    ends: Tensor
    scores: Tensor | None
    removed: Tensor
    kind: Tensor
    direction: Tensor
    loops: Tensor


def find_pairs(
    edge_index: Tensor, scores: Tensor | None = None, removed: Tensor | None = None, motif: Tensor | None = None
) -> Pairs:
    """Collect the edges between each two nodes.

    Args:
        edge_index: [2, num_edges].
        scores: [num_edges] in [0, 1].
        removed: [num_edges] bool.
        motif: [num_edges] bool, or the kind of motif with −1 outside.

    Returns:
        The pairs.

    Raises:
        RCExplainerError: If an argument does not have one value per edge.
    """
    columns = edge_index.size(1)
    for name, values in (("edge_scores", scores), ("removed", removed), ("motif", motif)):
        if values is not None and (not isinstance(values, Tensor) or values.is_complex() or values.is_meta):
            found = values.dtype if isinstance(values, Tensor) else type(values).__name__
            raise RCExplainerError(f"{name} must be a tensor with a number for each of {columns} edges, got {found}")
        if values is not None and values.shape != (columns,):
            raise RCExplainerError(f"{name} must have one value for each of {columns} edges, got {tuple(values.shape)}")
    proper = edge_index[0] != edge_index[1]
    ends, line = edge_index[:, proper].sort(0).values.unique(dim=1, return_inverse=True)

    def highest(values: Tensor, least: float) -> Tensor:
        found = torch.full((ends.size(1),), least)
        return found.scatter_reduce(0, line, values[proper].float(), "amax")

    kind = torch.full((columns,), -1) if motif is None else motif.long() - (1 if motif.dtype == torch.bool else 0)
    gone = torch.zeros(columns) if removed is None else removed
    onward = edge_index[0] < edge_index[1]
    return Pairs(
        ends,
        None if scores is None else highest(scores.detach(), 0.0),
        highest(gone, 0.0) > 0,
        highest(kind, -1.0).long(),
        highest(onward, 0.0).long() - highest(~onward, 0.0).long(),
        edge_index[0, ~proper].unique(),
    )
