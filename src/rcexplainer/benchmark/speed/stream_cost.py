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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Batch

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

HELD_OUT = NitroStream(500, seed=1)
FIRST_SEED = 10  # of the molecules that are fitted on
NETWORK_EPOCHS = 60


@dataclass(frozen=True)
class StreamFit:
    """A fit to measure.

    Attributes:
        graphs: Number of molecules.
        listed: Whether they are a list in memory.
        pool: Number of them to train on, at most.
    """

    graphs: int
    listed: bool = False
    pool: int = RCConfig.teacher_limit


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
    data = datasets.load("nitro", seed=2, num_graphs=3000)

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
        return dict(json.loads(path.read_text()))
    with multiprocessing.get_context("spawn").Pool(1) as alone:
        found = alone.apply(measured_fit, (model, one, seed))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return found


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
    molecules, steps = NitroStream(one.graphs, FIRST_SEED + seed, HELD_OUT.keys()), list[bool]()

    class Counted(RCExplainer):
        def objective(self, config: RCConfig, restarts: Restarts) -> Objective:
            plain = super().objective(config, restarts)

            def counted(step: Step) -> Terms:
                steps.append(torch.is_grad_enabled())  # off where the validation loss is taken
                return plain(step)

            return counted

    start = process_time()
    with AnonymousPeak() as memory:
        graphs = list(molecules) if one.listed else molecules
        fitted = Counted(teacher_limit=one.pool).fit(model, graphs, seed=seed, progress=False)
    seconds = process_time() - start
    held_out = list(HELD_OUT)
    ours, greedy = (
        metrics.fidelity(model, method.explain(held_out, search="none"), HEADLINE_SPARSITIES)
        for method in (fitted, GreedyDeletion().fit(model, held_out))
    )
    return {
        "ratio": sum(ours.drop) / sum(greedy.drop),
        "fidelity": ours.drop,
        "greedy": greedy.drop,
        "steps": sum(steps),
        "peak MB": memory.grown / 1e6,
        "cpu s": seconds,
        "forwards": seconds / _forward_seconds(model),
    }


def _forward_seconds(model: nn.Module) -> float:
    """CPU seconds of forward passes over 4,000 molecules, in batches of 500."""
    batch = Batch.from_data_list(list(HELD_OUT))
    times: list[float] = []
    with torch.no_grad():
        for _ in range(9):
            start = process_time()
            model(batch.x, batch.edge_index, batch.batch)
            times.append(process_time() - start)
    return 8 * sorted(times)[len(times) // 2]
