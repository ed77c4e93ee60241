"""A neighbourhood wider than the computation graph, in the place of a whole graph that cannot be run.

Twice the hops, or as many more than the computation graph as the bound on edges allows. If the model gives the same
answer there, nothing beyond its computation graph has a say in it, as far as was looked.
"""

import torch
from torch import Tensor

from rcexplainer.errors import HubError
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.split import SplitModel
from rcexplainer.sources import GraphSource
from rcexplainer.tasks.computation_graph import ComputationGraphs, Instance

WIDE_EDGES = 1 << 18  # edges that are read for a wide neighbourhood at most


def wide_neighbourhood(one: Instance, source: GraphSource, hops: int) -> tuple[Instance, int]:
    """The widest neighbourhood within the bound.

    Args:
        one: An instance of the graph, with a computation graph of `hops` hops.
        source: The graph.
        hops: How far computation graphs reach.

    Returns:
        The neighbourhood as an instance, and how far it reaches: `hops` if no wider one is within the bound.
    """
    for far in range(2 * hops, hops, -1):
        found = next(ComputationGraphs(source, far, WIDE_EDGES)(torch.tensor([one.index])))
        if not isinstance(found, HubError):
            return found, far
    return one, hops


def output_without(split: SplitModel, one: Instance, columns: Tensor) -> Tensor:
    """The model's output [1, C] for an instance, run alone, without some columns of the whole graph.

    Args:
        split: The model.
        one: An instance within a graph.
        columns: [k] the columns to delete, on the CPU; each is an edge of the instance.
    """
    assert one.edge_ids is not None  # an instance within a graph
    gone = torch.zeros(len(one.edge_ids), dtype=torch.bool)
    gone[torch.searchsorted(one.edge_ids, columns)] = True
    return split.run(delete_edges(one.computation, gone.to(one.computation.edge_index.device))).output
