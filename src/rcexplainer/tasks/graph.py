"""Graph classification: every graph is an instance, read by pooling all its nodes."""

from collections.abc import Iterable, Iterator, Sequence

from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.core.search import Evaluate
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.graph_checks import check_graph
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.tasks.base import Check, Task, WholeGraph
from rcexplainer.tasks.computation_graph import Instance
from rcexplainer.tasks.index import Index


class GraphTask(Task):
    """Graphs as they are."""

    def single(self, graphs: object, index: object) -> bool:
        return isinstance(graphs, Data) and not isinstance(graphs, Batch)

    def instances(
        self, graphs: Iterable[Data | Exception], index: Index | None, hops: int, check: Check
    ) -> Iterator[Instance | Exception]:
        if index is not None:
            raise RCExplainerError("index chooses nodes or links; for a graph task pass the graphs you want explained")
        return (one if isinstance(one, Exception) else Instance(one, one) for one in graphs)

    def training_graphs(self, graphs: list[Data], index: Index | None, hops: int) -> list[Data]:
        self.instances(graphs, index, hops, check_graph)  # refuses an index
        return graphs

    def trial_graphs(self, graphs: list[Data], index: Index | None) -> list[Data]:
        return graphs

    def hops(self, split: SplitModel, graphs: list[Data], given: int | None = None) -> int:
        return 0

    def background(self, graphs: list[Data], index: Index | None, seed: int) -> list[Data]:
        return graphs

    def sample(self, graphs: list[Data], index: Index | None, limit: int, seed: int) -> Index | None:
        return index

    def whole_graph(self, split: SplitModel, graph: Data) -> None:
        return None

    def beyond_field(
        self, asked: Sequence[Instance], instances: Instances, output: Tensor, whole: WholeGraph, hops: int
    ) -> dict[int, Exception]:
        return {}

    def alone(self, asked: Sequence[Instance], instances: Instances) -> Evaluate:
        return instances.one_by_one
