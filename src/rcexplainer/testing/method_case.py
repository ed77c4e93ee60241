"""A method under test: how it is made, and on which networks and by which measure it is judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn
from torch_geometric.data import Data

from rcexplainer.explanation import Explanation
from rcexplainer.method.base import Method
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.metrics.fidelity import fidelity
from rcexplainer.metrics.motif import motif_auc
from rcexplainer.testing.sample_graphs import sample_graphs
from rcexplainer.testing.sample_networks import LayerName, random_network

Judge = Callable[[nn.Module, list[Explanation]], float]  # higher is better


def fidelity_drop(model: nn.Module, explanations: list[Explanation]) -> float:
    """The drop in p(c) without the top tenth of the edges."""
    return fidelity(model, explanations, sparsity=[0.9]).drop[0]


def motif_score(model: nn.Module, explanations: list[Explanation]) -> float:
    """The AUC of the scores against the planted motif, for factual methods."""
    return motif_auc(explanations)


@dataclass(frozen=True)
class MethodCase:
    """A method under test.

    Args:
        make: Makes the method: the class, or `functools.partial(MyMethod, steps=10)`. It is called with `task`,
            `target_class` and `hops`.
        judge: The measure in which the method has to beat random scores.
        conv: The layers of the networks that are explained, as in `rc.gnn.GNNConfig`.
    """

    make: Callable[..., Method]
    judge: Judge = fidelity_drop
    conv: LayerName = "graphconv"

    def fit(self, model: nn.Module | None = None, *, seed: int = 0, target_class: int | None = None) -> FittedExplainer:
        """The method, fitted on the sample graphs, by default to a small random network."""
        model = random_network(self.conv) if model is None else model
        return self.make(target_class=target_class).fit(model, sample_graphs(), seed=seed, progress=False)


def explanations(
    fitted: FittedExplainer, graphs: Data | list[Data], *, index: Sequence[Any] | None = None, search: Search = "prefix"
) -> list[Explanation]:
    """Explanations of all instances, none of which may fail."""
    return [one for one in fitted.explain(graphs, index=index, search=search) if isinstance(one, Explanation)]
