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
from rcexplainer.gnn.probing import SAME
from rcexplainer.gnn.split import SplitModel
from rcexplainer.tasks.questions import Questions

log = logging.getLogger(__name__)

PROBES = 24
FARTHEST = 32


@torch.no_grad()
def receptive_hops(split: SplitModel, graph: Data, roots: Tensor, wanted: Tensor) -> int:
    """Measure k on a few nodes, or pairs of nodes, of which the model says `wanted` in the whole graph; an error if it
    looks farther than any computation graph here."""
    size = wanted.abs().max().clamp_min(1e-6)
    for hops in range(1, FARTHEST + 1):
        asked = [one.instance for one in Questions(graph, hops)(roots)]
        worst = (split.run(asked).output - wanted).abs().max() / size
        if bool(worst <= SAME):
            log.info("the model looks %d hops far", hops)
            return hops
    raise GraphError(
        f"the model says something else of an instance in its {FARTHEST}-hop computation graph than in the whole graph "
        f"(off by {float(worst):.2g}): it reads the whole graph, or answers differently every time"
    )


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
