"""How many edges are read from a graph on disk, and run through a model: counts that no other load can change."""

from copy import copy
from dataclasses import replace
from typing import Any

from torch import Tensor

from rcexplainer.datasets import MappedGraph
from rcexplainer.explainer import FittedRCExplainer
from rcexplainer.sources.adjacency import Adjacency, InEdges


class Counted:
    """Counts for one measurement.

    Attributes:
        read: Edges read from the graph that `reads` returned.
        run: Edges of all runs of the model of the explainer that `runs` returned.
    """

    def __init__(self) -> None:
        self.read, self.run = 0, 0

    def reads(self, graph: MappedGraph) -> MappedGraph:
        """The same graph, whose reads are counted."""
        plain, count = graph.adjacency, self

        class CountedAdjacency(Adjacency):
            def into(self, nodes: Tensor) -> InEdges:
                found = super().into(nodes)
                count.read += len(found.columns)
                return found

        counted = copy(graph)
        vars(counted)["adjacency"] = CountedAdjacency(plain.ptr, plain.sources, plain.columns)
        return counted

    def runs(self, fitted: FittedRCExplainer) -> FittedRCExplainer:
        """The same explainer, whose runs of the model are counted."""
        plain = fitted.split.forward

        def forward(model: Any, batch: Any, edge_weight: Tensor | None) -> Any:
            self.run += int(batch.num_edges)
            return plain(model, batch, edge_weight)

        return replace(fitted, split=replace(fitted.split, forward=forward))
