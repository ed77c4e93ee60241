"""Connected explanations for any method of nodes or links: `connected=True` in its constructor.

An edge of a node's explanation that no other edge of it connects to the node cannot be how the node is reached. Both
readings of every unit are lowered to the best path that leads from it to the explained node (`core.connectivity`);
values stay in [0, 1]. RCExplainer does the same to its logits, before they are calibrated.
"""

import torch
from torch import Tensor

from rcexplainer.core.connectivity import connected
from rcexplainer.gnn.instances import Instances, Observation
from rcexplainer.method.unit_readings import UnitReadings, as_readings


def connected_readings(found: Tensor | UnitReadings, instances: Instances) -> UnitReadings:
    """Readings under which units that are not connected to the explained node rank below the path that would do so.

    Args:
        found: What a scoring function returned for all units of the instances.
        instances: The instances of a node or link task.
    """
    readings = as_readings(found)
    relevance = readings.relevance
    return UnitReadings(
        connected_values(readings.scores, instances),
        None if relevance is None else connected_values(relevance, instances),
    )


def connected_values(values: Tensor, instances: Instances) -> Tensor:
    """One reading [units] in [0, 1], connected."""
    pieces = instances.observed()
    parts = values.split([len(piece.units) for piece in pieces])
    return torch.cat([_piece(part, piece) for part, piece in zip(parts, pieces, strict=True)])


def _piece(values: Tensor, seen: Observation) -> Tensor:
    batch = seen.batch
    roots = batch.get("root_index", batch.get("edge_label_index"))
    rounds = batch.hop_code.size(1) - 1  # at least as many as messages are passed
    return connected(values, seen.units.pair, roots.flatten(), int(batch.num_nodes or 0), rounds).clamp(0, 1)
