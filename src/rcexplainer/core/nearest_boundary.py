"""Regions of a single boundary: every instance has its own nearest one, shared with whoever is nearest to it too.

    i(x) = argmin_i |B_i(x)| / ‖w_i‖ over the boundaries between the predicted class and another,   s = sign B_i(x)

The opposite of the greedy cover: nothing is chosen for many instances at once. It is there to be compared with.
"""

import torch
from torch import Tensor

from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.regions import DecisionRegion, Regions


def nearest_regions(
    boundaries: LinearBoundaries, embeddings: Tensor, predictions: Tensor, *, scaled: bool = True
) -> Regions:
    """The regions x ↦ {s B_i > 0} of all instances.

    Args:
        boundaries: The candidates H̃ of all classes.
        embeddings: [n, d].
        predictions: [n] the predicted classes.
        scaled: Whether margins are divided by half the median |B_i| of the members.

    Returns:
        A region for each boundary, class and side that is some instance's nearest.
    """
    row, side = _nearest(boundaries, embeddings, predictions)
    keys, of_key = torch.unique(torch.stack([predictions, row, side.long()]), dim=1, return_inverse=True)
    distance = boundaries(embeddings).gather(1, row[:, None]).abs().squeeze(1)
    regions: list[DecisionRegion] = []
    scales: list[Tensor] = []
    for place, (label, which, inside) in enumerate(keys.T.tolist()):
        members = of_key == place
        sign = embeddings.new_tensor([1.0 if inside else -1.0])
        within = (boundaries.select(row.new_tensor([which]))(embeddings).squeeze(1) > 0) == bool(inside)
        intruders = int((within & (predictions != label)).sum())
        regions.append(DecisionRegion(label, row.new_tensor([which]), sign, int(members.sum()), intruders))
        scales.append(distance[members].median()[None] / 2 if scaled else torch.ones_like(sign))
    scale = torch.stack(scales).clamp_min(torch.finfo(embeddings.dtype).eps)
    return Regions(boundaries, tuple(regions), scale)


@torch.no_grad()
def assign_nearest(regions: Regions, embeddings: Tensor, predictions: Tensor) -> Tensor:
    """Assign instances to the region of their nearest boundary.

    Args:
        regions: Made by `nearest_regions`, perhaps from other instances.
        embeddings: [n, d].
        predictions: [n].

    Returns:
        [n] regions: of the predicted class, the one whose boundary is nearest and on whose side the instance is, or
        else merely nearest; −1 where the class has no region.
    """
    rows, signs = regions.rows[:, 0], regions.signs[:, 0]
    values = regions.boundaries(embeddings)[:, rows] * signs
    distance = values.abs() / regions.boundaries.weight.norm(dim=1)[rows]
    foreign = regions.labels != predictions[:, None]
    # On the wrong side it would have left already: only where no region of the class holds it.
    far = distance.amax() + 1
    best = (distance + far * (values <= 0)).masked_fill(foreign, torch.inf).min(1)
    return torch.where(best.values.isinf(), -1, best.indices)


@torch.no_grad()
def _nearest(boundaries: LinearBoundaries, embeddings: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
    """[n] the nearest boundary between the predicted class and another, and whether B > 0 there."""
    values = boundaries(embeddings)
    own = (boundaries.classes[None] == predictions[:, None, None]).any(2)
    row = (values.abs() / boundaries.weight.norm(dim=1)).masked_fill(~own, torch.inf).argmin(1)
    return row, values.gather(1, row[:, None]).squeeze(1) > 0
