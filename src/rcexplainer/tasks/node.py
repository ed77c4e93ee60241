"""Node classification: an instance is the computation graph of a node, read at that node."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.split import SplitModel
from rcexplainer.sources import AnyGraph, GraphSource
from rcexplainer.tasks.background_sample import BackgroundSample
from rcexplainer.tasks.base import WholeAnswers, WholeGraph
from rcexplainer.tasks.computation_graph import Instance
from rcexplainer.tasks.excerpt import drawn, excerpt
from rcexplainer.tasks.index import Index, Pair, is_number, node_errors, nodes_of
from rcexplainer.tasks.receptive_field import probe_nodes
from rcexplainer.tasks.subgraph_task import SubgraphTask

# Nodes at which an excerpt of a large graph begins; nodes of it that the regions come from.
TRIAL_NODES, BACKGROUND_NODES = 32, 10_000


class NodeTask(SubgraphTask):
    """Nodes of one graph."""

    noun = "nodes"

    def single(self, graphs: object, index: object) -> bool:
        return is_number(index)

    def roots(self, index: Index | None, graph: AnyGraph) -> Tensor:
        return nodes_of(index, int(graph.num_nodes or 0))

    def errors(self, roots: Tensor, graph: AnyGraph) -> dict[int, GraphError]:
        return node_errors(roots, int(graph.num_nodes or 0))

    def trial_graphs(self, graphs: Sequence[AnyGraph], index: Index | None) -> list[Data]:
        graph = self.only(graphs)
        if not isinstance(graph, GraphSource):
            return [graph]
        nodes = drawn(graph.num_nodes, TRIAL_NODES, 0) if index is None else self.sound(index, graph)
        return [excerpt(graph, nodes[drawn(len(nodes), TRIAL_NODES, 0)])[0]]

    def hops(self, split: SplitModel, graphs: list[Data], given: int | None = None) -> int:
        (graph,) = graphs
        nodes = probe_nodes(graph)
        return self.measured_hops(split, graph, nodes, split.run(graph).output[nodes], given)

    def read(self, split: SplitModel, graph: Data, index: int | Pair) -> Tensor:
        return split.run(graph).output[[index]]

    def whole_answers(self, split: SplitModel, graph: Data) -> WholeGraph:
        with torch.no_grad():
            output = split.run(graph).output

        def read(asked: Sequence[Instance]) -> WholeAnswers:
            return WholeAnswers(torch.arange(len(asked)), output[[one.index for one in asked]])

        return read

    def background(self, graphs: Sequence[AnyGraph], index: Index | None, hops: int, seed: int) -> Iterable[Data]:
        graph = self.only(graphs)
        if not isinstance(graph, GraphSource):
            return [graph]
        return BackgroundSample(graph, drawn(graph.num_nodes, BACKGROUND_NODES, seed), graph.num_nodes, hops)
