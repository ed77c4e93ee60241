"""The receptive field of a model: the smallest k for which it gives the same output for a node, or a pair of nodes, in
its k-hop computation graph as in the whole graph.

Measured on real nodes, not counted in modules: one layer may pass messages ten times (APPNP), or read the degrees of
nodes one hop farther out (GCN's normalisation).
"""

import logging

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError, RCExplainerError, SplitError
from rcexplainer.gnn.split import SplitModel
from rcexplainer.gnn.trial import SAME
from rcexplainer.sources import MemoryGraph
from rcexplainer.tasks.computation_graph import ComputationGraphs, Instance

log = logging.getLogger(__name__)

PROBES = 24
FARTHEST = 32


@torch.no_grad()
def receptive_hops(split: SplitModel, graph: Data, roots: Tensor, output: Tensor, given: int | None = None) -> int:
    """Measure the receptive field on a few nodes or pairs of nodes.

    Args:
        split: The model.
        graph: The whole graph.
        roots: Nodes [n] or pairs of nodes [n, 2].
        output: What the model returns for them in the whole graph, [n, C].
        given: A number of hops to check instead of measuring it.

    Returns:
        The number of hops.

    Raises:
        GraphError: The receptive field exceeds `given`, or every computation graph that was tried.
    """
    whole = MemoryGraph(graph)  # its edges are sorted once
    for hops in range(1, FARTHEST + 1) if given is None else (given,):
        graphs = [one.computation for one in ComputationGraphs(whole, hops)(roots) if isinstance(one, Instance)]
        found = _run(split, graphs)
        if found.shape != output.shape:
            raise GraphError(
                f"the model returns {output.size(1)} columns on the whole graph, but {found.size(1)} on a part of it: "
                "it needs the same classes for every graph"
            )
        worst = float(relative_gap(found, output).max())
        if worst <= SAME:
            log.info("the receptive field of the model is %d hops", hops)
            return hops
    off = (
        f"the model answers differently in a {hops}-hop computation graph than in the whole graph (off by {worst:.2g})"
    )
    if given is not None:
        raise GraphError(f"{off}: its receptive field is larger; give more hops, or none to have them measured")
    raise GraphError(
        f"{off}: it reads the whole graph (a normalisation or pooling over all nodes, say), answers differently every "
        f"time, or passes messages more than {FARTHEST} times: then give hops=…"
    )


def _run(split: SplitModel, graphs: list[Data]) -> Tensor:
    try:
        return split.run(graphs).output
    except Exception as error:  # whatever a model raises
        if isinstance(error, RCExplainerError) and not isinstance(error, SplitError):
            raise
        said = str(error).partition(";")[0]  # what follows is advice for a model that never ran
        raise GraphError(
            f"the model runs on the whole graph but not on a part of it: {said}. An embedding table with a row for "
            "each node does not fit a part: let the model look its rows up by a node attribute such as "
            "n_id=torch.arange(num_nodes)"
        ) from error


def relative_gap(found: Tensor, wanted: Tensor) -> Tensor:
    """[n] the largest difference of each row of two outputs [n, C], relative to the largest value wanted."""
    return (found - wanted).abs().flatten(1).amax(1) / wanted.abs().max().clamp_min(1e-6)


def probe_nodes(graph: Data) -> Tensor:
    """A few nodes with edges, from the smallest degree to the largest.

    Raises:
        GraphError: The graph has no edges.
    """
    nodes = int(graph.num_nodes or 0)
    degree = torch.bincount(graph.edge_index[1], minlength=nodes)
    order = degree.argsort(stable=True)
    order = order[degree[order] > 0]
    if not len(order):
        raise GraphError("the graph has no edges: there is nothing to explain")
    places = torch.linspace(0, len(order) - 1, min(PROBES, len(order))).round().long()
    return order[places.to(order.device)]
