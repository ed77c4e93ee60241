"""Decision regions of many embeddings."""

import time
from statistics import median
from typing import Any

import torch
from torch import nn

from rcexplainer.benchmark.speed.options import BenchOptions, Rows
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.gnn.seed import seeded


def region_cost(options: BenchOptions) -> Rows:
    """Decision regions of a million embeddings: a mixture of ten Gaussians in 32 dimensions, a random ReLU head.

    The wider the Gaussians, the more they overlap, and the more regions are needed to cover all instances.
    """
    return [_region_cost(noise, options.repeats) for noise in (0.5, 1.0)]


def _region_cost(
    noise: float, repeats: int, instances: int = 1_000_000, dim: int = 32, classes: int = 10
) -> dict[str, Any]:
    import resource  # not on Windows

    generator = torch.Generator().manual_seed(0)
    centres = 4 * torch.randn(classes, dim, generator=generator)
    x = centres[torch.randint(classes, (instances,), generator=generator)]
    x += noise * torch.randn(instances, dim, generator=generator)
    with seeded(0):
        head = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, classes))
    with torch.no_grad():
        predictions = torch.cat([head(part).argmax(1) for part in x.split(1 << 16)])
    boundaries = sample_boundaries(head, x, predictions, per_class=200 // classes, generator=generator)
    seconds: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        regions = Regions.fit(boundaries, x, predictions)
        seconds.append(time.perf_counter() - start)
    return {
        "embeddings": instances,
        "spread": noise,
        "boundaries": len(boundaries),
        "regions": len(regions),
        "seconds": round(median(seconds), 1),
        "peak GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
    }
