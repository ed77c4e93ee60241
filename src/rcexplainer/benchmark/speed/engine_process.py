"""A job of an engine in a process of its own, for `engine_cost`: the time of every part is printed as JSON.

python -m rcexplainer.benchmark.speed.engine_process '{"input": "molecules.parquet", …}'     the fields of EngineRun
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import time
from typing import Any

from rcexplainer.benchmark.speed.process_tree import ProcessTree

TICK = 0.01  # seconds that the system's clock of CPU time tells apart: a tiny job may take none


@dataclass(frozen=True)
class EngineRun:
    """A job to measure.

    Attributes:
        input: File of the molecules.
        model: File of their network.
        explainer: File of its explainer.
        out: Folder of the results.
        engine: local or ray.
        workers: Number of processes; all of them have these many cores together.
        part_rows: Rows in a part.
        limit: Only the first rows; None: all.
    """

    input: str
    model: str
    explainer: str
    out: str
    engine: str
    workers: int
    part_rows: int | None
    limit: int | None = None


@dataclass(frozen=True)
class EngineTimes:
    """What a job took.

    Attributes:
        rows: Rows explained.
        seconds: Wall time of the whole process.
        rate: Rows a second between the end of the first part of every worker and the end of the last part.
        cpu_rate: The same by the CPU time of all processes in that time.
        cpu_seconds: CPU time of all processes, their start included.
        peak_megabytes: Peak of their anonymous memory together.
    """

    rows: int
    seconds: float
    rate: float
    cpu_rate: float
    cpu_seconds: float
    peak_megabytes: float

    @property
    def start(self) -> float:
        """Seconds that do not depend on the number of rows: interpreter, packages, engine, explainer."""
        return self.seconds - self.rows / self.rate


def measured(run: EngineRun) -> EngineTimes:
    """Run a job in a process of its own.

    Args:
        run: The job.

    Raises:
        RuntimeError: It failed.
    """
    words = [sys.executable, "-m", "rcexplainer.benchmark.speed.engine_process", json.dumps(asdict(run))]
    started = time()
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    with ProcessTree(process.pid) as tree:
        out, _ = process.communicate()
    seconds = time() - started
    if process.returncode:
        raise RuntimeError(f"the job {run} failed")
    parts: list[tuple[float, int]] = sorted(map(tuple, json.loads(out.splitlines()[-1])))
    # From the end of the first part of every worker on, all are at work.
    rows, begin, end = sum(rows for _, rows in parts[run.workers :]), parts[run.workers - 1][0], parts[-1][0]
    return EngineTimes(
        sum(rows for _, rows in parts),
        seconds,
        rows / max(end - begin, TICK),
        rows / max(tree.cpu_seconds(end) - tree.cpu_seconds(begin), TICK),
        tree.cpu_seconds(),
        tree.peak_bytes / 1e6,
    )


def load_explainer(model: Path, explainer: Path) -> Any:
    """Load a network of ours and its explainer.

    Args:
        model: File of the network.
        explainer: File of the explainer.
    """
    from rcexplainer.explainer import load
    from rcexplainer.gnn import load_gnn

    return load(explainer, load_gnn(model).model)


def run_here(run: EngineRun) -> list[tuple[float, int]]:
    """Run a job in this process and those of its engine.

    Args:
        run: The job.

    Returns:
        When each part was written, and its rows.
    """
    import hashlib

    from rcexplainer.datasets.graph_table import GraphTable
    from rcexplainer.engine import local
    from rcexplainer.engine.job_folder import JobFolder
    from rcexplainer.engine.table_job import ExplainerSource, TableJob
    from rcexplainer.engine.table_run import Engine, run_job

    load = partial(load_explainer, Path(run.model), Path(run.explainer))
    source = ExplainerSource(load, hashlib.sha256(Path(run.explainer).read_bytes()).hexdigest())
    table, folder = GraphTable(run.input), JobFolder(Path(run.out))
    job = TableJob(table, source, folder, limit=run.limit, part_rows=run.part_rows)
    engine: Engine = partial(local.explain_parts, workers=run.workers)
    if run.engine == "ray":
        from rcexplainer.integrations import ray

        engine = partial(ray.explain_parts, workers=run.workers)
    run_job(job, engine, load())
    files = ((job.folder.part(part), job.rows_of(part)) for part in range(job.num_parts))
    return [(file.stat().st_mtime, end - first) for file, (first, end) in files]


def main() -> None:
    """Run the job that the command line names, on as many cores as it has workers."""
    run = EngineRun(**json.loads(sys.argv[1]))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: run.workers])
    sys.stdout.write(json.dumps(run_here(run)) + "\n")


if __name__ == "__main__":
    main()
