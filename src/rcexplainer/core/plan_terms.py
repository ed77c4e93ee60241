"""What a plan knows of every unit, and how the units feel what was deleted around them.

    f(u | D) = g_u + o_cᵀ relu(a_u + Σ_{i ∈ u} (K_i + Σ_{j ~ i} L_j))          symbols: `core.deletion_plan`

PlanTerms        g, a, k, l and o, from one pass of the GNN
UnitView         some units, or copies of them: from Σ … at every node to f
deleted_around   K_i + Σ_{j ~ i} L_j of every node, of all deletions at once;   Neighbours.add_  of one more
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from rcexplainer.core.mask_gates import FEW_CLASSES
from rcexplainer.core.segments import gather_ranges


@dataclass(frozen=True, eq=False)
class PlanTerms:
    """What the plan network says of every unit.

    Attributes:
        logit: g [units].
        start: a [units, r].
        near: k [units, r].
        far: l [units, r].
        row: c [units], the class of the unit's instance.
        reply: o [classes, r].
    """

    logit: Tensor
    start: Tensor
    near: Tensor
    far: Tensor
    row: Tensor
    reply: Tensor

    def each(self, change: Callable[[Tensor], Tensor]) -> "PlanTerms":
        """The same with every term of the units changed."""
        own = {field.name: change(getattr(self, field.name)) for field in fields(self) if field.name != "reply"}
        return replace(self, **own)

    @classmethod
    def joined(cls, parts: Sequence["PlanTerms"]) -> "PlanTerms":
        """The terms of several batches, one after the other."""
        names = [field.name for field in fields(cls) if field.name != "reply"]
        return replace(parts[0], **{name: torch.cat([getattr(part, name) for part in parts]) for name in names})


@dataclass(frozen=True, eq=False)
class UnitView:
    """Some units, or copies of them, and what is needed to answer for each."""

    logit: Tensor
    start: Tensor
    row: Tensor
    reply: Tensor
    pair: Tensor  # [2, units] nodes of the copies

    def some(self, units: Tensor) -> "UnitView":
        """Those at these positions."""
        logit, start, row = (values.index_select(0, units) for values in (self.logit, self.start, self.row))
        return UnitView(logit, start, row, self.reply, self.pair.index_select(1, units))

    def answers(self, around: Tensor) -> Tensor:
        """f(u | D) from what was deleted around each node, [nodes, r]."""
        hidden = self.start + around.index_select(0, self.pair[0])
        hidden = (hidden + around.index_select(0, self.pair[1])).relu()
        if len(self.reply) <= FEW_CLASSES:  # a product with the weights of all classes is faster than gathering one
            return self.logit + (hidden @ self.reply.T).gather(1, self.row[:, None]).squeeze(1)
        return self.logit + (hidden * self.reply.index_select(0, self.row)).sum(1)


def deleted_around(pair: Tensor, num_nodes: int, ends: Tensor, near: Tensor, far: Tensor) -> Tensor:
    """What was deleted around each node, [nodes, r]: k at its own, l at its neighbours'.

    pair [2, units] of all units, ends [2, d] of those that are gone, with near and far [d, r].
    """
    (i, j), nothing = pair, near.new_zeros(num_nodes, near.size(1))
    here = nothing.index_add(0, ends.flatten(), near.repeat(2, 1))
    there = nothing.index_add(0, ends.flatten(), far.repeat(2, 1))
    return here.index_add(0, i, there.index_select(0, j)).index_add(0, j, there.index_select(0, i))


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The neighbours of every node: `nodes[ptr[i] : ptr[i + 1]]` are those of node i."""

    ptr: Tensor
    nodes: Tensor

    @classmethod
    def of(cls, pair: Tensor, num_nodes: int) -> "Neighbours":
        """Those of a graph with these units [2, units]."""
        ends, others = torch.cat([pair, pair.flip(0)], 1)
        order = ends.argsort()
        counts = torch.bincount(ends, minlength=num_nodes)
        return cls(torch.cat([counts.new_zeros(1), counts.cumsum(0)]), others[order])

    def add_(self, around: Tensor, pair: Tensor, near: Tensor, far: Tensor) -> None:
        """Add deletions to what was deleted around each node, in place: only the nodes about them are visited.

        Args:
            around: [nodes, r].
            pair: [2, d] the nodes of the units that go.
            near: k [d, r].
            far: l [d, r].
        """
        ends = pair.flatten()
        around.index_add_(0, ends, near.repeat(2, 1))
        places, own = gather_ranges(self.ptr[ends], self.ptr[ends + 1])
        around.index_add_(0, self.nodes[places], far.repeat(2, 1).index_select(0, own))
