"""Graph classification: every graph is an instance, read by pooling all its nodes."""

from collections.abc import Iterable, Iterator, Sequence

from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.core.search import Evaluate
from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.gnn.graph_checks import check_graph
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.sources import AnyGraph, GraphSource
from rcexplainer.tasks.base import Check, Task, WholeAnswers
from rcexplainer.tasks.computation_graph import Instance
from rcexplainer.tasks.index import Index


class GraphTask(Task):
    """Graphs as they are."""

    def single(self, graphs: object, index: object) -> bool:
        return isinstance(graphs, Data) and not isinstance(graphs, Batch)

    def instances(
        self, graphs: Iterable[AnyGraph | Exception], index: Index | None, hops: int, check: Check
    ) -> Iterator[Instance | Exception]:
        if index is not None:
            raise RCExplainerError("index chooses nodes or links; for a graph task pass the graphs you want explained")
        return (one if isinstance(one, Exception) else Instance(one, in_memory([one])[0]) for one in graphs)

    def training_graphs(self, graphs: Sequence[AnyGraph], index: Index | None, hops: int) -> list[Data]:
        self.instances(graphs, index, hops, check_graph)  # refuses an index
        return in_memory(graphs)

    def trial_graphs(self, graphs: Sequence[AnyGraph], index: Index | None) -> list[Data]:
        return in_memory(graphs)

    def hops(self, split: SplitModel, graphs: list[Data], given: int | None = None) -> int:
        return 0

    def background(self, graphs: Sequence[AnyGraph], index: Index | None, hops: int, seed: int) -> list[Data]:
        return in_memory(graphs)

    def sample(self, graphs: Sequence[AnyGraph], index: Index | None, limit: int, seed: int) -> Index | None:
        return index

    def whole_graph(self, split: SplitModel, graph: AnyGraph, hops: int) -> None:
        return None

    def beyond_field(
        self, asked: Sequence[Instance], instances: Instances, output: Tensor, whole: WholeAnswers, hops: int
    ) -> dict[int, Exception]:
        return {}

    def alone(self, asked: Sequence[Instance], instances: Instances, hops: int) -> Evaluate:
        return instances.one_by_one


def in_memory(graphs: Sequence[AnyGraph]) -> list[Data]:
    """The graphs, all of which must be in memory.

    Raises:
        GraphError: One is on disk or in a store.
    """
    for graph in graphs:
        if isinstance(graph, GraphSource):
            raise GraphError(
                f"got a {type(graph).__name__}: a graph on disk or in a store is for nodes and links "
                '(task="node" or "link"); for a graph task pass Data objects'
            )
    return graphs if isinstance(graphs, list) else list(graphs)
