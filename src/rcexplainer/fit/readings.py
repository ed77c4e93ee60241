"""What the mask network reads of the training instances: the frozen GNN says it once, and steps gather rows of it.

CleanReadings   node inputs and embeddings of the instances themselves
NoisyReadings   the same of a pool of noisy copies, with their units; a step draws one copy of each instance

Both are kept in memory up to `CACHE_BYTES`; beyond, the GNN runs again in every step, and noise is drawn anew.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.gates import uniform
from rcexplainer.core.segments import gather_ranges
from rcexplainer.core.stability import same_units
from rcexplainer.core.units import Units, find_units
from rcexplainer.gnn.graph_store import pointer
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.node_inputs import node_inputs
from rcexplainer.gnn.noise import NoisyBatch

CACHE_BYTES = 1 << 29  # that are kept of the instances themselves, and again of their noisy copies
POOL = 32  # noisy copies of each instance, if they fit: a network that sees few of them again and again learns them
SMALLEST_POOL = 4  # fewer would be learnt by heart


@dataclass(frozen=True, eq=False)
class Reading:
    """What the mask network reads of a mini-batch.

    Attributes:
        nodes: [nodes, D] the inputs of every node.
        embedding: [b, d] the embeddings of the instances.
    """

    nodes: Tensor
    embedding: Tensor


@dataclass(frozen=True, eq=False)
class NoisyReading(Reading):
    """The same of noisy copies.

    Attributes:
        pair: [2, copied] the units of the copies.
        owner: [copied] their instances.
        unit: [copied] the same units of the instances themselves, −1 for an edge that only the copy has.
    """

    pair: Tensor
    owner: Tensor
    unit: Tensor


class Rows:
    """Rows of several tensors for ragged items: `rows(ids)` gathers those of some items, one after the other.

    Args:
        ptr: [n + 1] where the rows of each item begin.
        columns: The tensors, [rows, …].
    """

    def __init__(self, ptr: Tensor, columns: tuple[Tensor, ...]) -> None:
        self.ptr, self.columns = ptr, columns

    def __call__(self, ids: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        """Gather the rows of these items.

        Args:
            ids: [b].

        Returns:
            The tensors, and the item of each row as a position in `ids`.
        """
        index, owner = gather_ranges(self.ptr[ids], self.ptr[ids + 1])
        return tuple(column.index_select(0, index) for column in self.columns), owner


class CleanReadings:
    """Readings of the instances themselves.

    Args:
        instances: The instances.
        inputs: Which embeddings the network reads, see `node_inputs`.
        limit: Bytes of node inputs to keep.
    """

    def __init__(self, instances: Instances, inputs: str, limit: int = CACHE_BYTES) -> None:
        self.instances, self.inputs = instances, inputs
        self._kept = self._run_all(limit)

    @torch.no_grad()
    def _run_all(self, limit: int) -> tuple[Rows, Tensor] | None:
        """The inputs of all nodes, and all embeddings; None if that would be too much."""
        parts: list[Reading] = []
        counts: list[Tensor] = []
        taken = 0
        for ids in self.instances.chunks(self.instances.everything):
            batch = self.instances.store[ids]
            parts.append(self._run(batch))
            counts.append(batch.ptr.diff())
            taken += parts[-1].nodes.nbytes
            if taken > limit:
                return None
        nodes = Rows(pointer(torch.cat(counts)), (torch.cat([part.nodes for part in parts]),))
        return nodes, torch.cat([part.embedding for part in parts])

    def _run(self, batch: Data) -> Reading:
        done = self.instances.split.run(batch)
        return Reading(node_inputs(done, batch, self.inputs), done.embedding)

    @torch.no_grad()
    def __call__(self, ids: Tensor, batch: Data) -> Reading:
        """What the network reads of these instances.

        Args:
            ids: [b].
            batch: Their batch.
        """
        if self._kept is None:
            return self._run(batch)
        rows, embeddings = self._kept
        (nodes,), _ = rows(ids)
        return Reading(nodes, embeddings.index_select(0, ids))


class NoisyReadings:
    """Readings of noisy copies of the instances.

    Args:
        instances: The instances.
        inputs: Which embeddings the network reads, see `node_inputs`.
        noisy: Makes noisy copies of batches.
        copies: Copies of each instance in the pool.
        generator: Draws the copies.
        limit: Bytes to keep; the pool is smaller where they do not suffice, down to `SMALLEST_POOL`.
    """

    def __init__(
        self,
        instances: Instances,
        inputs: str,
        noisy: NoisyBatch,
        copies: int,
        generator: torch.Generator,
        limit: int = CACHE_BYTES,
    ) -> None:
        self.instances, self.inputs, self.noisy = instances, inputs, noisy
        self.copies = 0
        self._pool(copies, generator, limit)

    @torch.no_grad()
    def _pool(self, copies: int, generator: torch.Generator, limit: int) -> None:
        """Make the pool, as large as the limit allows; none where not even the smallest fits."""
        parts: list[list[_CopyBatch]] = []
        for number in range(copies):
            made = [self._copy(ids, generator) for ids in self.instances.chunks(self.instances.everything)]
            size = sum(one.nbytes for one in made)
            if size * max(number + 1, min(copies, SMALLEST_POOL)) > limit:
                break
            parts.append(made)
        if not parts:
            return
        self.copies, flat = len(parts), [one for made in parts for one in made]
        self._nodes = Rows(pointer(torch.cat([one.node_counts for one in flat])), _joined((one.nodes,) for one in flat))
        self._units = Rows(pointer(torch.cat([one.unit_counts for one in flat])), _joined(one.units for one in flat))
        self._embedding = torch.cat([one.embedding for one in flat])

    def _copy(self, ids: Tensor, generator: torch.Generator) -> "_CopyBatch":
        batch, units = self.instances[ids]
        read = self._draw(batch, units, generator)
        start = batch.ptr[read.owner]
        unit = torch.where(read.unit >= 0, read.unit - units.ptr[read.owner], -1)
        counts = torch.bincount(read.owner, minlength=len(ids))
        ends = (read.pair[0] - start, read.pair[1] - start, unit)
        return _CopyBatch(read.nodes, batch.ptr.diff(), ends, counts, read.embedding)

    def _draw(self, batch: Data, units: Units, generator: torch.Generator) -> NoisyReading:
        """New noisy copies of a batch."""
        other, nodes, number = self.noisy(batch, units, generator), int(batch.num_nodes or 0), len(units.ptr) - 1
        own = find_units(other.edge_index, nodes, batch.batch, number, other.get("edge_fixed"))
        done, unit = self.instances.split.run(other), same_units(units.pair, own.pair, nodes)
        return NoisyReading(node_inputs(done, other, self.inputs), done.embedding, own.pair, own.owner, unit)

    @torch.no_grad()
    def __call__(self, ids: Tensor, batch: Data, units: Units, generator: torch.Generator) -> NoisyReading:
        """What the network reads of one noisy copy of each of these instances.

        Args:
            ids: [b].
            batch: Their batch.
            units: Its units.
            generator: Chooses among the copies, or draws them.
        """
        if not self.copies:
            return self._draw(batch, units, generator)
        places = ids
        if self.copies > 1:
            pick = uniform(len(ids), generator, self._embedding).mul_(self.copies).long().clamp_max_(self.copies - 1)
            places = pick * len(self.instances) + ids
        (nodes,), _ = self._nodes(places)
        (i, j, unit), owner = self._units(places)
        start = batch.ptr.index_select(0, owner)
        unit = torch.where(unit >= 0, unit + units.ptr.index_select(0, owner), -1)
        pair = torch.stack([i + start, j + start])
        return NoisyReading(nodes, self._embedding.index_select(0, places), pair, owner, unit)


@dataclass(frozen=True, eq=False)
class _CopyBatch:
    """Noisy copies of some instances, with node numbers and units counted within each instance."""

    nodes: Tensor
    node_counts: Tensor
    units: tuple[Tensor, ...]
    unit_counts: Tensor
    embedding: Tensor

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return sum(value.nbytes for value in (self.nodes, *self.units))


def _joined(parts: Iterator[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """The tensors of all parts, one after the other."""
    return tuple(torch.cat(column) for column in zip(*parts, strict=True))
