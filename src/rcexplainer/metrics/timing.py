"""Seconds per explanation: one graph at a time, as the paper measures it, and all graphs at once. Lower is better.

Scores alone (`search="none"`) cost what the method costs; a search adds what verifying costs. The first explanation is
told apart: it pays for what is loaded and compiled when first used.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.metrics.direction import BETTER, Better


@dataclass(frozen=True)
class ExplainTime:
    """Seconds. Mean, standard deviation, median and 95th percentile are of single graphs, the first one left out."""

    better: ClassVar[Better] = BETTER["seconds"]
    graphs: int
    cold: float
    mean: float
    std: float
    median: float
    p95: float
    batched: float  # per graph, all of them in one call


def explain_time(fitted: FittedExplainer, graphs: Sequence[Data], *, search: Search = "none") -> ExplainTime:
    """Explain every graph by itself, then all of them together."""
    if len(graphs) < 2:
        raise RCExplainerError(f"explain_time needs at least two graphs, the first warms up; got {len(graphs)}")
    singles = [_seconds(fitted, [graph], search) for graph in graphs]
    return summary(singles, _seconds(fitted, list(graphs), search) / len(graphs))


def summary(singles: Sequence[float], batched: float) -> ExplainTime:
    """Of the seconds for each graph by itself, the first cold, and for each of many together. After a single graph what
    is warm is not known: nan."""
    warm = torch.tensor(singles[1:], dtype=torch.double)
    mean, std, middle, high = (float("nan"),) * 4
    if len(warm):
        mean, std = float(warm.mean()), float(warm.std(correction=0))
        middle, high = torch.quantile(warm, torch.tensor([0.5, 0.95], dtype=torch.double)).tolist()
    return ExplainTime(len(singles), singles[0], mean, std, middle, high, batched)


def _seconds(fitted: FittedExplainer, graphs: list[Data], search: Search) -> float:
    started = time.perf_counter()
    fitted.explain(graphs, search=search, on_error="keep")  # results are on the CPU, so that a device has finished
    return time.perf_counter() - started
