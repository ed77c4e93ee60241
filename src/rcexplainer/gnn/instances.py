"""Instances with their units on one device, and runs of the model on copies of them with units deleted.

Deleted means deleted: a copy is a graph without those edges; soft masks are not used here.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.core.segments import gather_ranges, split_by_cost
from rcexplainer.core.units import Units, find_units
from rcexplainer.gnn.graph_store import GraphStore, delete_edges
from rcexplainer.gnn.split import Pass, SplitModel

# Edges in one run of the model. On a CPU the tensors of a run should stay in its caches; another device needs many.
MAX_EDGES, MAX_EDGES_CUDA = 1 << 14, 1 << 22
OBSERVED_EDGES = 1 << 13  # on a CPU, in a run whose layers are kept for the mask network: its tensors are wider
ALONE = 1  # the same if every graph is run alone


def most_edges(device: torch.device) -> int:
    """Edges in one run of a model on this device."""
    return MAX_EDGES_CUDA if device.type == "cuda" else MAX_EDGES


@dataclass(frozen=True, eq=False)
class Observation:
    """One run of the model over some instances as they are."""

    ids: Tensor  # [k] the instances
    batch: Batch
    units: Units
    done: Pass


class Instances:
    """Graphs with their units. `instances[ids]` is the batch of these graphs, and the units of that batch.

    A unit is an unordered pair of nodes with all edges between them: what is deleted together.

    Args:
        split: The model.
        graphs: Whole graphs, or computation graphs of nodes or links.
        max_edges: A run of the model takes graphs until they have this many edges; `ALONE`: one graph at a time. None:
            as many as the device takes well.
        store: The same graphs on the device of the model, if they are there already.
    """

    def __init__(
        self,
        split: SplitModel,
        graphs: Sequence[Data] | Batch,
        max_edges: int | None = None,
        store: GraphStore | None = None,
    ) -> None:
        self.split, self.graphs = split, graphs
        # Graphs of results are on the CPU, the model may not be.
        self.store = GraphStore(graphs, split.device) if store is None else store
        self.max_edges = most_edges(self.store.num_nodes.device) if max_edges is None else max_edges
        self._whole: Batch | None = self.store.whole()
        whole = self._whole
        nodes, fixed = int(whole.num_nodes or 0), whole.get("edge_fixed")
        self.units = find_units(whole.edge_index, nodes, whole.batch, len(self.store), fixed)
        self._node_ptr, self._edge_ptr = whole.ptr, self.store.edge_ptr
        self._observed: list[Observation] | None = None

    @property
    def everything(self) -> Tensor:
        """The positions of all instances, [n]."""
        return torch.arange(len(self), device=self._node_ptr.device)

    @property
    def node_ptr(self) -> Tensor:
        """[n + 1] where the nodes of each instance begin."""
        return self._node_ptr

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, ids: Tensor) -> tuple[Batch, Units]:
        ids = ids.to(self._node_ptr.device)
        batch = self.store[ids]
        columns, column_owner = gather_ranges(self._edge_ptr[ids], self._edge_ptr[ids + 1])
        rows, owner = gather_ranges(self.units.ptr[ids], self.units.ptr[ids + 1])
        counts = self.units.counts[ids]
        ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        of_edge = self.units.of_edge[columns]
        of_edge = torch.where(of_edge < 0, -1, of_edge + (ptr[:-1] - self.units.ptr[ids])[column_owner])
        pair = self.units.pair[:, rows] + (batch.ptr[:-1] - self._node_ptr[ids])[owner]
        return batch, Units(of_edge, pair, owner, ptr)

    def some(self, ids: Tensor) -> "Instances":
        """The instances at these positions."""
        return Instances(self.split, [self.graphs[place] for place in ids.tolist()])

    def alone(self) -> "Instances":
        """The same instances, each of which gets a run of its own."""
        other = copy(self)
        other.max_edges, other._observed = ALONE, None
        return other

    def chunks(self, ids: Tensor) -> list[Tensor]:
        """`ids` cut into pieces, one for each run of the model."""
        return split_by_cost(ids, self._edge_ptr.diff()[ids.to(self._edge_ptr.device)].clamp_min(1), self.max_edges)

    def observed(self) -> list[Observation]:
        """The model on every instance, piece by piece; it is run the first time, and never again."""
        if self._observed is None:
            self._observed = [self._observation(first, end) for first, end in self._pieces()]
        return self._observed

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Consecutive instances that are run together."""
        edges, number = self.store.bounds(self.store.edge_ptr), len(self)
        most = min(self.max_edges, OBSERVED_EDGES) if self._node_ptr.device.type == "cpu" else self.max_edges
        if edges[-1] <= most and most != ALONE:
            yield 0, number
            return
        first = 0
        for end in range(1, number + 1):
            if end == number or edges[end + 1] - edges[first] > most or most == ALONE:
                yield first, end
                first = end

    @torch.no_grad()
    def _observation(self, first: int, end: int) -> Observation:
        ids, units = torch.arange(first, end, device=self._node_ptr.device), self.units
        if len(ids) == len(self) and self._whole is not None:
            batch, self._whole = self._whole, None  # for one run: a model may work in place
        else:
            batch = self.store.range(first, end)
        if len(ids) < len(self):
            edges = self.store.bounds(self.store.edge_ptr)
            start, stop = units.ptr[[first, end]].tolist()
            of_edge = units.of_edge[edges[first] : edges[end]]
            units = Units(
                torch.where(of_edge < 0, -1, of_edge - start),
                units.pair[:, start:stop] - self._node_ptr[first],
                units.owner[start:stop] - first,
                units.ptr[first : end + 1] - start,
            )
        return Observation(ids, batch, units, self.split.run(batch))

    @torch.no_grad()
    def passes(self, read: Callable[[Pass], Tensor]) -> Tensor:
        """Run the model on every instance.

        Args:
            read: Takes one row per instance from a run.

        Returns:
            [n, …] the rows, in order.
        """
        return torch.cat([read(self.split.run(self.store[ids])) for ids in self.chunks(self.everything)])

    def outputs(self) -> Tensor:
        """The model's output for every instance, [n, C]."""
        return torch.cat([one.done.output for one in self.observed()])

    def copies(self, ids: Tensor, removed: Tensor) -> Batch:
        """A batch of copies of instances, with units deleted.

        Args:
            ids: [v] the instance of each copy.
            removed: Boolean [Σ their units], copy after copy.
        """
        columns, owner = gather_ranges(self._edge_ptr[ids], self._edge_ptr[ids + 1])
        counts = self.units.counts[ids]
        place = self.units.of_edge[columns] + (counts.cumsum(0) - counts - self.units.ptr[ids])[owner]
        fixed = self.units.of_edge[columns] < 0
        kept = fixed | ~removed[place.masked_fill_(fixed, 0)] if len(removed) else torch.ones_like(fixed)
        kept = kept.nonzero().squeeze(1)
        return self.store.cut(ids, (columns[kept], owner[kept]))

    @torch.no_grad()
    def without(self, ids: Tensor, removed: Tensor, read: Callable[[Pass], Tensor]) -> Tensor:
        """Run the model on copies of instances with units deleted.

        Args:
            ids: [v] the instance of each copy.
            removed: Boolean [Σ their units], copy after copy.
            read: Takes one row per copy from a run.

        Returns:
            [v, …] the rows, in order.
        """
        device = self._node_ptr.device
        ids, removed = ids.to(device), removed.to(device)
        parts: list[Tensor] = []
        start = 0
        for piece in self.chunks(ids):
            end = start + int(self.units.counts[piece].sum())
            parts.append(read(self.split.run(self.copies(piece, removed[start:end]))))
            start = end
        return torch.cat(parts) if parts else self.passes(read)[:0]

    @torch.no_grad()
    def one_by_one(self, ids: Tensor, removed: Tensor) -> Tensor:
        """Log-probabilities [v, C] of copies, each in a run of its own; arguments as for `without`."""
        units, edges = self.units, self.store.bounds(self.store.edge_ptr)
        places, bounds = ids.tolist(), units.ptr.tolist()
        rows: list[Tensor] = []
        start = 0
        for place in places:
            size = bounds[place + 1] - bounds[place]
            of_edge = units.of_edge[edges[place] : edges[place + 1]]
            gone = torch.cat([removed[start : start + size], removed.new_zeros(1)])
            columns = gone[torch.where(of_edge < 0, size, of_edge - bounds[place])]
            rows.append(self.split.run(delete_edges(self.store.range(place, place + 1), columns)).output)
            start += size
        return self.split.log_probs(torch.cat(rows))

    def log_probs(self, ids: Tensor, removed: Tensor) -> Tensor:
        """Log-probabilities [v, C] of copies with units deleted; arguments as for `without`."""
        return self.without(ids, removed, lambda done: self.split.log_probs(done.output))
