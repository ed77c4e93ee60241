"""Benchmarks: commands that print figures, never timed tests."""

import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any

import torch
from torch import nn

from rcexplainer.core.mask_net import EdgeMaskNet, FactorisedGate
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.core.teacher import log_softmax
from rcexplainer.datasets import load
from rcexplainer.gnn import GNN, gnn_config, split_model
from rcexplainer.gnn.instances import Instances, node_inputs
from rcexplainer.gnn.training import seeded

Rows = list[dict[str, Any]]


def import_cost(repeats: int) -> Rows:
    """Seconds to import torch, then torch_geometric, then rcexplainer, each on top of the one before."""
    code = """
import time
marks = [time.perf_counter()]
import torch; marks.append(time.perf_counter())
import torch_geometric; marks.append(time.perf_counter())
import rcexplainer; marks.append(time.perf_counter())
rcexplainer.datasets, rcexplainer.gnn; marks.append(time.perf_counter())
print(*marks)
"""
    runs: list[list[float]] = []
    for _ in range(repeats):
        out = subprocess.check_output([sys.executable, "-W", "ignore", "-c", code])
        marks = [float(mark) for mark in out.split()]
        runs.append([late - early for early, late in pairwise(marks)])
    names = ("torch", "torch_geometric", "rcexplainer", "its parts, when first used")
    columns = zip(*runs, strict=True)
    return [
        {"import": name, "seconds more": round(median(column), 4)} for name, column in zip(names, columns, strict=True)
    ]


def regions_cost(repeats: int) -> Rows:
    """Decision regions of a million embeddings: a mixture of ten Gaussians in 32 dimensions, a random ReLU head.

    The wider the Gaussians, the more they overlap and the more regions are needed to cover every instance.
    """
    return [_regions_cost(noise, repeats) for noise in (0.5, 1.0)]


def _regions_cost(
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


def core_cost(repeats: int, graphs: int = 256) -> Rows:
    """The scores of a batch of molecules beside one forward pass of the GNN over it, in the same run."""
    data = load("nitro", num_graphs=graphs)
    with seeded(0):
        model = GNN(gnn_config("paper", data.num_features, data.num_classes)).eval()
        split = split_model(model, data.graphs)
        instances = Instances(split, data.graphs)
        batch, units = instances[instances.everything]
        done = split.run(batch)
        nodes = node_inputs(done, batch, "all")
        gate = FactorisedGate(nodes.size(1), split.embedding_dim, data.num_classes)
        net = EdgeMaskNet(gate, nodes.size(1), split.embedding_dim)
    label = torch.zeros(graphs, dtype=torch.long)

    def forward() -> None:
        split.run(batch)

    def scores() -> None:
        done = split.run(batch)
        logits = net(node_inputs(done, batch, "all"), done.embedding, label, units.pair, units.owner)
        log_softmax(logits, units.owner, graphs)

    with split.scope, torch.no_grad():
        seconds = {name: _median_seconds(run, 20 * repeats) for name, run in (("forward", forward), ("scores", scores))}
    ratio = round(seconds["scores"] / seconds["forward"], 2)
    milliseconds = {f"{name} ms": round(1000 * value, 2) for name, value in seconds.items()}
    return [{"graphs": graphs, "edges": batch.num_edges, **milliseconds, "scores ÷ forward": ratio}]


def _median_seconds(run: Callable[[], None], repeats: int) -> float:
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return median(times)


BENCHMARKS: dict[str, Callable[[int], Rows]] = {"import": import_cost, "core": core_cost, "regions": regions_cost}
