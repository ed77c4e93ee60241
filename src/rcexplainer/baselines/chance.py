"""Chance that follows from a graph and a seed: the same draws for the same graph, alone and in any batch."""

import numpy as np
import torch

from rcexplainer.core.units import Units


def generators(units: Units, seed: int) -> list[np.random.Generator]:
    """A random generator for each instance, from its edges and the seed."""
    keys = torch.zeros_like(units.counts)
    if len(units):
        first = units.pair[:, units.ptr[:-1].clamp_max(len(units) - 1)].amin(0)  # pairs are counted from there
        place = (units.pair - first[units.owner]) * torch.tensor([[7919], [1]], device=units.owner.device)
        keys = keys.index_add(0, units.owner, place.sum(0))
    return [
        np.random.default_rng([seed, count, key])
        for count, key in zip(units.counts.tolist(), keys.tolist(), strict=True)
    ]
