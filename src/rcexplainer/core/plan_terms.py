"""What a plan knows of every unit, and how the units feel what was deleted around them.

    f(u | D) = g_u + o_cᵀ relu(a_u + Σ_{i ∈ u} (K_i + Σ_{j ~ i} L_j))          symbols: `core.deletion_plan`

PlanTerms        g, a, k, l and o, from one pass of the GNN
UnitView         some units, or copies of them: from Σ … at every node to f
Neighbours       adds deletions to K_i + Σ_{j ~ i} L_j of the nodes about them
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

    def add_(self, around: Tensor, node: Tensor, near: Tensor, far: Tensor, shift: Tensor | None = None) -> None:
        """Add what was deleted at some nodes to what is felt around each, in place: k there, l at their neighbours.

        Only these nodes and their neighbours are visited, so each should be there once.

        Args:
            around: [nodes, r], of this graph or of copies of its parts.
            node: [v] the nodes, in this graph.
            near: K [v, r].
            far: L [v, r].
            shift: [v] from nodes of this graph to those of the copy; None: 0.
        """
        places, own = gather_ranges(self.ptr[node], self.ptr[node + 1])
        there = self.nodes[places]
        if shift is not None:
            node, there = node + shift, there + shift[own]
        around.index_add_(0, node, near)
        around.index_add_(0, there, far.index_select(0, own))
