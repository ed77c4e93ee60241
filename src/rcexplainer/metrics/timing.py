"""Seconds per explanation: one graph at a time, as the paper measures it, and all graphs in one call. Lower is better.

With `search="none"` this is the cost of the scores; a search adds the cost of finding and verifying counterfactuals.
The first explanation is reported apart: it includes loading and compilation.
"""

import time
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch_geometric.data import Data

from rcexplainer.arguments import clear_arguments
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.fitted_check import check_fitted
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.metrics.direction import BETTER, Direction


@dataclass(frozen=True)
class ExplainTime:
    """Seconds; mean, standard deviation, median and 95th percentile are over single graphs without the first."""

    better: ClassVar[Direction] = BETTER["seconds"]
    graphs: int
    cold: float  # the first graph
    mean: float
    std: float
    median: float
    p95: float
    batched: float  # per graph, all graphs in one call


@clear_arguments()
def explain_time(fitted: FittedExplainer, graphs: Sequence[Data], *, search: Search = "none") -> ExplainTime:
    """Explain every graph by itself, then all graphs in one call.

    Args:
        fitted: A fitted explainer.
        graphs: At least two graphs.
        search: "none", "prefix" or "greedy".

    Raises:
        RCExplainerError: There are fewer than two graphs, or `fitted` is no fitted explainer.
    """
    if not isinstance(graphs, Sized):
        raise RCExplainerError(f"explain_time needs a list of graphs, got {type(graphs).__name__}")
    if len(graphs) < 2:
        raise RCExplainerError(f"explain_time needs at least two graphs, the first warms up; got {len(graphs)}")
    check_fitted("explain_time(fitted, graphs)", fitted, "explain")
    singles = [_seconds(fitted, [graph], search) for graph in graphs]
    return summary(singles, _seconds(fitted, list(graphs), search) / len(graphs))


def summary(singles: Sequence[float], batched: float) -> ExplainTime:
    """Summarise times.

    Args:
        singles: Seconds for each graph by itself, the first one cold.
        batched: Seconds per graph, all graphs in one call.

    Returns:
        The summary; with a single graph there are no warm times, and their statistics are nan.
    """
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
