"""Benchmarks: commands that print figures, never timed tests."""

import subprocess
import sys
from collections.abc import Callable
from statistics import median
from typing import Any


def import_cost(repeats: int) -> list[dict[str, Any]]:
    """Seconds to import torch, then torch_geometric, then rcexplainer, each on top of the one before."""
    code = """
import time
marks = [time.perf_counter()]
import torch; marks.append(time.perf_counter())
import torch_geometric; marks.append(time.perf_counter())
import rcexplainer; marks.append(time.perf_counter())
rcexplainer.datasets, rcexplainer.gnn; marks.append(time.perf_counter())
print(*(late - early for early, late in zip(marks, marks[1:])))
"""
    runs = [
        [float(second) for second in subprocess.check_output([sys.executable, "-W", "ignore", "-c", code]).split()]
        for _ in range(repeats)
    ]
    names = ("torch", "torch_geometric", "rcexplainer", "its parts, when first used")
    return [
        {"import": name, "seconds more": round(median(column), 4)}
        for name, column in zip(names, zip(*runs, strict=True), strict=True)
    ]


BENCHMARKS: dict[str, Callable[[int], list[dict[str, Any]]]] = {"import": import_cost}
