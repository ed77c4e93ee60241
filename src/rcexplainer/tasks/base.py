"""What a task is: how instances are made from graphs, and how the model answers for one of them alone.

An instance is a graph with a read-out. Everything after its embedding is the same code for all tasks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.search import Evaluate
from rcexplainer.field_check import FieldCheck
from rcexplainer.gnn.graph_checks import check_graph
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.sources import AnyGraph
from rcexplainer.tasks.computation_graph import Instance
from rcexplainer.tasks.index import Index

Check = Callable[[Data, str], None]  # (graph, what to call it): raises if the graph is not sound


@dataclass(frozen=True, eq=False)
class WholeAnswers:
    """What the model says of instances in their whole graph, or in a neighbourhood that stands for it."""

    places: Tensor  # [k] which of the instances
    output: Tensor  # [k, C]
    check: FieldCheck | None = None  # what stands for the whole graph; None: the graph itself


WholeGraph = Callable[[Sequence[Instance]], WholeAnswers]


class Task(ABC):
    """One kind of instance."""

    @abstractmethod
    def single(self, graphs: object, index: object) -> bool:
        """Whether one instance is meant, rather than several."""

    @abstractmethod
    def instances(
        self, graphs: Iterable[AnyGraph | Exception], index: Index | None, hops: int, check: Check
    ) -> Iterator[Instance | Exception]:
        """The instances one after the other; an instance that cannot be made is an error in its place."""

    @abstractmethod
    def trial_graphs(self, graphs: Sequence[AnyGraph], index: Index | None) -> list[Data]:
        """Graphs in memory on which a model is tried out: its output has a row for each instance in them."""

    @abstractmethod
    def hops(self, split: SplitModel, graphs: list[Data], given: int | None = None) -> int:
        """The receptive field of the model, measured on the trial graphs, or checked where it is `given`."""

    @abstractmethod
    def background(self, graphs: Sequence[AnyGraph], index: Index | None, hops: int, seed: int) -> Iterable[Data]:
        """Graphs in which every instance is seen, or a sample of them where the graph is not in memory: boundaries and
        regions come from these."""

    @abstractmethod
    def alone(self, asked: Sequence[Instance], instances: Instances, hops: int) -> Evaluate:
        """(positions [v], units removed) → log p [v, C] of instances where they really are, each in its own run."""

    @abstractmethod
    def whole_graph(self, split: SplitModel, graph: AnyGraph, hops: int) -> WholeGraph | None:
        """What the model says of instances in their whole graph; None where instances are whole graphs."""

    @abstractmethod
    def beyond_field(
        self, asked: Sequence[Instance], instances: Instances, output: Tensor, whole: WholeAnswers, hops: int
    ) -> dict[int, Exception]:
        """Errors, by position, for instances whose answer in their computation graph is not that of the whole graph."""

    @abstractmethod
    def sample(self, graphs: Sequence[AnyGraph], index: Index | None, limit: int, seed: int) -> Index | None:
        """An index of at most `limit` instances, drawn before any is made; graphs exist already, so all of them."""

    def training_graphs(self, graphs: Sequence[AnyGraph], index: Index | None, hops: int) -> list[Data]:
        """The graphs of the instances to learn from.

        Raises:
            GraphError: An instance is not sound.
        """
        found: list[Data] = []
        for one in self.instances(graphs, index, hops, check_graph):
            if isinstance(one, Exception):
                raise one
            found.append(one.computation)
        return found
