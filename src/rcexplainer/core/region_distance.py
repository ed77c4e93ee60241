"""How far a counterfactual lies beyond the boundary of the region that the instance was in.

    distance(x') = − min over i ∈ P of s_i B_i(x') / scale_i,        r(P, c) the region of the instance x

The deepest of the boundaries that were crossed counts: outside the region the distance is positive, inside it is the
negative margin. Where regions are scaled, scale_i is half the median |B_i| of the members, so that a distance of 2 is
as far out as a typical member is in.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from rcexplainer.core.regions import Regions

# (embeddings [n, d] of instances as they are, their predictions [n], embeddings [n, d] without some units) → [n]
Distances = Callable[[Tensor, Tensor, Tensor], Tensor]


@torch.no_grad()
def region_distances(
    regions: Regions, assign: Callable[[Regions, Tensor, Tensor], Tensor], before: Tensor, label: Tensor, after: Tensor
) -> Tensor:
    """Measure how far changed instances lie beyond their regions.

    Args:
        regions: The regions.
        assign: How instances find their region, from regions, embeddings and predictions.
        before: [n, d] the embeddings of the instances as they are.
        label: [n] the classes predicted for them.
        after: [n, d] their embeddings after the change.

    Returns:
        [n], positive outside; NaN where the class has no region, or an embedding is not finite.
    """
    before, after, label = before.to(regions.scale), after.to(regions.scale), label.to(regions.scale.device)
    finite = before.isfinite().all(1) & after.isfinite().all(1)
    found = torch.full_like(before[:, 0], torch.nan)
    region = assign(regions, before[finite], label[finite])
    distance = -regions.margins(after[finite], region).amin(1)
    found[finite] = distance.masked_fill(distance.isinf(), torch.nan)
    return found
