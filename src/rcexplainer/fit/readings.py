"""What the mask network reads of the training instances: the frozen GNN says it once, and steps gather rows of it.

CleanReadings   layers and embeddings of the instances themselves
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
from rcexplainer.gnn.instances import Instances, node_inputs
from rcexplainer.gnn.noise import NoisyBatch
from rcexplainer.gnn.split import Pass

CACHE_BYTES = 1 << 29  # of the layers kept for training; as many again may be kept for validation
POOL = 8  # noisy copies of each instance
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


def pointer(counts: Tensor) -> Tensor:
    """[n + 1] where each of these many rows [n] begin."""
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


class CleanReadings:
    """Readings of the instances themselves.

    Args:
        instances: The instances.
        inputs: Which embeddings the network reads, see `node_inputs`.
        limit: Bytes of layers to keep.
    """

    def __init__(self, instances: Instances, inputs: str, limit: int = CACHE_BYTES) -> None:
        self.instances, self.inputs = instances, inputs
        self._kept = self._run_all(limit)

    @torch.no_grad()
    def _run_all(self, limit: int) -> tuple[Rows, Tensor] | None:
        """The layers of all nodes, and all embeddings; None if that would be too much."""
        layers: list[tuple[Tensor, ...]] = []
        embeddings: list[Tensor] = []
        counts: list[Tensor] = []
        taken = 0
        for ids in self.instances.chunks(self.instances.everything):
            batch = self.instances.store[ids]
            done = self.instances.split.run(batch)
            taken += sum(layer.nbytes for layer in done.layers)
            if taken > limit:
                return None
            layers.append(done.layers)
            embeddings.append(done.embedding)
            counts.append(batch.ptr.diff())
        columns = tuple(torch.cat(parts) for parts in zip(*layers, strict=True))
        return Rows(pointer(torch.cat(counts)), columns), torch.cat(embeddings)

    @torch.no_grad()
    def __call__(self, ids: Tensor, batch: Data) -> Reading:
        """What the network reads of these instances.

        Args:
            ids: [b].
            batch: Their batch.
        """
        if self._kept is None:
            done = self.instances.split.run(batch)
        else:
            rows, embeddings = self._kept
            embedding = embeddings.index_select(0, ids)
            done = Pass(embedding, embedding, rows(ids)[0])
        return Reading(node_inputs(done, batch, self.inputs), done.embedding)


class NoisyReadings:
    """Readings of noisy copies of the instances.

    Args:
        instances: The instances.
        inputs: Which embeddings the network reads, see `node_inputs`.
        noisy: Makes noisy copies of batches.
        copies: Copies of each instance in the pool.
        generator: Draws the copies.
        limit: Bytes of layers to keep; the pool is smaller where they do not suffice, down to `SMALLEST_POOL`.
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
            if size * min(copies, SMALLEST_POOL) > limit or size * (number + 1) > limit:
                break
            parts.append(made)
        if len(parts) < min(copies, SMALLEST_POOL):
            return
        self.copies, flat = len(parts), [one for made in parts for one in made]
        self._nodes = Rows(pointer(torch.cat([one.node_counts for one in flat])), _joined(one.nodes for one in flat))
        self._units = Rows(pointer(torch.cat([one.unit_counts for one in flat])), _joined(one.units for one in flat))
        self._embedding = torch.cat([one.embedding for one in flat])
        self._names = flat[0].names

    def _copy(self, ids: Tensor, generator: torch.Generator) -> "_CopyBatch":
        batch, units = self.instances[ids]
        other = self.noisy(batch, units, generator)
        own = copied_units(other, batch, len(ids))
        done = self.instances.split.run(other)
        names = tuple(name for name in ("x", "hop_code") if isinstance(other.get(name), Tensor))
        start = batch.ptr[own.owner]
        unit = same_units(units.pair, own.pair, int(batch.num_nodes or 0))
        unit = torch.where(unit >= 0, unit - units.ptr[own.owner], -1)
        return _CopyBatch(
            (*done.layers, *(other[name] for name in names)),
            batch.ptr.diff(),
            (own.pair[0] - start, own.pair[1] - start, unit),
            own.counts,
            done.embedding,
            names,
        )

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
            other = self.noisy(batch, units, generator)
            own = copied_units(other, batch, len(ids))
            done = self.instances.split.run(other)
            unit = same_units(units.pair, own.pair, int(batch.num_nodes or 0))
            return NoisyReading(node_inputs(done, other, self.inputs), done.embedding, own.pair, own.owner, unit)
        places = ids
        if self.copies > 1:
            pick = uniform(len(ids), generator, self._embedding).mul_(self.copies).long().clamp_max_(self.copies - 1)
            places = pick * len(self.instances) + ids
        columns, _ = self._nodes(places)
        layers = len(columns) - len(self._names)
        embedding = self._embedding.index_select(0, places)
        read = Data(**dict(zip(self._names, columns[layers:], strict=True)))
        nodes = node_inputs(Pass(embedding, embedding, columns[:layers]), read, self.inputs)
        (i, j, unit), owner = self._units(places)
        start = batch.ptr.index_select(0, owner)
        unit = torch.where(unit >= 0, unit + units.ptr.index_select(0, owner), -1)
        return NoisyReading(nodes, embedding, torch.stack([i + start, j + start]), owner, unit)


@dataclass(frozen=True, eq=False)
class _CopyBatch:
    """Noisy copies of some instances, with node numbers and units counted within each instance."""

    nodes: tuple[Tensor, ...]
    node_counts: Tensor
    units: tuple[Tensor, ...]
    unit_counts: Tensor
    embedding: Tensor
    names: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return sum(value.nbytes for value in (*self.nodes, *self.units))


def _joined(parts: Iterator[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """The tensors of all parts, one after the other."""
    return tuple(torch.cat(column) for column in zip(*parts, strict=True))


def copied_units(copy: Data, batch: Data, number: int) -> Units:
    """The units of noisy copies of a batch of `number` instances."""
    return find_units(copy.edge_index, int(copy.num_nodes or 0), batch.batch, number, copy.get("edge_fixed"))
