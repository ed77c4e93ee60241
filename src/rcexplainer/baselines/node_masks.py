"""Copies of instances with some nodes hidden, in batches for the model.

zero_filled   hidden nodes have features 0; their edges stay and still carry messages
cut_off       all edges of a hidden node are deleted; nodes keep their features
"""

from collections.abc import Iterator

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.instances import Instances


def zero_filled(instances: Instances, ids: Tensor, hidden: Tensor) -> Iterator[Data]:
    """Hide nodes by setting their features to 0.

    Args:
        instances: The instances.
        ids: Which of them are copied, [v].
        hidden: Which nodes of the copies are hidden, [Σ their nodes], boolean.

    Yields:
        Batches of copies, in the order of `ids`.

    Raises:
        GraphError: The graphs have no features.
    """
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
    """Hide nodes by deleting their edges.

    Args:
        instances: The instances.
        ids: Which of them are copied, [v].
        hidden: Which nodes of the copies are hidden, [Σ their nodes], boolean.

    Yields:
        Batches of copies, in the order of `ids`.
    """
    start = 0
    for piece in instances.chunks(ids):
        batch, units = instances[piece]
        size = int(batch.num_nodes or 0)
        gone = hidden[start : start + size].to(units.owner.device)
        start += size
        yield delete_edges(batch, units.to_edges(gone[units.pair].any(0), False))


def read_at(instances: Instances, place: int) -> list[int]:
    """The nodes at which an instance is read: the explained node, both ends of a link, none for a graph."""
    keys = {"node": "root_index", "link": "edge_label_index"}
    key = keys.get(instances.split.task)
    return instances.graphs[place][key].flatten().tolist() if key else []
