"""What is asked about, task by task: graphs, nodes of one graph, or links between its nodes.

asked       the instances that an index names, one after the other
shown       graphs on which a model is tried out: its output has a row for each instance in them
few         an index of some of them
hops        how far a model looks from an instance, measured, or checked where it is given
overall     what a model says of instances where they are, not in their computation graphs
surrounding graphs in which every instance is seen, for boundaries and regions
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from numbers import Integral

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.core.search import Evaluate
from rcexplainer.errors import GraphError, RCExplainerError
from rcexplainer.gnn.forward import Task
from rcexplainer.gnn.graph_checks import check_graph
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.masking import delete_edges
from rcexplainer.gnn.split import SplitModel
from rcexplainer.tasks.computation_graph import (
    Asked,
    Index,
    Pair,
    Questions,
    named_nodes,
    named_pairs,
    pair_index,
    wrong_nodes,
    wrong_pairs,
)
from rcexplainer.tasks.interference import COPIES, check_interference
from rcexplainer.tasks.receptive_field import apart, probe_nodes, receptive_hops

log = logging.getLogger(__name__)

Check = Callable[[Data, str], None]
SHOWN, SURROUNDING = 64, 10_000  # pairs on which a model is tried out; pairs of each kind that regions are made of


class Subject(ABC):
    """One kind of instance."""

    @abstractmethod
    def single(self, graphs: object, index: object) -> bool:
        """Whether one instance is asked about, not a list of them."""

    @abstractmethod
    def asked(
        self, graphs: Iterable[Data | Exception], index: Index | None, hops: int, check: Check
    ) -> Iterator[Asked | Exception]:
        """The instances; what cannot be asked about is an error in its place."""

    @abstractmethod
    def shown(self, graphs: list[Data], index: Index | None) -> list[Data]: ...

    @abstractmethod
    def hops(self, split: SplitModel, shown: list[Data], given: int | None = None) -> int: ...

    def overall(self, split: SplitModel, graph: Data) -> Callable[[list[Asked]], Tensor] | None:
        """Instances of this graph → output [n, C]; None where instances are graphs themselves."""
        return None

    def alone(self, asked: Sequence[Asked], instances: Instances) -> Evaluate:
        """(positions [v], units removed) → log p [v, C]: these instances where they really are, each in a run of its
        own, with nothing beside it."""
        return instances.alone().log_probs

    @abstractmethod
    def surrounding(self, graphs: list[Data], index: Index | None, seed: int) -> list[Data]: ...

    def few(self, graphs: list[Data], index: Index | None, most: int, seed: int) -> Index | None:
        """An index of at most so many instances, drawn at random before any of them is made; of graphs, which are
        there already, as it is."""
        return index

    def instances(self, graphs: list[Data], index: Index | None, hops: int) -> list[Data]:
        """The instances of graphs to learn from: one that is unsound is an error."""
        found: list[Data] = []
        for one in self.asked(graphs, index, hops, check_graph):
            if isinstance(one, Exception):
                raise one
            found.append(one.instance)
        return found


class GraphSubject(Subject):
    """Graphs as they are."""

    def single(self, graphs: object, index: object) -> bool:
        return isinstance(graphs, Data) and not isinstance(graphs, Batch)

    def asked(
        self, graphs: Iterable[Data | Exception], index: Index | None, hops: int, check: Check
    ) -> Iterator[Asked | Exception]:
        if index is not None:
            raise RCExplainerError("index chooses nodes or links; of a graph task choose the graphs themselves")
        return (one if isinstance(one, Exception) else Asked(one, one) for one in graphs)

    def instances(self, graphs: list[Data], index: Index | None, hops: int) -> list[Data]:
        self.asked(graphs, index, hops, check_graph)
        return graphs

    def shown(self, graphs: list[Data], index: Index | None) -> list[Data]:
        return graphs

    def hops(self, split: SplitModel, shown: list[Data], given: int | None = None) -> int:
        return 0

    def surrounding(self, graphs: list[Data], index: Index | None, seed: int) -> list[Data]:
        return graphs


class _Within(Subject):
    """Instances within one graph: they are its computation graphs."""

    noun: str

    @abstractmethod
    def named(self, index: Index | None, graph: Data) -> Tensor:
        """The roots of the instances: nodes [n] or pairs [n, 2]."""

    @abstractmethod
    def wrong(self, roots: Tensor, graph: Data) -> dict[int, GraphError]:
        """What is wrong with single ones of them, by their places."""

    @abstractmethod
    def read(self, split: SplitModel, graph: Data, index: int | Pair) -> Tensor:
        """The model's output [1, C] for one instance of a whole graph."""

    def alone(self, asked: Sequence[Asked], instances: Instances) -> Evaluate:
        """In the whole graph, from which the edges are really gone."""
        split = instances.split

        @torch.no_grad()
        def log_probs(ids: Tensor, removed: Tensor) -> Tensor:
            rows: list[Tensor] = []
            start = 0
            for place in ids.tolist():
                one, (_, units) = asked[place], instances[ids.new_tensor([place])]
                gone = units.to_edges(removed[start : start + len(units)], False)
                start += len(units)
                assert one.edge_ids is not None  # an instance within a graph
                assert one.index is not None
                columns = torch.zeros(one.graph.num_edges, dtype=torch.bool)
                columns[one.edge_ids[gone.cpu()]] = True
                left = delete_edges(one.graph, columns.to(gone.device))
                rows.append(self.read(split, left, one.index))
            return split.log_probs(torch.cat(rows))

        return log_probs

    def measured(self, split: SplitModel, graph: Data, roots: Tensor, wanted: Tensor, given: int | None) -> int:
        """The hops, and the check that computation graphs that far can be run side by side."""
        hops = receptive_hops(split, graph, roots, wanted, given)
        asked = list(Questions(graph, hops)(roots[:COPIES]))
        instances = Instances(split, [one.instance for one in asked])
        check_interference(instances, self.alone(asked, instances), apart)
        return hops

    def asked(
        self, graphs: Iterable[Data | Exception], index: Index | None, hops: int, check: Check
    ) -> Iterator[Asked | Exception]:
        whole = self._whole(list(graphs))
        check(whole, "the graph")
        roots = self.named(index, whole)
        errors = self.wrong(roots, whole)
        sound = torch.tensor([place not in errors for place in range(len(roots))])
        found = Questions(whole, hops)(roots[sound]) if bool(sound.any()) else iter(())
        return (errors[place] if place in errors else next(found) for place in range(len(roots)))

    def few(self, graphs: list[Data], index: Index | None, most: int, seed: int) -> Index | None:
        roots = self.named(index, self._whole(graphs))
        if len(roots) <= most:
            return index
        log.warning("%d of %d %s are drawn to learn from: teacher_limit says how many", most, len(roots), self.noun)
        return roots[torch.randperm(len(roots), generator=torch.Generator().manual_seed(seed))[:most].sort().values]

    def _whole(self, graphs: list[Data] | list[Data | Exception]) -> Data:
        if len(graphs) != 1:
            raise GraphError(f"{self.noun} are explained in one graph at a time, got {len(graphs)} graphs")
        if isinstance(graphs[0], Exception):
            raise graphs[0]
        return graphs[0]


class NodeSubject(_Within):
    noun = "nodes"

    def single(self, graphs: object, index: object) -> bool:
        return _single_number(index)

    def named(self, index: Index | None, graph: Data) -> Tensor:
        return named_nodes(index, int(graph.num_nodes or 0))

    def wrong(self, roots: Tensor, graph: Data) -> dict[int, GraphError]:
        return wrong_nodes(roots, int(graph.num_nodes or 0))

    def shown(self, graphs: list[Data], index: Index | None) -> list[Data]:
        return graphs

    def hops(self, split: SplitModel, shown: list[Data], given: int | None = None) -> int:
        graph = self._whole(shown)
        nodes = probe_nodes(graph)
        return self.measured(split, graph, nodes, split.run(graph).output[nodes], given)

    def read(self, split: SplitModel, graph: Data, index: int | Pair) -> Tensor:
        return split.run(graph).output[[index]]

    def overall(self, split: SplitModel, graph: Data) -> Callable[[list[Asked]], Tensor]:
        output = split.run(graph).output
        return lambda asked: output[[one.index for one in asked]]

    def surrounding(self, graphs: list[Data], index: Index | None, seed: int) -> list[Data]:
        return graphs


class LinkSubject(_Within):
    noun = "links"

    def single(self, graphs: object, index: object) -> bool:
        return isinstance(index, tuple) and len(index) == 2 and all(_single_number(end) for end in index)

    def named(self, index: Index | None, graph: Data) -> Tensor:
        return named_pairs(index, graph)

    def wrong(self, roots: Tensor, graph: Data) -> dict[int, GraphError]:
        return wrong_pairs(roots, graph)

    def shown(self, graphs: list[Data], index: Index | None) -> list[Data]:
        """The graph with some of the pairs; never as many as it has nodes, so that rows of pairs can be told from
        rows of nodes."""
        graph = self._whole(graphs)
        pairs = _kinds(graph, index, SHOWN, seed=0)[0]
        return [with_pairs(graph, pairs[:-1] if len(pairs) == graph.num_nodes else pairs)]

    def hops(self, split: SplitModel, shown: list[Data], given: int | None = None) -> int:
        """Also of pairs of the nodes with the smallest and the largest degrees: those named may have little around."""
        graph = self._whole(shown)
        nodes = probe_nodes(graph)
        pairs = torch.cat([graph.edge_label_index.t(), torch.stack([nodes[:-1], nodes[1:]], 1)])
        return self.measured(split, graph, pairs, split.run(with_pairs(graph, pairs)).output, given)

    def read(self, split: SplitModel, graph: Data, index: int | Pair) -> Tensor:
        return split.run(with_pairs(graph, torch.tensor([index]))).output

    def overall(self, split: SplitModel, graph: Data) -> Callable[[list[Asked]], Tensor]:
        return lambda asked: split.run(with_pairs(graph, torch.tensor([one.index for one in asked]))).output

    def surrounding(self, graphs: list[Data], index: Index | None, seed: int) -> list[Data]:
        graph = self._whole(graphs)
        pairs = torch.cat(_kinds(graph, index, SURROUNDING, seed)).unique(dim=0)
        return [with_pairs(graph, pairs)]


def _kinds(graph: Data, index: Index | None, most: int, seed: int) -> list[Tensor]:
    """Pairs of nodes, at most so many of each kind: those asked about or labelled (if any), random ones, edges."""
    generator = torch.Generator().manual_seed(seed)
    named = [] if index is None and "edge_label_index" not in graph else [pair_index(index, graph)]
    random = torch.randint(int(graph.num_nodes or 0), (most, 2), generator=generator)
    proper = [kind[kind[:, 0] != kind[:, 1]] for kind in (*named, random, graph.edge_index.t().cpu())]
    return [kind[torch.randperm(len(kind), generator=generator)[:most]] for kind in proper]


def _single_number(value: object) -> bool:
    """Whether this is one node: a Python or numpy whole number, or a tensor that is one."""
    return isinstance(value, Integral) or (isinstance(value, Tensor) and value.dim() == 0)


SUBJECTS: dict[Task, Subject] = {"graph": GraphSubject(), "node": NodeSubject(), "link": LinkSubject()}


def with_pairs(graph: Data, pairs: Tensor) -> Data:
    """The graph asking about these pairs [n, 2]; the caller's own object stays as it is."""
    asking = copy(graph)
    asking.edge_label_index = pairs.t().contiguous().to(graph.edge_index.device)
    if "edge_label" in asking:
        del asking.edge_label  # of other pairs
    return asking
