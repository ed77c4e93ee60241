"""The mask network beside the GNN it explains."""

import copy
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data

from rcexplainer.benchmark.speed.options import BenchOptions, Rows
from rcexplainer.benchmark.speed.peak import peak_bytes
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
from rcexplainer.gnn.node_inputs import node_inputs
from rcexplainer.gnn.seed import seeded
from rcexplainer.gnn.trainer import TrainConfig

WARM_UP = 5  # runs that are not counted


def core_cost(options: BenchOptions, graphs: int = 256, mini_batch: int = 128) -> Rows:
    """The cost of the mask network beside that of the GNN it explains, on the same molecules, in the same run.

    Scores: everything for a given batch (inputs, network, softmax, calibration) beside one forward pass of the GNN.
    Training: one step, including the selection of the mini-batch, beside one training step of the GNN.
    Memory: peak memory of tensors while a batch is scored.
    """
    repeats = options.repeats
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
    region = regions.assign(known.embedding, known.label)
    pupil = TrainingSet(known, Lessons(order, effect), regions, region, config)
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
    per_edge = round(peak_bytes(scores) / batch.num_edges)
    return {
        "what": "scores, memory",
        "graphs": times * len(known),
        "edges": batch.num_edges,
        "peak bytes an edge": per_edge,
    }


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
