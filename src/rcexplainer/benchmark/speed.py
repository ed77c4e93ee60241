"""Speed on this machine, for `rcexplainer bench`: figures to read, never a condition of a test."""

import copy
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import accumulate, pairwise
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data

from rcexplainer.benchmark.results import Rows
from rcexplainer.config import PRESETS, RCConfig
from rcexplainer.core.calibration import Calibration
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import sample_boundaries
from rcexplainer.datasets import load
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.network import make_net, unit_logits
from rcexplainer.fit.objective import make_objective
from rcexplainer.fit.step import TrainingSet
from rcexplainer.fit.teacher import DEPTH, Lessons
from rcexplainer.gnn import gnn_config, split_model, train_gnn
from rcexplainer.gnn.instances import node_inputs
from rcexplainer.gnn.seed import seeded
from rcexplainer.gnn.trainer import TrainConfig
from rcexplainer.tasks.neighbourhoods import Adjacency

WARM_UP = 5  # runs that are not counted


def import_cost(repeats: int) -> Rows:
    """Seconds to import torch, then torch_geometric, then rcexplainer, each on top of the previous one."""
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

    The wider the Gaussians, the more they overlap, and the more regions are needed to cover all instances.
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


def nodes_cost(
    repeats: int, nodes: int = 200_000, edges: int = 1_000_000, roots: int = 10_000, most: int = 1 << 18
) -> Rows:
    """Computation graphs of ten thousand nodes of a random graph with a million edges, in pieces of `most` edges."""
    generator = torch.Generator().manual_seed(0)
    half = torch.randint(nodes, (2, edges // 2), generator=generator)
    edge_index = torch.cat([half, half.flip(0)], 1)
    chosen = torch.randperm(nodes, generator=generator)[:roots, None]
    rows: Rows = []
    for hops in (1, 2, 3):
        seconds: list[float] = []
        for _ in range(repeats):
            start = time.perf_counter()
            sizes = [len(found.edges) for _, found in Adjacency(edge_index, nodes).batches(chosen, hops, most)]
            seconds.append(time.perf_counter() - start)
        rows.append(
            {
                "nodes explained": roots,
                "hops": hops,
                "edges of the graph": edges,
                "edges of all computation graphs": sum(sizes),
                "largest piece": max(sizes),
                "seconds": round(median(seconds), 2),
            }
        )
    return rows


def core_cost(repeats: int, graphs: int = 256, mini_batch: int = 128) -> Rows:
    """The cost of the mask network beside that of the GNN it explains, on the same molecules, in the same run.

    Scores: everything for a given batch (inputs, network, softmax, calibration) beside one forward pass of the GNN.
    Training: one step, including the selection of the mini-batch, beside one training step of the GNN.
    Memory: peak memory of tensors while a batch is scored.
    """
    data = load("nitro", num_graphs=graphs)
    shape = gnn_config("paper", data.num_features, data.num_classes)
    model = train_gnn(shape, data.graphs, data.split, settings=TrainConfig(epochs=5), progress=False).model
    split = split_model(model, data.graphs)
    with split.scope:
        known = InstanceSet.of(split, data.graphs)
        # The larger batches first: until it has seen large tensors, the C library gives memory back after each.
        memory = [_scores_memory(known, times) for times in (1, 4, 16)]
        scores = _scores_cost(known, 20 * repeats)
        steps = [_step_cost(known, copy.deepcopy(model), preset, mini_batch, 20 * repeats) for preset in PRESETS]
    return [scores, *steps, *memory]


def _scores(known: InstanceSet, times: int = 1) -> tuple[Data, Callable[[], Tensor]]:
    """A batch of all graphs, each repeated `times` times, and a function that scores it."""
    config, split = RCConfig(), known.instances.split
    batch, units = known.instances[known.instances.everything.repeat(times)]
    label = known.label.repeat(times)
    with seeded(0):
        net = make_net(node_inputs(split.run(batch), batch, config.inputs), known.embedding, split.num_classes, config)
    calibration = Calibration(torch.zeros(split.num_classes), torch.ones(()))

    @torch.no_grad()
    def scores() -> Tensor:
        logits = unit_logits(net, split.run(batch), batch, units, label, config)
        return calibration(logits, label[units.owner])

    return batch, scores


def _scores_cost(known: InstanceSet, repeats: int) -> dict[str, Any]:
    batch, scores = _scores(known)
    forward = torch.no_grad()(lambda: known.instances.split.run(batch))
    return {"what": "scores", "graphs": len(known), "edges": batch.num_edges, **_beside(scores, forward, repeats)}


def _step_cost(known: InstanceSet, model: nn.Module, preset: str, size: int, repeats: int) -> dict[str, Any]:
    """A training step of the mask network beside one of the GNN: a copy of the model, as its weights change."""
    config, instances, split = PRESETS[preset], known.instances, known.instances.split
    ids = instances.everything[:size]
    boundaries = sample_boundaries(
        lambda x: split.log_probs(split.head(x)),
        known.embedding,
        known.label,
        per_class=config.candidates_per_class,
        generator=torch.Generator().manual_seed(0),
    )
    regions = Regions.fit(boundaries, known.embedding, known.label, epsilon=config.epsilon, scaled=config.scaled)
    effect = torch.rand(len(instances.units), generator=torch.Generator().manual_seed(0))
    # The cost does not depend on the deletion order that is taught: here it is the order in the graph.
    place = torch.arange(int((instances.units.counts * DEPTH).ceil().max()))
    order = torch.where(place < (instances.units.counts * DEPTH).ceil()[:, None], place, -1)
    pupil = TrainingSet.of(known, Lessons(order, effect), regions, config)
    batch, _ = instances[ids]
    with seeded(0):
        net = make_net(node_inputs(split.run(batch), batch, config.inputs), known.embedding, split.num_classes, config)
    objective, generator = make_objective(config), torch.Generator().manual_seed(0)
    model.requires_grad_().train()
    optimizers = [torch.optim.Adam(module.parameters(), lr=0.0) for module in (net, model)]

    def update(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def step() -> None:
        terms = objective(pupil.step(net, ids, 0.5, generator, pupil.reading))
        update(optimizers[0], torch.stack(list(terms.values())).sum())

    def gnn_step() -> None:
        batch = instances.store[ids]
        update(optimizers[1], cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y))

    cost = _beside(step, gnn_step, repeats)
    return {"what": f"training, {preset}", "graphs": len(ids), "edges": batch.num_edges, **cost}


def _scores_memory(known: InstanceSet, times: int) -> dict[str, Any]:
    batch, scores = _scores(known, times)
    per_edge = round(_peak_bytes(scores) / batch.num_edges)
    return {
        "what": "scores, memory",
        "graphs": times * len(known),
        "edges": batch.num_edges,
        "peak bytes an edge": per_edge,
    }


def _peak_bytes(run: Callable[[], object]) -> int:
    """Peak bytes of tensors allocated during a run."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or the profiler logs every start and stop
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    events = [event for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    return max(accumulate(event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())))


def _beside(run: Callable[[], object], gnn: Callable[[], object], repeats: int) -> dict[str, float]:
    """Median milliseconds of both, taken in turns so that other load on the machine affects both alike."""
    times: dict[str, list[float]] = {"ms": [], "GNN ms": []}
    for _ in range(repeats + WARM_UP):
        for seconds, function in zip(times.values(), (run, gnn), strict=True):
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
    own, other = (1000 * median(seconds[WARM_UP:]) for seconds in times.values())
    return {"ms": round(own, 2), "GNN ms": round(other, 2), "÷ GNN": round(own / other, 2)}


BENCHMARKS: dict[str, Callable[[int], Rows]] = {
    "import": import_cost,
    "core": core_cost,
    "regions": regions_cost,
    "nodes": nodes_cost,
}
