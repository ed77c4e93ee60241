"""What every method here has: `fit(model, graphs)`, which returns an explainer with `explain`.

A method is one function, `scores(instances, labels)`: a number in [0, 1] for every unit that can be deleted. One that
has to be trained first returns it from `learn`. Checking the input, batching, searching for counterfactuals and packing
results are the explainer's own (`rcexplainer.method.explaining_`), so they are the same for all.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn

from rcexplainer.gnn.forward import Task
from rcexplainer.gnn.graph_checks import Graphs, Kind, as_graphs
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import split_model
from rcexplainer.method.explaining_ import FittedExplainer
from rcexplainer.tasks.computation_graph import Index
from rcexplainer.tasks.registry import SUBJECTS

Scores = Callable[[Instances, Tensor], Tensor]


class Method(ABC):
    """A method that is its scores."""

    @abstractmethod
    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        """One score in [0, 1] per unit of these instances, which are predicted as `labels`."""

    def learn(self, training: Callable[[], Instances], seed: int, progress: bool) -> Scores:
        """The scores after training on instances that are made when they are asked for. By default nothing is learned:
        `scores` will do."""
        return self.scores

    def fit(
        self,
        model: nn.Module,
        graphs: Graphs,
        *,
        task: Task = "graph",
        index: Index | None = None,
        class_names: Sequence[str] | None = None,
        hops: int | None = None,
        seed: int = 0,
        progress: bool = True,
        **split: Any,
    ) -> FittedExplainer:
        """Look at the model on these graphs, and learn from them (of nodes and links: from those in `index`) what is to
        learn. `hops` says how far computation graphs reach (left out, it is measured); `split` are the other arguments
        of `split_model`.
        """
        found, subject = as_graphs(graphs), SUBJECTS[task]
        shown = subject.shown(found, index)
        apart = split_model(model, shown, task=task, **split)
        far = subject.hops(apart, shown, hops)

        def training() -> Instances:
            return Instances(apart, subject.instances(found, index, far))

        with apart.scope:
            scores = self.learn(training, seed, progress)
        return FittedExplainer(apart, scores, Kind.of(found[0]), tuple(class_names or ()), hops=far)
