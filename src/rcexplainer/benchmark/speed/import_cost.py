"""The time to import the package."""

import subprocess
import sys
from itertools import pairwise
from statistics import median

from rcexplainer.benchmark.speed.options import BenchOptions, Rows

CODE = """
import time
marks = [time.perf_counter()]
import torch; marks.append(time.perf_counter())
import torch_geometric; marks.append(time.perf_counter())
import rcexplainer; marks.append(time.perf_counter())
rcexplainer.datasets, rcexplainer.gnn; marks.append(time.perf_counter())
print(*marks)
"""


def import_cost(options: BenchOptions) -> Rows:
    """Seconds to import torch, then torch_geometric, then rcexplainer, each on top of the previous one."""
    runs: list[list[float]] = []
    for _ in range(options.repeats):
        out = subprocess.check_output([sys.executable, "-W", "ignore", "-c", CODE])
        marks = [float(mark) for mark in out.split()]
        runs.append([late - early for early, late in pairwise(marks)])
    names = ("torch", "torch_geometric", "rcexplainer", "its parts, when first used")
    columns = zip(*runs, strict=True)
    return [
        {"import": name, "seconds more": round(median(column), 4)} for name, column in zip(names, columns, strict=True)
    ]
