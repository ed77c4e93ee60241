"""A cost model of the engines, fitted to small files and checked on larger ones:

    seconds = start[engine, workers] + rows · cost[engine] / workers

    fit        seconds of jobs of FITTED times `graphs` rows with 1 and 2 workers; start and cost by least squares of
               relative errors
    check      jobs of CHECKED times as many: what the model says, and what was measured
    stages     what `cost` of the local engine is made of: CPU time of reading, explaining and writing a row, for graphs
               and for SMILES

The same model without the division is fitted to CPU seconds of all processes: they say more than wall time where the
machine has other work. Engines that are not installed are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from rcexplainer.benchmark.speed.engine_cost import PART_ROWS, EngineSubject
from rcexplainer.benchmark.speed.molecules import Molecules, generated_set
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.datasets.nitro_file import Content
from rcexplainer.engine.explained_rows import Stamp, explained_rows
from rcexplainer.engine.job_folder import JobFolder
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.errors import require

ROWS = 16_384  # of the smallest job
FITTED, CHECKED = (1, 2, 4), (8, 16)  # times as many
WORKERS = (1, 2)
ENGINES = {"local": "pyarrow", "ray": "ray"}  # and the package that each needs


@dataclass(frozen=True)
class CostModel:
    """What jobs of an engine take.

    Attributes:
        start: Seconds before the first row, by number of workers.
        cost: Seconds for a row.
        shared: Whether workers share the rows, as they do in wall time; in CPU time every row costs the same.
    """

    start: dict[int, float]
    cost: float
    shared: bool

    def seconds(self, rows: int, workers: int) -> float:
        """Predicted seconds of a job.

        Args:
            rows: Its rows.
            workers: Its workers.
        """
        return self.start[workers] + rows * self.cost / (workers if self.shared else 1)


def fitted_model(jobs: Sequence[tuple[int, int, float]], shared: bool) -> CostModel:
    """Fit the model by least squares of relative errors.

    Args:
        jobs: Rows, workers and seconds of each.
        shared: As in `CostModel`.
    """
    known = sorted({workers for _, workers, _ in jobs})
    rows = [
        [*(float(workers == one) for one in known), count / (workers if shared else 1)] for count, workers, _ in jobs
    ]
    seconds = np.array([taken for *_, taken in jobs])
    found = np.linalg.lstsq(np.array(rows) / seconds[:, None], np.ones(len(jobs)), rcond=None)[0].tolist()
    return CostModel(dict(zip(known, found, strict=False)), found[-1], shared)


def engine_model(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """The model of each engine, and its errors on jobs it was not fitted to."""
    require("pyarrow", "tables")
    smallest = options.graphs or ROWS
    with TemporaryDirectory() as passing:
        kept = options if options.keep is not None else replace(options, keep=Path(passing))
        subject = EngineSubject(Molecules.of(kept, generated_set()), smallest * CHECKED[-1])
        contents: tuple[Content, ...] = ("graphs", "smiles") if find_spec("rdkit") else ("graphs",)
        for content in contents if options.wanted("stages") else ():
            yield {"row": "stages", "what": content, **stages(replace(subject, rows=smallest), content)}
        for engine, package in ENGINES.items():
            if not options.wanted(engine) or not find_spec(package):
                continue
            jobs = [
                (smallest * times, workers, *_seconds(subject, engine, smallest * times, workers))
                for times in FITTED
                for workers in WORKERS
            ]
            wall = fitted_model([(rows, workers, seconds) for rows, workers, seconds, _ in jobs], shared=True)
            cpu = fitted_model([(rows, workers, seconds) for rows, workers, _, seconds in jobs], shared=False)
            for job in jobs:
                yield {"row": engine, "what": "fit", **_figures(wall, cpu, *job)}
            for times in CHECKED:
                for workers in WORKERS:
                    size = smallest * times, workers
                    taken = _seconds(subject, engine, *size)
                    yield {"row": engine, "what": "check", **_figures(wall, cpu, *size, *taken)}


def _figures(
    wall: CostModel, cpu: CostModel, rows: int, workers: int, seconds: float, cpu_seconds: float
) -> dict[str, Any]:
    said, cpu_said = wall.seconds(rows, workers), cpu.seconds(rows, workers)
    return {
        "rows": rows,
        "workers": workers,
        "seconds": seconds,
        "predicted": said,
        "error": said / seconds - 1,
        "start s": wall.start[workers],
        "µs a row": 1e6 * wall.cost,
        "cpu s": cpu_seconds,
        "cpu predicted": cpu_said,
        "cpu error": cpu_said / cpu_seconds - 1,
        "cpu start s": cpu.start[workers],
        "cpu µs a row": 1e6 * cpu.cost,
    }


def _seconds(subject: EngineSubject, engine: str, rows: int, workers: int) -> tuple[float, float]:
    """Median wall and CPU seconds of a job."""
    times = [subject.run(engine, workers, "graphs", rows) for _ in range(subject.molecules.options.repeats)]
    return median(one.seconds for one in times), median(one.cpu_seconds for one in times)


def stages(subject: EngineSubject, content: Content) -> dict[str, float]:
    """CPU microseconds of reading, explaining and writing a row, in this process.

    Args:
        subject: The file and the explainer.
        content: What the file holds.
    """
    from rcexplainer.datasets.graph_table import GraphTable

    table, fitted = GraphTable(subject.file(content)), subject.molecules.fitted
    stamp, options = Stamp("", "", tuple(map(str, range(fitted.split.num_classes)))), RowOptions()
    taken: dict[str, list[float]] = {"read µs": [], "explain µs": [], "write µs": []}
    with TemporaryDirectory() as place:
        for start in range(0, min(4 * PART_ROWS, len(table)), PART_ROWS):
            marks = [process_time()]
            rows = table.read(start, start + PART_ROWS)
            marks.append(process_time())
            results = explained_rows(fitted, rows, options, stamp, start)
            marks.append(process_time())
            JobFolder(Path(place)).write(start, results)
            marks.append(process_time())
            for name, before, after in zip(taken, marks, marks[1:], strict=False):
                taken[name].append(1e6 * (after - before) / rows.count)
    return {name: median(values) for name, values in taken.items()}
