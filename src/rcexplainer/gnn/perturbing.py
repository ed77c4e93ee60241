"""Noisy copies of a batch of graphs, for a student that reads them while its target stays the clean graph's.

For each graph a level p ~ U(0, noise); then, each with probability p,
    a node gets other features, one of the different `rows` there are (of one-hot features: any of them, as likely),
    a unit is dropped (both directions),
and p·|units| / 2 random pairs of the graph's own nodes are joined, with the attributes of random edges of the batch.
Nodes keep their places, so that the units of the clean graph still say which pairs of nodes are asked about.
"""

from collections.abc import Callable
from copy import copy

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.gates import uniform
from rcexplainer.core.units import Units
from rcexplainer.gnn.masking import edge_level_keys


def noisy(noise: float, rows: Tensor) -> Callable[[Data, Units, torch.Generator], Data]:
    """A function that makes noisy copies; the batch it is given is left as it is."""

    def copies(batch: Data, units: Units, generator: torch.Generator) -> Data:
        like = torch.zeros((), device=units.ptr.device)
        level = noise * uniform(len(units.ptr) - 1, generator, like)
        changed = copy(batch)
        if isinstance(batch.x, Tensor):
            other = rows[_below(torch.full_like(batch.batch, len(rows)), generator, like)]
            swapped = uniform(len(batch.x), generator, like) < level[batch.batch]
            changed.x = torch.where(swapped.view(-1, *[1] * (other.dim() - 1)), other, batch.x)
        kept = ~units.to_edges(uniform(len(units), generator, like) < level[units.owner], False)
        added = (level * units.counts / 2).round().long()
        graph = torch.arange(len(added), device=added.device).repeat_interleave(added)
        ends = [batch.ptr[graph] + _below(batch.ptr.diff()[graph], generator, like) for _ in range(2)]
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


def _below(limit: Tensor, generator: torch.Generator, like: Tensor) -> Tensor:
    """A random whole number below each limit."""
    return torch.minimum((uniform(len(limit), generator, like) * limit).long(), limit - 1)
