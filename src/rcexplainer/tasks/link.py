"""Link prediction: an instance is the computation graph of two nodes together, read at that pair."""

from collections.abc import Iterable, Sequence
from copy import copy

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
from rcexplainer.tasks.index import Index, Pair, is_number, pair_errors, pairs_of
from rcexplainer.tasks.receptive_field import probe_nodes
from rcexplainer.tasks.subgraph_task import SubgraphTask

TRIAL_PAIRS, BACKGROUND_PAIRS = 64, 10_000  # pairs on which a model is tried; pairs of each kind behind the regions


class LinkTask(SubgraphTask):
    """Pairs of nodes of one graph."""

    noun = "links"

    def single(self, graphs: object, index: object) -> bool:
        return isinstance(index, tuple) and len(index) == 2 and all(is_number(end) for end in index)

    def roots(self, index: Index | None, graph: AnyGraph) -> Tensor:
        return pairs_of(index, graph)

    def errors(self, roots: Tensor, graph: AnyGraph) -> dict[int, GraphError]:
        return pair_errors(roots, graph)

    def trial_graphs(self, graphs: Sequence[AnyGraph], index: Index | None) -> list[Data]:
        """The graph with some pairs, never as many as nodes: rows of pairs and of nodes must be distinguishable."""
        graph = self.only(graphs)
        pairs = self.kinds(graph, index, TRIAL_PAIRS, seed=0)[0]
        if isinstance(graph, GraphSource):
            part, nodes = excerpt(graph, pairs.flatten())
            graph, pairs = part, torch.searchsorted(nodes, pairs)
        return [with_pairs(graph, pairs[:-1] if len(pairs) == graph.num_nodes else pairs)]

    def hops(self, split: SplitModel, graphs: list[Data], given: int | None = None) -> int:
        """Measured also on pairs of nodes with small and large degrees: the given pairs may have few neighbours."""
        (graph,) = graphs
        nodes = probe_nodes(graph)
        pairs = torch.cat([graph.edge_label_index.t(), torch.stack([nodes[:-1], nodes[1:]], 1)])
        return self.measured_hops(split, graph, pairs, split.run(with_pairs(graph, pairs)).output, given)

    def read(self, split: SplitModel, graph: Data, index: int | Pair) -> Tensor:
        return split.run(with_pairs(graph, torch.tensor([index]))).output

    def whole_answers(self, split: SplitModel, graph: Data) -> WholeGraph:
        @torch.no_grad()
        def read(asked: Sequence[Instance]) -> WholeAnswers:
            output = split.run(with_pairs(graph, torch.tensor([one.index for one in asked]))).output
            return WholeAnswers(torch.arange(len(asked)), output)

        return read

    def background(self, graphs: Sequence[AnyGraph], index: Index | None, hops: int, seed: int) -> Iterable[Data]:
        graph = self.only(graphs)
        pairs = torch.cat(self.kinds(graph, index, BACKGROUND_PAIRS, seed)).unique(dim=0)
        if not isinstance(graph, GraphSource):
            return [with_pairs(graph, pairs)]
        return BackgroundSample(graph, pairs, None, hops)

    def kinds(self, graph: AnyGraph, index: Index | None, limit: int, seed: int) -> list[Tensor]:
        """Pairs of nodes, at most `limit` of each kind: the given or labelled ones (if any), random ones, edges."""
        generator = torch.Generator().manual_seed(seed)
        given: list[Tensor] = []
        if index is not None or graph.get("edge_label_index") is not None:
            given = [self.sound(index, graph)]
        random = torch.randint(int(graph.num_nodes or 0), (limit, 2), generator=generator)
        proper = [kind[kind[:, 0] != kind[:, 1]] for kind in (*given, random, edges_of(graph, limit, seed))]
        return [kind[torch.randperm(len(kind), generator=generator)[:limit]] for kind in proper]


def edges_of(graph: AnyGraph, limit: int, seed: int) -> Tensor:
    """Edges as pairs of nodes [n, 2]: all of a graph in memory, at most `limit` of another, drawn at random."""
    if isinstance(graph, GraphSource):
        return graph.adjacency.ends(drawn(graph.num_edges, limit, seed))
    return graph.edge_index.t().cpu()


def with_pairs(graph: Data, pairs: Tensor) -> Data:
    """A copy of the graph that carries these pairs [n, 2] as `edge_label_index`; the caller's object is unchanged."""
    asking = copy(graph)
    asking.edge_label_index = pairs.t().contiguous().to(graph.edge_index.device)
    if "edge_label" in asking:
        del asking.edge_label  # labels of other pairs
    return asking
