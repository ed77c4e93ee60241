"""How far a model looks: the smallest k for which it says the same of a node, or a pair of nodes, in its k-hop
computation graph as in the whole graph.

Measured on real nodes, not counted in modules: one layer may pass messages ten times (APPNP), or read the degrees of
nodes that lie one hop farther out (GCN's normalisation).
"""

import logging

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.split import SplitModel
from rcexplainer.gnn.trial import SAME
from rcexplainer.tasks.computation_graph import Questions

log = logging.getLogger(__name__)

PROBES = 24
FARTHEST = 32


@torch.no_grad()
def receptive_hops(split: SplitModel, graph: Data, roots: Tensor, wanted: Tensor, given: int | None = None) -> int:
    """Measure k on a few nodes, or pairs of nodes, of which the model says `wanted` in the whole graph; an error if it
    looks farther than any computation graph here, or than the k that is `given`."""
    for hops in range(1, FARTHEST + 1) if given is None else (given,):
        asked = [one.instance for one in Questions(graph, hops)(roots)]
        worst = float(apart(_run(split, asked), wanted).max())
        if worst <= SAME:
            log.info("the model looks %d hops far", hops)
            return hops
    off = f"in its {hops}-hop computation graph the model says something else of an instance than in the whole graph"
    if given is not None:
        raise GraphError(f"{off} (off by {worst:.2g}): it looks farther; give more hops, or none to have them measured")
    raise GraphError(
        f"{off} (off by {worst:.2g}): it reads the whole graph (a normalisation or pooling over all nodes, say), "
        f"answers differently every time, or passes messages more than {FARTHEST} times: then give hops=…"
    )


def _run(split: SplitModel, asked: list[Data]) -> Tensor:
    try:
        return split.run(asked).output
    except (IndexError, RuntimeError) as error:
        raise GraphError(
            f"the model runs on the whole graph but not on a part of it: {error}. A table with a row for each node "
            "does not fit a part: let the model look its rows up by an attribute of the nodes, such as "
            "n_id=torch.arange(num_nodes)"
        ) from error


def apart(found: Tensor, wanted: Tensor) -> Tensor:
    """[n] how far the rows of two outputs [n, C] are apart, relative to the size of what is wanted."""
    return (found - wanted).abs().flatten(1).amax(1) / wanted.abs().max().clamp_min(1e-6)


def probe_nodes(graph: Data) -> Tensor:
    """A few nodes that have edges, from the smallest degree to the largest."""
    nodes = int(graph.num_nodes or 0)
    degree = torch.bincount(graph.edge_index[1], minlength=nodes)
    order = degree.argsort(stable=True)
    order = order[degree[order] > 0]
    if not len(order):
        raise GraphError("the graph has no edges: there is nothing to explain")
    places = torch.linspace(0, len(order) - 1, min(PROBES, len(order))).round().long()
    return order[places.to(order.device)]
