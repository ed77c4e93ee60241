"""A sample of instances that boundaries and regions come from, for a graph that is not in memory."""

import logging
from collections.abc import Iterator

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError, HubError
from rcexplainer.sources import GraphSource
from rcexplainer.tasks.computation_graph import ComputationGraphs

log = logging.getLogger(__name__)


class BackgroundSample:
    """Computation graphs of some nodes or pairs, made anew in every pass, so that few are in memory at a time.

    Args:
        source: The graph.
        roots: Nodes [n], or pairs [n, 2].
        total: The number that they were drawn from, for the message; None: they are no plain sample.
        hops: How far computation graphs reach.
    """

    def __init__(self, source: GraphSource, roots: Tensor, total: int | None, hops: int) -> None:
        self.source, self.roots, self.hops = source, roots, hops
        if total is None:
            log.warning("boundaries and regions come from %d pairs: given ones, edges and random pairs", len(roots))
        elif len(roots) < total:
            log.warning("boundaries and regions come from a random %d of %d nodes", len(roots), total)

    def __iter__(self) -> Iterator[Data]:
        found = 0
        for one in ComputationGraphs(self.source, self.hops)(self.roots):
            if not isinstance(one, HubError):
                found += 1
                yield one.computation
        if not found:
            raise GraphError(f"no computation graph is within {self.source.max_edges} edges: open it with more")
