"""Nodes and links: instances within one graph, explained in their computation graphs.

A graph in memory is run as a whole to check the answers of computation graphs. One that is on disk or in a store is
not: a sample of instances is compared with their neighbourhoods at twice the hops instead.
"""

import logging
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.search import Evaluate
from rcexplainer.core.verification import SAMPLE, Interference
from rcexplainer.errors import GraphError, HubError
from rcexplainer.field_check import FieldCheck
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.instances import ALONE, Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.gnn.store_checks import check_all
from rcexplainer.gnn.trial import SAME
from rcexplainer.sources import AnyGraph, GraphSource
from rcexplainer.tasks.base import Check, Task, WholeAnswers, WholeGraph
from rcexplainer.tasks.computation_graph import ComputationGraphs, Instance
from rcexplainer.tasks.excerpt import drawn
from rcexplainer.tasks.index import Index, Pair
from rcexplainer.tasks.interference import COPIES, check_interference
from rcexplainer.tasks.receptive_field import receptive_hops, relative_gap
from rcexplainer.tasks.wide_neighbourhood import output_without, wide_neighbourhood

log = logging.getLogger(__name__)


class SubgraphTask(Task):
    """What node and link tasks share."""

    noun: str  # in messages: nodes, links

    @abstractmethod
    def roots(self, index: Index | None, graph: AnyGraph) -> Tensor:
        """The roots of the instances: nodes [n] or pairs [n, 2]."""

    @abstractmethod
    def errors(self, roots: Tensor, graph: AnyGraph) -> dict[int, GraphError]:
        """What is wrong with single roots, by position."""

    @abstractmethod
    def read(self, split: SplitModel, graph: Data, index: int | Pair) -> Tensor:
        """The model's output [1, C] for one instance of a whole graph."""

    @abstractmethod
    def whole_answers(self, split: SplitModel, graph: Data) -> WholeGraph:
        """What the model says of instances of a graph in memory."""

    def instances(
        self, graphs: Iterable[AnyGraph | Exception], index: Index | None, hops: int, check: Check
    ) -> Iterator[Instance | Exception]:
        graph = self.only(list(graphs))
        # Values of a graph that is not in memory are checked in the computation graphs, as they are read.
        check(graph.blank() if isinstance(graph, GraphSource) else graph, "the graph")
        roots = self.roots(index, graph)
        errors = self.errors(roots, graph)
        sound = torch.tensor([place not in errors for place in range(len(roots))])
        found = ComputationGraphs(graph, hops)(roots[sound]) if bool(sound.any()) else iter(())
        return (errors[place] if place in errors else next(found) for place in range(len(roots)))

    def sound(self, index: Index | None, graph: AnyGraph) -> Tensor:
        """The roots, all of which must be in the graph.

        Raises:
            GraphError: One is not.
        """
        roots = self.roots(index, graph)
        for error in self.errors(roots, graph).values():
            raise error
        return roots

    def training_graphs(self, graphs: Sequence[AnyGraph], index: Index | None, hops: int) -> list[Data]:
        graph = self.only(graphs)
        if not isinstance(graph, GraphSource):
            return super().training_graphs(graphs, index, hops)
        roots = self.sound(index, graph)
        cut = ComputationGraphs(graph, hops)(roots)
        found = [one.computation for one in cut if not isinstance(one, HubError)]
        if not found:
            raise GraphError(f"none of {len(roots)} {self.noun} has a computation graph within {graph.max_edges} edges")
        if len(found) < len(roots):
            log.warning(
                "%d of %d %s are left out: more than %d edges would have to be read for their computation graphs",
                len(roots) - len(found), len(roots), self.noun, graph.max_edges,
            )  # fmt: skip
        check_all(found)
        return found

    def sample(self, graphs: Sequence[AnyGraph], index: Index | None, limit: int, seed: int) -> Index | None:
        graph = self.only(graphs)
        if isinstance(graph, GraphSource) and index is None and self.noun == "nodes":
            count, found = graph.num_nodes, drawn(graph.num_nodes, limit, seed)
        else:
            roots = self.roots(index, graph)
            generator = torch.Generator().manual_seed(seed)
            count, found = len(roots), roots[torch.randperm(len(roots), generator=generator)[:limit].sort().values]
        if count <= limit:
            return index
        log.warning("a random %d of %d %s are used for training (teacher_limit)", limit, count, self.noun)
        return found

    def only(self, graphs: Sequence[AnyGraph | Exception]) -> AnyGraph:
        """The one graph that was given."""
        if len(graphs) != 1:
            raise GraphError(
                f"{self.noun} are explained in one graph at a time, got {len(graphs)} graphs: pass one of them, or "
                'task="graph" to explain graphs as a whole'
            )
        if isinstance(graphs[0], Exception):
            raise graphs[0]
        return graphs[0]

    def measured_hops(self, split: SplitModel, graph: Data, roots: Tensor, output: Tensor, given: int | None) -> int:
        """The receptive field, and the check that computation graphs of that size can be run side by side."""
        hops = receptive_hops(split, graph, roots, output, given)
        asked = [one for one in ComputationGraphs(graph, hops)(roots[:COPIES]) if isinstance(one, Instance)]
        instances = Instances(split, [one.computation for one in asked])
        check_interference(instances, self.alone(asked, instances, hops))
        return hops

    def alone(self, asked: Sequence[Instance], instances: Instances, hops: int) -> Evaluate:
        split = instances.split

        @lru_cache(SAMPLE)  # the copies of one instance come one after the other
        def around(place: int) -> Instance:
            one = asked[place]
            return wide_neighbourhood(one, one.graph, hops)[0] if isinstance(one.graph, GraphSource) else one

        def output(place: int, columns: Tensor) -> Tensor:
            """One instance in its whole graph, or in what stands for it, from which the edges are really gone."""
            one = around(place)
            if isinstance(one.graph, GraphSource):
                return output_without(split, one, columns)
            assert one.index is not None  # an instance within a graph
            gone = torch.zeros(one.graph.num_edges, dtype=torch.bool)
            gone[columns] = True
            return self.read(split, delete_edges(one.graph, gone.to(one.graph.edge_index.device)), one.index)

        @torch.no_grad()
        def log_probs(ids: Tensor, removed: Tensor) -> Tensor:
            rows: list[Tensor] = []
            start = 0
            for place in ids.tolist():
                _, units = instances[ids.new_tensor([place])]
                gone = units.to_edges(removed[start : start + len(units)], False)
                start += len(units)
                edge_ids = asked[place].edge_ids
                assert edge_ids is not None
                rows.append(output(place, edge_ids[gone.cpu()]))
            return split.log_probs(torch.cat(rows))

        return log_probs

    def whole_graph(self, split: SplitModel, graph: AnyGraph, hops: int) -> WholeGraph:
        if not isinstance(graph, GraphSource):
            return self.whole_answers(split, graph)
        source, bound = graph, graph.max_edges or 0

        @torch.no_grad()
        def read(asked: Sequence[Instance]) -> WholeAnswers:
            """A sample of the instances in wider neighbourhoods."""
            places, rows, wider = list[int](), list[Tensor](), set[int]()
            for place in drawn(len(asked), SAMPLE, seed=0).tolist():
                wide, far = wide_neighbourhood(asked[place], source, hops)
                if far > hops:
                    places.append(place)
                    rows.append(split.run(wide.computation).output)
                    wider.add(far)
            output = torch.cat(rows) if rows else torch.empty(0, split.num_classes)
            check = FieldCheck(hops, len(places), len(asked), tuple(sorted(wider)), bound)
            return WholeAnswers(torch.tensor(places, dtype=torch.long), output, check)

        return read

    def beyond_field(
        self, asked: Sequence[Instance], instances: Instances, output: Tensor, whole: WholeAnswers, hops: int
    ) -> dict[int, Exception]:
        compared = whole.places.to(output.device)
        if not len(compared):
            return {}
        off = relative_gap(output[compared], whole.output)
        wrong = (off > SAME).nonzero().flatten()
        places = compared[wrong]
        if len(places) and instances.max_edges != ALONE:
            alone = instances.some(places).alone().outputs()
            mixed = relative_gap(alone, whole.output[wrong]) <= SAME
            if bool(mixed.any()):
                raise Interference(int(mixed.sum()), len(compared), float(off.max()))
        where = "the whole graph" if whole.check is None else "a wider neighbourhood"
        errors: dict[int, Exception] = {
            place: GraphError(
                f"{instances.split.task} {asked[place].index}: the model answers differently in the {hops}-hop "
                f"computation graph than in {where} (off by {gap:.2g}): its receptive field here "
                f"exceeds the one measured at fit time; fit on this graph, or with hops={hops + 1} or more"
            )
            for place, gap in zip(places.tolist(), off[wrong].tolist(), strict=True)
        }
        if errors and whole.check is not None:  # the rest of the batch was not looked at: nothing is claimed of it
            return dict.fromkeys(range(len(asked)), next(iter(errors.values()))) | errors
        return errors
