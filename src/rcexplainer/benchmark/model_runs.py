"""What rankings cost in model runs: graphs that pass through the network, and back through it, counted by a hook.

    runs of an instance = 1 (its prediction) + runs of the method's scores + runs of the refinement

A backward pass counts as one more run. What a method computes beside the network (masks, regions, surrogates) is not
counted, nor is its fit, nor are the runs that check that results hold alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.unit_readings import UnitReadings


@dataclass
class RunCount:
    """Graphs that a network was run on."""

    runs: int = 0


@contextmanager
def counted_runs(model: nn.Module) -> Iterator[RunCount]:
    """Count the graphs on which a graph classifier is run inside this context, forwards and backwards.

    Args:
        model: The network; it returns one row per graph. Its hook is removed at the end.

    Yields:
        The count, which grows.
    """
    count = RunCount()

    def forwards(_: nn.Module, __: Any, output: Tensor) -> None:
        rows = len(output)
        count.runs += rows

        def backwards(_: Tensor) -> None:
            count.runs += rows

        if output.requires_grad:
            output.register_hook(backwards)

    handle = model.register_forward_hook(forwards)
    try:
        yield count
    finally:
        handle.remove()


def explained_with_runs(
    fitted: FittedExplainer, graphs: Sequence[Data], refine: int | None = None
) -> tuple[dict[int, Explanation], float]:
    """Explain graphs, scores alone, and count what that costs.

    Args:
        fitted: The method, for graphs.
        graphs: What it explains.
        refine: As for `FittedExplainer.explain`.

    Returns:
        The explanations by place, without those that failed, and the mean number of model runs for each of them.
    """
    spent = RunCount()

    def scores(instances: Instances, labels: Tensor, target: int | None) -> Tensor | UnitReadings:
        with counted_runs(fitted.split.model) as count:
            found = fitted.scores(instances, labels, target)
        spent.runs += count.runs
        return found

    results = replace(fitted, scores=scores).explain(list(graphs), search="none", on_error="keep", refine=refine)
    found = {place: one for place, one in enumerate(results) if isinstance(one, Explanation)}
    refined = sum(one.refined for one in found.values())
    return found, 1 + (spent.runs + refined) / max(len(found), 1)
