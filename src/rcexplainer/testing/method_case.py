"""A method under test: how it is made, and on which networks and by which measure it is judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import nn
from torch_geometric.data import Data

from rcexplainer.explanation import Explanation
from rcexplainer.method.base import Method
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.metrics.fidelity import fidelity
from rcexplainer.metrics.motif import motif_auc
from rcexplainer.short_repr import ShortRepr
from rcexplainer.testing.sample_graphs import sample_graphs
from rcexplainer.testing.sample_networks import LayerName, random_network, three_class_network

TARGET = 0  # the class that counterfactuals lead to where one is chosen
Judge = Callable[[nn.Module, list[Explanation]], float]  # higher is better


def fidelity_drop(model: nn.Module, explanations: list[Explanation]) -> float:
    """The drop in p(c) without the top tenth of the edges."""
    return fidelity(model, explanations, sparsity=[0.9]).drop[0]


def motif_score(model: nn.Module, explanations: list[Explanation]) -> float:
    """The AUC of the scores against the planted motif, for factual methods."""
    return motif_auc(explanations)


@dataclass(frozen=True, repr=False)
class MethodCase(ShortRepr):
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

    def fit(self, model: nn.Module, *, seed: int = 0, target_class: int | None = None) -> FittedExplainer:
        """The method, fitted on the sample graphs."""
        return self.make(target_class=target_class).fit(model, sample_graphs(), seed=seed, progress=False)

    @cached_property
    def fitted(self) -> FittedExplainer:
        """The same with a small random network, fitted once for all checks that need no fit of their own."""
        return self.fit(random_network(self.conv))

    @cached_property
    def targeted(self) -> FittedExplainer:
        """The same with a network of three classes, made for one of them."""
        return self.fit(three_class_network(self.conv), target_class=TARGET)


def explanations(
    fitted: FittedExplainer, graphs: Data | list[Data], *, index: Sequence[Any] | None = None, search: Search = "prefix"
) -> list[Explanation]:
    """Explanations of all instances; no instance may fail."""
    return [one for one in fitted.explain(graphs, index=index, search=search) if isinstance(one, Explanation)]
