"""The checks of `gnn.graph_checks` for many graphs at once, on their columns.

They say whether all graphs are sound; which one is not, and why, is then found out one by one.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import GraphError
from rcexplainer.gnn.columns import attributes_of
from rcexplainer.gnn.graph_checks import GraphKind, check_graphs, check_labels
from rcexplainer.gnn.graph_store import GraphStore


def check_all(graphs: Sequence[Data]) -> None:
    """As `check_graphs`, which is asked only if something is wrong.

    Raises:
        GraphError: Naming the first graph that is malformed or unlike the first one.
    """
    names = attributes_of(graphs[0]).keys()
    if len(graphs) > 1 and all(attributes_of(graph).keys() == names for graph in graphs):
        try:
            store = GraphStore(graphs)
            labels = store.columns.get("y")
            check_labels(None if labels is None else labels.values)
            if (labels is not None or "y" not in names) and all_sound(store, GraphKind.of(graphs[0]), None):
                return
        except Exception:  # noqa: BLE001  graphs that cannot be joined, or labels that are refused: see below
            pass
    check_graphs(graphs)


def all_sound(store: GraphStore, kind: GraphKind, device: torch.device | None) -> bool:
    """Whether every graph passes `check_graph`, `check_devices` and `GraphKind.check`.

    Args:
        store: The graphs.
        kind: What they must be like.
        device: Where they must be; None: anywhere.
    """
    columns, edges = store.columns, store.columns["edge_index"]
    values = edges.values
    if values.dim() != 2 or values.size(0) != 2 or values.dtype != torch.long:
        return False
    if device is not None and store.source_devices != {device}:
        return False
    if not all(column.alike for column in columns.values()):
        return False
    if any(
        columns[name].ptr is not store.edge_ptr
        for name in ("edge_attr", "edge_weight", "edge_fixed")
        if name in columns
    ):
        return False
    if "x" in columns and columns["x"].ptr is not store.node_ptr:
        return False
    try:
        kind.check(Data(**{key: column.values for key, column in columns.items()}), "", "")
    except GraphError:
        return False
    limit = store.num_nodes.repeat_interleave(store.edge_ptr.diff(), output_size=values.size(1))
    truths: list[Tensor] = [(store.num_nodes > 0).all(), ((values >= 0) & (values < limit)).all()]
    for key, column in columns.items():
        if key != "y" and column.values.is_floating_point():
            truths.append(column.values.isfinite().all())
    return bool(torch.stack(truths).all())  # one wait for the device
