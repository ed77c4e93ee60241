"""Engines that explain files of molecules, beside the same work on a list in memory and beside bare forward passes.

    loader       PyG's DataLoader + forward, no explanation: batches of 512
    explain      `fitted.explain` of a list of graphs with `prefix`, no files
    memory       the engine's explain stage, fed with batches from memory: no files, on any device
    local 1, 2   the local engine from Parquet to Parquet (tensors), with 1 and 2 workers
    ray 1, 2     the same on Ray
    smiles 1     the local engine with one worker on Parquet with SMILES

An engine runs in processes of its own that have as many cores together as there are workers. "rows/s" is the rate once
all workers are at work; "start s" what is left of the wall time: interpreter, packages, Ray. "rows/cpu s" divides by
the CPU time of all processes instead: other load on the machine affects it least. The first three are measured anew for
every repeat, between the engines. Where pyarrow is absent, and on a GPU, only they are measured.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from rcexplainer.benchmark.speed.engine_process import EngineRun, EngineTimes, measured
from rcexplainer.benchmark.speed.molecules import Molecules, forward, generated_set
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.datasets.nitro_file import Content, write_nitro
from rcexplainer.datasets.nitro_stream import NitroStream
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.engine.table_job import BATCH_ROWS, BATCH_ROWS_CUDA

ROWS, SEED = 40_960, 1  # molecules of a file
LISTED = 16_384  # of them explained from memory, at most
LOADER_BATCH = 512
PART_ROWS = BATCH_ROWS  # small parts: a modest number of rows still keeps every worker busy several times
ENGINES: dict[str, tuple[str, int, Content]] = {
    "local 1": ("local", 1, "graphs"),
    "local 2": ("local", 2, "graphs"),
    "ray 1": ("ray", 1, "graphs"),
    "ray 2": ("ray", 2, "graphs"),
    "smiles 1": ("local", 1, "smiles"),
}
NEEDED = {"local 1": "pyarrow", "local 2": "pyarrow", "ray 1": "ray", "ray 2": "ray", "smiles 1": "rdkit"}


def engine_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """Rows a second, peak memory, and ratios to explanations and forward passes of a list."""
    with TemporaryDirectory() as passing:
        kept = options if options.keep is not None else replace(options, keep=Path(passing))
        subject = EngineSubject(Molecules.of(kept, generated_set()), options.graphs or ROWS)
        in_memory = subject.in_memory()
        engines = [
            name
            for name in ENGINES
            if options.wanted(name) and options.where.type == "cpu" and find_spec("pyarrow") and find_spec(NEEDED[name])
        ]
        bases: dict[str, list[tuple[float, float]]] = {name: [] for name in in_memory}
        found: dict[str, list[EngineTimes]] = {name: [] for name in engines}
        for _ in range(options.repeats):
            for name, run in in_memory.items():
                bases[name].append(rates(run, subject.listed, options.where))
            for name in engines:
                found[name].append(subject.run(*ENGINES[name], subject.rows))
        wall, cpu = ({name: median(pair[k] for pair in pairs) for name, pairs in bases.items()} for k in (0, 1))
        for name in in_memory:
            if options.wanted(name):
                figures = {"rows": subject.listed, "rows/s": wall[name], "rows/cpu s": cpu[name]}
                yield {"row": name, **figures, **_ratios(wall[name], cpu[name], wall, cpu)}
        for name, times in found.items():
            figures = engine_figures(times)
            yield {"row": name, **figures, **_ratios(figures["rows/s"], figures["rows/cpu s"], wall, cpu)}


def engine_figures(times: list[EngineTimes]) -> dict[str, Any]:
    """Medians of several runs of an engine.

    Args:
        times: The runs.
    """
    return {
        "rows": times[0].rows,
        "rows/s": median(one.rate for one in times),
        "rows/cpu s": median(one.cpu_rate for one in times),
        "start s": median(one.start for one in times),
        "seconds": median(one.seconds for one in times),
        "peak MB": median(one.peak_megabytes for one in times),
    }


def _ratios(rate: float, cpu_rate: float, wall: dict[str, float], cpu: dict[str, float]) -> dict[str, float]:
    return {
        "÷ explain": rate / wall["explain"],
        "÷ loader": rate / wall["loader"],
        "÷ explain, cpu": cpu_rate / cpu["explain"],
    }


def rates(run: Callable[[], Any], rows: int, device: torch.device) -> tuple[float, float]:
    """Rows a second and rows a CPU second of one run.

    Args:
        run: Goes through the rows.
        rows: Their number.
        device: Where it computes.
    """
    start, cpu = perf_counter(), process_time()
    run()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return rows / (perf_counter() - start), rows / (process_time() - cpu)


@dataclass(frozen=True, eq=False)
class EngineSubject:
    """Molecules in files and in memory, their network and its explainer.

    Attributes:
        molecules: The network and its explainer, in the folder of their options.
        rows: Molecules of a file.
    """

    molecules: Molecules
    rows: int

    @property
    def keep(self) -> Path:
        """Where networks and files are."""
        assert self.molecules.options.keep is not None
        return self.molecules.options.keep

    @property
    def listed(self) -> int:
        """Molecules that are explained from memory."""
        return min(self.rows, LISTED)

    @cached_property
    def graphs(self) -> list[Data]:
        """The first molecules of the file."""
        return list(islice(NitroStream(self.rows, SEED), self.listed))

    def file(self, content: Content) -> Path:
        """The file of the molecules; made where it is not there yet."""
        path = self.keep / f"nitro-{content}-{SEED}-{self.rows}.parquet"
        return path if path.exists() else write_nitro(path, self.rows, SEED, content, processes=2)

    def in_memory(self) -> dict[str, Callable[[], Any]]:
        """What is measured without files."""
        where, model, graphs = self.molecules.options.where, self.molecules.model, self.graphs
        moving = self.molecules.fitted if where.type == "cpu" else replace(self.molecules.fitted, device=where)
        size, options = BATCH_ROWS_CUDA if where.type == "cuda" else BATCH_ROWS, RowOptions()
        batches = [Batch.from_data_list(graphs[start : start + size]) for start in range(0, len(graphs), size)]
        return {
            "loader": lambda: [forward(model, batch.to(where)) for batch in DataLoader(graphs, LOADER_BATCH)],
            "explain": lambda: moving.explain(graphs, search=options.search, on_error="keep"),
            "memory": lambda: [options.explained(moving, batch).columns() for batch in batches],
        }

    def run(self, engine: str, workers: int, content: Content, rows: int) -> EngineTimes:
        """Measure an engine on the first rows of the file.

        Args:
            engine: local or ray.
            workers: Number of processes.
            content: What the file holds.
            rows: Number of rows.
        """
        with TemporaryDirectory() as folder:
            self.molecules.fitted  # noqa: B018  its file is written with it
            return measured(
                EngineRun(
                    str(self.file(content).absolute()),
                    str((self.keep / f"{self.molecules.name}.safetensors").absolute()),
                    str((self.keep / f"{self.molecules.name}-explainer.safetensors").absolute()),
                    str(Path(folder) / "results"),
                    engine,
                    workers,
                    min(PART_ROWS, max(rows // (4 * workers), 1)),
                    rows,
                )
            )
