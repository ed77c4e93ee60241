"""The attributes of many graphs as columns: one long tensor for each attribute, and where each graph begins in it.

    Column.values    all graphs' values, one after the other along `dim`, numbered as in the single graph
    Column.ptr       [n + 1] where the values of each graph begin; on the CPU until a store moves it
    Column.steps     [n] what a graph adds to the values of those after it in a batch: its nodes, for `edge_index`

PyG's `collate` does the same with several Python calls a graph and attribute. Here it is one list comprehension an
attribute, where the graphs are plain `Data` with tensors; everything else goes through `collate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.data.collate import collate

# Attributes of a batch itself, which no column is made of.
OF_THE_BATCH = ("num_nodes", "batch", "ptr")


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of many graphs."""

    values: Tensor
    ptr: Tensor
    dim: int
    steps: Tensor | None  # None: nothing is added
    alike: bool = True  # whether all graphs had one dtype: joined values cannot tell

    def to(self, device: torch.device, ptr: Tensor) -> "Column":
        """The column on a device; `ptr` is its pointer there, which columns of one level share."""
        steps = None if self.steps is None else self.steps.to(device)
        return Column(self.values.to(device), ptr, self.dim, steps, self.alike)


def attributes_of(graph: Data) -> dict[str, Any]:
    """All attributes by name, as the graph keeps them: views of them cost more than what is done with them."""
    return graph._store._mapping


def node_counts(graphs: Sequence[Data]) -> list[int]:
    """The number of nodes of each graph; `Data.num_nodes` looks for it among all attributes, every time."""
    found: list[int] = []
    for graph in graphs:
        own = attributes_of(graph)
        x = None if "num_nodes" in own else own.get("x")
        found.append(x.size(0) if isinstance(x, Tensor) and x.dim() else int(graph.num_nodes or 0))
    return found


class Pointers:
    """Where the values of each graph begin, one tensor for each level: nodes, edges, graphs."""

    def __init__(self) -> None:
        self._known: list[Tensor] = []

    def shared(self, ptr: Tensor) -> Tensor:
        """The tensor that stands for this pointer [n + 1]: the first one that was equal. It is on the CPU."""
        for known in self._known:
            if torch.equal(known, ptr):
                return known
        self._known.append(ptr)
        return ptr

    def of(self, sizes: Sequence[int]) -> Tensor:
        """sizes [n] → [n + 1]; equal sizes give the same tensor."""
        return self.shared(torch.tensor([0, *accumulate(sizes)]))


def columns_of(graphs: Sequence[Data], counts: Sequence[int], pointers: Pointers) -> dict[str, Column]:
    """The tensor attributes that all graphs have, by name.

    Args:
        graphs: The graphs.
        counts: Their numbers of nodes.
        pointers: Of all levels.
    """
    every = [attributes_of(graph) for graph in graphs]
    names = set(every[0])
    if any(own.keys() != names for own in every):
        names = names.intersection(*every)
    usual = all(_joins_as_usual(kind) for kind in set(map(type, graphs)))
    nodes = torch.tensor(counts)
    found: dict[str, Column] = {}
    odd: list[str] = []
    for key in sorted(names.difference(OF_THE_BATCH)):
        values = [own[key] for own in every]
        plain = usual and "batch" not in key and {type(value) for value in values} == {Tensor}
        if not plain or values[0].is_sparse or not all(value.dim() for value in values):
            odd.append(key)
            continue
        along = "index" in key or key == "face"
        dim = -1 if along else 0
        ptr = pointers.of([value.size(dim) for value in values])
        alike = len({value.dtype for value in values}) == 1
        found[key] = Column(torch.cat(values, dim), ptr, dim, nodes if along else None, alike)
    return found | (_collated(graphs, odd, pointers) if odd else {})


def _joins_as_usual(kind: type[Data]) -> bool:
    return kind.__inc__ is Data.__inc__ and kind.__cat_dim__ is Data.__cat_dim__


def _collated(graphs: Sequence[Data], keys: list[str], pointers: Pointers) -> dict[str, Column]:
    """The same by PyG's own rules, for attributes that are not plain tensors, or classes with rules of their own."""
    bare = [type(graph)(**{key: graph[key] for key in keys}, num_nodes=graph.num_nodes) for graph in graphs]
    joined, slices, _ = collate(type(graphs[0]), bare, increment=False, add_batch=False)
    found: dict[str, Column] = {}
    for key in keys:
        value = joined[key]
        if not isinstance(value, Tensor):
            continue  # strings and the like: no model reads them
        steps = torch.tensor([int(graph.__inc__(key, graph[key])) for graph in graphs])
        dim = joined.__cat_dim__(key, value) or 0
        ptr = pointers.shared(slices[key])
        # A single number is no row, though in a graph with one edge it looks like one once it is joined.
        rows = key not in ("edge_attr", "edge_weight") or all(graph[key].dim() for graph in graphs)
        found[key] = Column(value, ptr, dim, steps if bool(steps.any()) else None, alike=rows)
    return found


def columns_of_batch(batch: Batch, pointers: Pointers) -> tuple[dict[str, Column], Tensor] | None:
    """The columns of a batch that PyG made, and where the nodes of its graphs begin, without taking it apart.

    Args:
        batch: The batch.
        pointers: Of all levels.

    Returns:
        None for a batch that cannot be taken apart: it was made by hand, or holds values that are not plain tensors.
    """
    slices, steps = getattr(batch, "_slice_dict", None), getattr(batch, "_inc_dict", None)
    ptr = batch.get("ptr")
    if not slices or not steps or not isinstance(ptr, Tensor) or "edge_index" not in slices:
        return None
    found: dict[str, Column] = {}
    nodes = pointers.shared(ptr.cpu())
    counts = nodes.diff()
    for key, starts in slices.items():
        value, added = batch.get(key), steps.get(key)
        if key in OF_THE_BATCH or not isinstance(value, Tensor):
            continue
        dim, own = int(batch.__cat_dim__(key, value) or 0), pointers.shared(starts)
        if not isinstance(added, Tensor) or not bool((added != 0).any()):
            found[key] = Column(value, own, dim, None)
            continue
        if not torch.equal(added, nodes[:-1]):
            return None  # a rule of its own: what the last graph would add is not known
        shift = added.to(value.device).repeat_interleave(own.diff().to(value.device), output_size=value.size(dim))
        raw = value - (shift if dim in (-1, value.dim() - 1) else shift.unsqueeze(-1))
        found[key] = Column(raw, own, dim, counts)
    return found, nodes
