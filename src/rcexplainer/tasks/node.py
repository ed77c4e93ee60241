"""Node classification: an instance is the computation graph of a node, read at that node."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.split import SplitModel
from rcexplainer.tasks.base import WholeGraph
from rcexplainer.tasks.computation_graph import Instance
from rcexplainer.tasks.index import Index, Pair, is_number, node_errors, nodes_of
from rcexplainer.tasks.receptive_field import probe_nodes
from rcexplainer.tasks.subgraph_task import SubgraphTask


class NodeTask(SubgraphTask):
    """Nodes of one graph."""

    noun = "nodes"

    def single(self, graphs: object, index: object) -> bool:
        return is_number(index)

    def roots(self, index: Index | None, graph: Data) -> Tensor:
        return nodes_of(index, int(graph.num_nodes or 0))

    def errors(self, roots: Tensor, graph: Data) -> dict[int, GraphError]:
        return node_errors(roots, int(graph.num_nodes or 0))

    def trial_graphs(self, graphs: list[Data], index: Index | None) -> list[Data]:
        return graphs

    def hops(self, split: SplitModel, graphs: list[Data], given: int | None = None) -> int:
        graph = self.only(graphs)
        nodes = probe_nodes(graph)
        return self.measured_hops(split, graph, nodes, split.run(graph).output[nodes], given)

    def read(self, split: SplitModel, graph: Data, index: int | Pair) -> Tensor:
        return split.run(graph).output[[index]]

    def whole_graph(self, split: SplitModel, graph: Data) -> WholeGraph:
        with torch.no_grad():
            output = split.run(graph).output

        def read(asked: Sequence[Instance]) -> Tensor:
            return output[[one.index for one in asked]]

        return read

    def background(self, graphs: list[Data], index: Index | None, seed: int) -> list[Data]:
        return graphs
