"""A user's graphs as a dataset: no labels are needed, and its split is the same on every machine.

The split has 80 % training, 10 % validation and 10 % test instances. It is stratified by `y` (for links `edge_label`)
where every instance has a class there, and for nodes it is that of `train_mask`, `val_mask` and `test_mask` where the
graph has them.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets import GraphDataset, Split, stratified_split
from rcexplainer.errors import GraphError
from rcexplainer.gnn.forward import TaskName

MASKS = ("train_mask", "val_mask", "test_mask")


def own_dataset(name: str, graphs: Sequence[Data], task: TaskName, seed: int = 0) -> GraphDataset:
    """Make a dataset of a user's graphs.

    Args:
        name: What to call it.
        graphs: At least one graph; for nodes and links exactly one.
        task: What the instances are.
        seed: Random seed of the split.

    Returns:
        The dataset, without class names.

    Raises:
        GraphError: There are several graphs, and instances are nodes or links.
    """
    if task != "graph" and len(graphs) != 1:
        raise GraphError(
            f"{task}s are explained in one graph, {name} returned {len(graphs)}; for graphs as a whole use task graph"
        )
    return GraphDataset(name, task, tuple(graphs), _split(graphs, task, seed), class_names=())


def all_instances(data: GraphDataset) -> Tensor:
    """Every instance that positions of the split count: graphs or nodes [n], or pairs of nodes [n, 2].

    Args:
        data: A dataset; the pairs of a link set are those of `edge_label_index`, none where the graph has no such.
    """
    if data.task == "graph":
        return torch.arange(len(data))
    if data.task == "node":
        return torch.arange(int(data.graph.num_nodes or 0))
    pairs = data.graph.get("edge_label_index")
    return pairs.t().cpu() if isinstance(pairs, Tensor) else torch.empty(0, 2, dtype=torch.long)


def _split(graphs: Sequence[Data], task: TaskName, seed: int) -> Split:
    if task == "node" and (masked := _masked(graphs[0])) is not None:
        return masked
    if task == "graph":
        count, found = len(graphs), [graph.get("y") for graph in graphs]
    elif task == "node":
        count, found = int(graphs[0].num_nodes or 0), [graphs[0].get("y")]
    else:
        pairs = graphs[0].get("edge_label_index")
        count, found = (pairs.size(1) if isinstance(pairs, Tensor) else 0), [graphs[0].get("edge_label")]
    return stratified_split(_classes(found, count), seed)


def _masked(graph: Data) -> Split | None:
    """The split of the graph's own masks, if it has all three."""
    masks = [graph.get(name) for name in MASKS]
    found = [mask for mask in masks if isinstance(mask, Tensor) and mask.dtype == torch.bool and mask.dim() == 1]
    return Split(*(mask.cpu().nonzero().flatten() for mask in found)) if len(found) == len(MASKS) else None


def _classes(found: Sequence[object], count: int) -> Tensor:
    """One class per instance [count]; all zero where labels are missing or are no classes."""
    labels = [value.reshape(-1).cpu() for value in found if isinstance(value, Tensor)]
    if len(labels) == len(found) and not any(label.is_floating_point() for label in labels):
        together = torch.cat(labels) if labels else torch.empty(0)
        if len(together) == count:
            return together
    return torch.zeros(count, dtype=torch.long)
