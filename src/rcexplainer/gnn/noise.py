"""Noisy copies of a batch of graphs, on which the mask network should give the same scores as on the graphs themselves.

The noise lies between the paper's robustness measure, which hardly deletes, and strict noise. Each graph draws a level
p ~ U(0, noise); then

    with probability p a node gets other features: one of the distinct `rows` of the data, uniformly
    p·|units| / 2 new edges join random pairs of its nodes, with the attributes of random edges of the batch
    with probability p / 4 a unit goes

A new edge always has both directions, and may double an existing one: looking that up would cost more than it is worth.
Nodes keep their places, so that the units of the clean graph name the same pairs of nodes in the copy.
"""

from collections.abc import Callable
from copy import copy

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.gates import uniform
from rcexplainer.core.units import Units
from rcexplainer.sources.attribute_levels import edge_level_keys

NoisyBatch = Callable[[Data, Units, torch.Generator], Data]  # (batch, its units, random numbers) → a noisy copy


def noisy(noise: float, rows: Tensor) -> NoisyBatch:
    """A function that makes noisy copies of batches.

    Args:
        noise: The highest noise level of a graph.
        rows: [r, F] the distinct feature vectors of the data.

    Returns:
        (batch, its units, random generator) → a noisy copy; the batch is left as it is.
    """

    def copies(batch: Data, units: Units, generator: torch.Generator) -> Data:
        like = torch.zeros((), device=units.ptr.device)
        level = noise * uniform(len(units.ptr) - 1, generator, like)
        changed = copy(batch)
        if isinstance(batch.x, Tensor):
            other = rows[_below(torch.full_like(batch.batch, len(rows)), generator, like)]
            swapped = uniform(len(batch.x), generator, like) < level[batch.batch]
            changed.x = torch.where(swapped.view(-1, *[1] * (other.dim() - 1)), other, batch.x)
        size = batch.ptr.diff()
        gone = level / 4
        kept = ~units.to_edges(uniform(len(units), generator, like) < gone[units.owner], False)
        added = (level * units.counts / 2).round().long()
        graph = torch.arange(len(added), device=added.device).repeat_interleave(added)
        ends = [batch.ptr[graph] + _below(size[graph], generator, like) for _ in range(2)]
        new = torch.stack(ends)[:, ends[0] != ends[1]]
        new = torch.cat([new, new.flip(0)], 1)
        donors = (uniform(new.size(1), generator, like) * batch.num_edges).long()
        for key in edge_level_keys(batch):
            value = batch[key]
            if key == "edge_index":
                changed[key] = torch.cat([value[:, kept], new], 1)
            elif batch.num_edges:
                changed[key] = torch.cat([value[kept], value[donors]])
        return changed

    return copies


def distinct_features(batch: Data) -> Tensor:
    """[r, F] the distinct feature vectors of the nodes, from which noisy features are drawn; none without features."""
    return batch.x.unique(dim=0) if isinstance(batch.x, Tensor) else torch.empty(0)


def _below(limit: Tensor, generator: torch.Generator, like: Tensor) -> Tensor:
    """A random integer from 0 to each limit, exclusive."""
    return torch.minimum((uniform(len(limit), generator, like) * limit).long(), limit - 1)
