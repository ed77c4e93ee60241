"""Nodes and links: instances within one graph, explained in their computation graphs."""

import logging
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.search import Evaluate
from rcexplainer.core.verification import Interference
from rcexplainer.errors import GraphError
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.instances import ALONE, Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.gnn.trial import SAME
from rcexplainer.tasks.base import Check, Task, WholeGraph
from rcexplainer.tasks.computation_graph import ComputationGraphs, Instance
from rcexplainer.tasks.index import Index, Pair
from rcexplainer.tasks.interference import COPIES, check_interference
from rcexplainer.tasks.receptive_field import receptive_hops, relative_gap

log = logging.getLogger(__name__)


class SubgraphTask(Task):
    """What node and link tasks share."""

    noun: str  # in messages: nodes, links

    @abstractmethod
    def roots(self, index: Index | None, graph: Data) -> Tensor:
        """The roots of the instances: nodes [n] or pairs [n, 2]."""

    @abstractmethod
    def errors(self, roots: Tensor, graph: Data) -> dict[int, GraphError]:
        """What is wrong with single roots, by position."""

    @abstractmethod
    def read(self, split: SplitModel, graph: Data, index: int | Pair) -> Tensor:
        """The model's output [1, C] for one instance of a whole graph."""

    def instances(
        self, graphs: Iterable[Data | Exception], index: Index | None, hops: int, check: Check
    ) -> Iterator[Instance | Exception]:
        graph = self.only(list(graphs))
        check(graph, "the graph")
        roots = self.roots(index, graph)
        errors = self.errors(roots, graph)
        sound = torch.tensor([place not in errors for place in range(len(roots))])
        found = ComputationGraphs(graph, hops)(roots[sound]) if bool(sound.any()) else iter(())
        return (errors[place] if place in errors else next(found) for place in range(len(roots)))

    def sample(self, graphs: list[Data], index: Index | None, limit: int, seed: int) -> Index | None:
        roots = self.roots(index, self.only(graphs))
        if len(roots) <= limit:
            return index
        log.warning("a random %d of %d %s are used for training (teacher_limit)", limit, len(roots), self.noun)
        return roots[torch.randperm(len(roots), generator=torch.Generator().manual_seed(seed))[:limit].sort().values]

    def only(self, graphs: Sequence[Data | Exception]) -> Data:
        """The one graph that was given."""
        if len(graphs) != 1:
            raise GraphError(f"{self.noun} are explained in one graph at a time, got {len(graphs)} graphs")
        if isinstance(graphs[0], Exception):
            raise graphs[0]
        return graphs[0]

    def measured_hops(self, split: SplitModel, graph: Data, roots: Tensor, output: Tensor, given: int | None) -> int:
        """The receptive field, and the check that computation graphs of that size can be run side by side."""
        hops = receptive_hops(split, graph, roots, output, given)
        asked = list(ComputationGraphs(graph, hops)(roots[:COPIES]))
        instances = Instances(split, [one.computation for one in asked])
        check_interference(instances, self.alone(asked, instances))
        return hops

    def alone(self, asked: Sequence[Instance], instances: Instances) -> Evaluate:
        split = instances.split

        @torch.no_grad()
        def log_probs(ids: Tensor, removed: Tensor) -> Tensor:
            """Each instance in its whole graph, from which the edges are really gone."""
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
                rows.append(self.read(split, delete_edges(one.graph, columns.to(gone.device)), one.index))
            return split.log_probs(torch.cat(rows))

        return log_probs

    def beyond_field(
        self, asked: Sequence[Instance], instances: Instances, output: Tensor, whole: WholeGraph, hops: int
    ) -> dict[int, Exception]:
        off = relative_gap(output, whole(asked))
        places = (off > SAME).nonzero().flatten()
        if len(places) and instances.max_edges != ALONE:
            alone = instances.some(places).alone().outputs()
            mixed = relative_gap(alone, whole([asked[place] for place in places.tolist()])) <= SAME
            if bool(mixed.any()):
                raise Interference(int(mixed.sum()), len(asked), float(off.max()))
        return {
            place: GraphError(
                f"{instances.split.task} {asked[place].index}: the model answers differently in the {hops}-hop "
                f"computation graph than in the whole graph (off by {off[place]:.2g}): its receptive field here "
                f"exceeds the one measured at fit time; fit on this graph, or with hops={hops + 1} or more"
            )
            for place in places.tolist()
        }
