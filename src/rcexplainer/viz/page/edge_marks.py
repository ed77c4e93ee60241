"""What a drawing marks at edges besides their scores: the motif, and edges that go one way only."""

import torch
from torch import Tensor

from rcexplainer.explanation import Explanation


def unit_directions(one: Explanation) -> Tensor:
    """Find the units whose edges go one way only.

    Args:
        one: The explanation.

    Returns:
        [units] 1 if all edges go from the first node of the pair to the second, −1 if all go back, 0 if both exist.
    """
    units = one.units.of_edge
    onward = one.graph.edge_index[0] < one.graph.edge_index[1]
    return _any_edge(one, onward & (units >= 0)).long() - _any_edge(one, ~onward & (units >= 0)).long()


def motif_units(one: Explanation) -> Tensor:
    """Find the units of the motif.

    Args:
        one: The explanation; `graph.edge_motif` [num_edges] is bool, or the kind of motif with −1 outside.

    Returns:
        [units] bool; nothing is marked if the graph carries no motif.
    """
    motif = one.graph.get("edge_motif")
    if not isinstance(motif, Tensor) or motif.shape != (one.graph.num_edges,):
        return torch.zeros(len(one.units), dtype=torch.bool)
    inside = motif if motif.dtype == torch.bool else motif >= 0
    return _any_edge(one, inside.cpu() & (one.units.of_edge >= 0))


def _any_edge(one: Explanation, flags: Tensor) -> Tensor:
    """[units] whether one of a unit's edges is flagged, by [num_edges] flags of edges that belong to a unit."""
    found = torch.zeros(len(one.units), dtype=torch.bool)
    found[one.units.of_edge[flags]] = True
    return found
