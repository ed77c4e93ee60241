"""What more graphs to learn from bring, and what they take: fits on generated molecules, in memory and streamed.

    4000 list, 40000 list       all molecules in a list
    40000 stream, 400000 stream made when they are read, and read once
    pool 400, 1000, 16000       of 40,000 streamed molecules these many are kept to train on (`teacher_limit`)

Each fit is a process of its own, one for each seed; `repeats` counts seeds. The network is trained on 3,000 other
molecules. Quality is measured on 500 held-out molecules that occur in no stream: the sum of fidelities at the headline
sparsities, relative to that of greedy deletion. `peak MB` is how far the process's anonymous memory grew while the
molecules were made and fitted on; `cpu s` is the CPU time of both, `forwards` the same in forward passes over 4,000
molecules. In the folder `keep` every fit that is done is kept, and not done again.
"""

import json
import multiprocessing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Batch, Data

from rcexplainer import datasets, gnn, metrics
from rcexplainer.baselines import GreedyDeletion
from rcexplainer.benchmark.results import HEADLINE_SPARSITIES
from rcexplainer.benchmark.speed.anonymous_memory import AnonymousPeak
from rcexplainer.benchmark.speed.kept import kept_network
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.config import RCConfig
from rcexplainer.core.objectives import Objective, Step, Terms
from rcexplainer.datasets.nitro_stream import NitroStream
from rcexplainer.explainer import RCExplainer
from rcexplainer.fit.objective import Restarts

FIRST_SEED, HELD_OUT_SEED, NETWORK_SEED = 10, 1, 2  # of molecules
NETWORK_MOLECULES, NETWORK_EPOCHS = 3000, 60
FORWARD_MOLECULES = 4000


@dataclass(frozen=True)
class StreamFit:
    """A fit to measure.

    Attributes:
        graphs: Number of molecules.
        listed: Whether they are a list in memory.
        pool: Number of them to train on, at most.
        held_out: Number of other molecules to explain.
    """

    graphs: int
    listed: bool = False
    pool: int = RCConfig.teacher_limit
    held_out: int = 500


FITS = {
    "4000 list": StreamFit(4000, listed=True),
    "40000 list": StreamFit(40_000, listed=True),
    "40000 stream": StreamFit(40_000),
    "400000 stream": StreamFit(400_000),
    "pool 400": StreamFit(40_000, pool=400),
    "pool 1000": StreamFit(40_000, pool=1000),
    "pool 16000": StreamFit(40_000, pool=16_000),
}


def stream_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """Ratio to greedy deletion, training steps, memory and time of each fit."""
    data = datasets.load("nitro", seed=NETWORK_SEED, num_graphs=NETWORK_MOLECULES)

    def train() -> gnn.GNN:
        config = gnn.gnn_config("paper", data.num_features, data.num_classes)
        settings = gnn.TrainConfig(epochs=NETWORK_EPOCHS)
        return gnn.train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model

    model = kept_network(options.keep, "nitro-stream", train)
    for name, one in FITS.items():
        if options.wanted(name):
            found = [_kept(options.keep, f"{name} {seed}", model, one, seed) for seed in range(options.repeats)]
            ratios = [own["ratio"] for own in found]
            yield {
                "row": name,
                "ratio": sum(ratios) / len(ratios),
                "lowest": min(ratios),
                "highest": max(ratios),
                **{key: max(own[key] for own in found) for key in ("steps", "peak MB", "cpu s", "forwards")},
                "fits": {str(seed): own for seed, own in enumerate(found)},
            }


def _kept(folder: Path | None, name: str, model: nn.Module, one: StreamFit, seed: int) -> dict[str, Any]:
    """The figures of a fit, from the folder if they are there."""
    path = None if folder is None else folder / f"stream {name}.json"
    if path is not None and path.exists():
        return dict(json.loads(path.read_text(encoding="utf-8")))
    found = alone(measured_fit, model, one, seed)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), encoding="utf-8")
    return found


def alone(run: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Run a function in a process of its own that starts empty."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return process.apply(run, arguments)


def measured_fit(model: nn.Module, one: StreamFit, seed: int) -> dict[str, Any]:
    """Fit in this process, and measure.

    Args:
        model: The network.
        one: The fit.
        seed: Random seed of the molecules and of the fit.

    Returns:
        Figures by name.
    """
    torch.set_num_threads(1)
    others = NitroStream(one.held_out, HELD_OUT_SEED)
    molecules, held_out = NitroStream(one.graphs, FIRST_SEED + seed, others.keys()), list(others)
    steps: list[bool] = []

    method = RCExplainer(teacher_limit=one.pool)
    plain = method.objective

    def counting(config: RCConfig, restarts: Restarts) -> Objective:
        objective = plain(config, restarts)

        def counted(step: Step) -> Terms:
            steps.append(torch.is_grad_enabled())  # off where the validation loss is taken
            return objective(step)

        return counted

    method.objective = counting  # type: ignore[method-assign]
    start = process_time()
    with AnonymousPeak() as memory:
        graphs = list(molecules) if one.listed else molecules
        fitted = method.fit(model, graphs, seed=seed, progress=False)
    seconds = process_time() - start
    ours, greedy = (
        metrics.fidelity(model, explainer.explain(held_out, search="none"), HEADLINE_SPARSITIES)
        for explainer in (fitted, GreedyDeletion().fit(model, held_out))
    )
    return {
        "ratio": sum(ours.drop) / sum(greedy.drop),
        "fidelity": list(ours.drop),
        "greedy": list(greedy.drop),
        "steps": sum(steps),
        "peak MB": memory.grown / 1e6,
        "cpu s": seconds,
        "forwards": seconds / _forward_seconds(model, held_out),
    }


def _forward_seconds(model: nn.Module, molecules: list[Data]) -> float:
    """CPU seconds of forward passes over 4,000 molecules, in batches of as many as these."""
    batch = Batch.from_data_list(molecules)
    times: list[float] = []
    with torch.no_grad():
        for _ in range(9):
            start = process_time()
            model(batch.x, batch.edge_index, batch.batch)
            times.append(process_time() - start)
    return FORWARD_MOLECULES / len(molecules) * sorted(times)[len(times) // 2]
