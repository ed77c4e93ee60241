"""Random numbers that depend on a graph and a seed alone: the same in any batch, without touching the global state."""

import numpy as np
import torch

from rcexplainer.core.units import Units


def generators(units: Units, seed: int) -> list[np.random.Generator]:
    """A random generator for each instance.

    Args:
        units: The units of a batch; the generator of an instance depends on its own edges.
        seed: Random seed.
    """
    keys = torch.zeros_like(units.counts)
    if len(units):
        first = units.pair[:, units.ptr[:-1].clamp_max(len(units) - 1)].amin(0)  # node numbers relative to the instance
        place = (units.pair - first[units.owner]) * torch.tensor([[7919], [1]], device=units.owner.device)
        keys = keys.index_add(0, units.owner, place.sum(0))
    return [
        np.random.default_rng([seed, count, key])
        for count, key in zip(units.counts.tolist(), keys.tolist(), strict=True)
    ]
