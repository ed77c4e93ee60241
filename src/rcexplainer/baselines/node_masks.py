"""Copies of instances in which some nodes are hidden, in batches that the model can be run on.

zero_filled   hidden nodes have the features 0; their edges stay, and go on carrying what their other ends know
cut_off       every edge of a hidden node is deleted; nodes keep their features
"""

from collections.abc import Iterator

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.instances import Instances


def zero_filled(instances: Instances, ids: Tensor, hidden: Tensor) -> Iterator[Data]:
    """Copies of the instances `ids` [v], with nodes hidden [Σ their nodes]."""
    start = 0
    for piece in instances.chunks(ids):
        batch = instances.store[piece]
        if not isinstance(batch.x, Tensor):
            raise GraphError("this method hides node features, and the graphs have none: give them an `x`")
        gone = hidden[start : start + len(batch.x)].to(batch.x.device)
        start += len(batch.x)
        batch.x = batch.x.masked_fill(gone.view(-1, *[1] * (batch.x.dim() - 1)), 0)
        yield batch


def cut_off(instances: Instances, ids: Tensor, hidden: Tensor) -> Iterator[Data]:
    """Copies of the instances `ids` [v], with nodes hidden [Σ their nodes]."""
    start = 0
    for piece in instances.chunks(ids):
        batch, units = instances[piece]
        size = int(batch.num_nodes or 0)
        gone = hidden[start : start + size].to(units.owner.device)
        start += size
        yield delete_edges(batch, units.to_edges(gone[units.pair].any(0), False))


def read_at(instances: Instances, place: int) -> list[int]:
    """The nodes at which an instance is read: the one or two asked about, of a graph none in particular."""
    keys = {"node": "root_index", "link": "edge_label_index"}
    key = keys.get(instances.split.task)
    return instances.graphs[place][key].flatten().tolist() if key else []
