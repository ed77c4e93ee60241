"""A plan of deletions: units one after the other, each chosen knowing which are gone already.

    f(u | D) = g_u + o_cᵀ relu(a_u + Σ_{d ∈ D at a node of u} k_d + Σ_{d ∈ D one edge away} l_d)
    u_t = argmax over u ∉ D of f(u | D),   D = {u_1, …, u_{t−1}}

Scores say how much each edge counts; but the k highest scores need not be the k edges that do most *together*. In a
symmetric graph they cannot be: equal edges have equal scores, whether the second one adds to the first or could only
have replaced it. A plan breaks ties by position, and then knows what it has done. g, a, k and l are read from one pass
of the GNN: to plan costs no run of the model.

g [units], a, k, l, o [units, r]; D as positions of units; c the predicted class of the unit's instance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import torch
from torch import Tensor

from rcexplainer.core.gates import uniform
from rcexplainer.core.plackett_luce import FLOOR, log_softmax
from rcexplainer.core.segments import first_minimum, gather_ranges, owners, ranks

DIGITS = 4  # of logits: what a batch adds by rounding must not decide between symmetric units
PLANNED_SHARE = 0.3  # of the units of an instance; the others follow by what is left of their logits
MOST_STEPS = 64
LARGE = 1e6  # beyond every logit
MOST_VISITS = 1 << 24  # steps times units, at most, of an instance: a plan for a huge graph is short
Compared = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class PlanTerms:
    """What the plan network says of every unit.

    Attributes:
        logit: g [units].
        start: a [units, r].
        near: k [units, r].
        far: l [units, r].
        reply: o [units, r].
    """

    logit: Tensor
    start: Tensor
    near: Tensor
    far: Tensor
    reply: Tensor

    def select(self, units: Tensor) -> "PlanTerms":
        """The terms of these units."""
        return PlanTerms(*(getattr(self, field.name).index_select(0, units) for field in fields(self)))

    def detached(self) -> "PlanTerms":
        """The same without gradients."""
        return PlanTerms(*(getattr(self, field.name).detach() for field in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence["PlanTerms"]) -> "PlanTerms":
        """The terms of several batches, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(torch.cat([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def conditional(terms: PlanTerms, pair: Tensor, num_nodes: int, gone: Tensor) -> Tensor:
    """f(u | D) of every unit.

    Args:
        terms: Of the units.
        pair: [2, units] their nodes.
        num_nodes: Number of nodes.
        gone: D, positions of units.

    Returns:
        [units].
    """
    (i, j), (a, b) = pair, pair.index_select(1, gone)
    nothing = terms.start.new_zeros(num_nodes, terms.start.size(1))
    near, far = (values.index_select(0, gone) for values in (terms.near, terms.far))
    here = nothing.index_add(0, a, near).index_add(0, b, near)  # what was deleted at each node
    there = nothing.index_add(0, a, far).index_add(0, b, far)  # and at its neighbours
    around = here.index_add(0, i, there.index_select(0, j)).index_add(0, j, there.index_select(0, i))
    return _answers(terms, pair, around)


def _answers(terms: PlanTerms, pair: Tensor, around: Tensor) -> Tensor:
    """f(u | D) from what was deleted around each node, [nodes, r]."""
    hidden = terms.start + around.index_select(0, pair[0])
    hidden = (hidden + around.index_select(0, pair[1])).relu()
    return terms.logit + (terms.reply * hidden).sum(1)


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


@dataclass(frozen=True, eq=False)
class Sequences:
    """Units of instances in the order of their deletion, sequence after sequence.

    Attributes:
        units: [Σ lengths].
        lengths: [s].
        instance: [s] the instance of each sequence; several may be of one.
    """

    units: Tensor
    lengths: Tensor
    instance: Tensor


@dataclass(frozen=True, eq=False)
class DeletionPlan:
    """The units of some instances, with what is needed to plan their deletion.

    Attributes:
        terms: What the plan network says of them.
        pair: [2, units] their nodes.
        ptr: [n + 1] where the units of each instance begin.
        node_ptr: [n + 1] where the nodes of each instance begin.
    """

    terms: PlanTerms
    pair: Tensor
    ptr: Tensor
    node_ptr: Tensor

    @cached_property
    def alone(self) -> Tensor:
        """f(u | ∅) of every unit."""
        return conditional(self.terms, self.pair, int(self.node_ptr[-1]), self.ptr[:0])

    def repeated(self, times: int) -> "DeletionPlan":
        """The same instances several times, one copy after the other."""
        copies = torch.arange(times, device=self.ptr.device)[:, None]
        units, nodes = self.pair.size(1), int(self.node_ptr[-1])
        everything = torch.arange(units, device=self.ptr.device).repeat(times)
        return DeletionPlan(
            self.terms.select(everything),
            (self.pair[:, None] + nodes * copies).flatten(1),
            torch.cat([self.ptr[:1], (self.ptr[1:] + units * copies).flatten()]),
            torch.cat([self.node_ptr[:1], (self.node_ptr[1:] + nodes * copies).flatten()]),
        )

    def copies(self, instance: Tensor, removed: Tensor) -> Tensor:
        """f(u | D) for copies of instances with units removed.

        Args:
            instance: [v] the instance of each copy.
            removed: Boolean [Σ their units], copy after copy.

        Returns:
            [Σ their units].
        """
        index, copy = gather_ranges(self.ptr[instance], self.ptr[instance + 1])
        return self._expanded(instance, index, copy, removed.nonzero().squeeze(1))

    def _expanded(self, instance: Tensor, index: Tensor, copy: Tensor, gone: Tensor) -> Tensor:
        """f(u | D) for copies: `index` has the units of all copies, `copy` the copy of each, `gone` places in them."""
        nodes = self.node_ptr.diff()[instance]
        shift = nodes.cumsum(0) - nodes - self.node_ptr[instance]
        pair = self.pair.index_select(1, index) + shift.index_select(0, copy)
        return conditional(self.terms.select(index), pair, int(nodes.sum()), gone)

    @torch.no_grad()
    def drawn(self, kept: Tensor, sharpness: float, generator: torch.Generator) -> Tensor:
        """Draw units one after the other, u_t ~ softmax of sharpness · f(· | D).

        Args:
            kept: [n] how many units of each instance.
            sharpness: How closely the draws follow the logits.
            generator: Source of random numbers.

        Returns:
            [n, steps] the units, −1 after the last.
        """

        def noisy(logits: Tensor) -> Tensor:
            noise = uniform(len(logits), generator, logits).clamp(1e-9, 1 - 1e-7)
            return sharpness * logits - (-noise.log()).log()

        return self._walk(kept, noisy, self.ptr.new_empty(len(kept), 0))

    @torch.no_grad()
    def order(self, path: Tensor | None = None) -> Tensor:
        """The place of every unit in the plan, 0 for the one to delete first.

        Args:
            path: [n, steps] units that go before all others, −1 after the last; None: none.

        Returns:
            [units].
        """
        counts = self.ptr.diff()
        most = (MOST_VISITS // counts.clamp_min(1)).clamp(1, MOST_STEPS)
        kept = (PLANNED_SHARE * counts).ceil().long().minimum(most)
        path = self.ptr.new_empty(len(counts), 0) if path is None else path
        kept = kept.maximum((path >= 0).sum(1)).minimum(counts)
        walk = self._walk(kept, lambda logits: logits.double().round(decimals=DIGITS), path)
        found = walk >= 0
        rest = conditional(self.terms, self.pair, int(self.node_ptr[-1]), walk[found]).double().clamp(-LARGE, LARGE)
        places = torch.arange(walk.size(1), device=walk.device).expand_as(walk)
        value = rest.round(decimals=DIGITS).index_put((walk[found],), 2 * LARGE - places[found].to(rest.dtype))
        return ranks(value, owners(self.ptr), self.ptr)

    def _walk(self, kept: Tensor, compared: Compared, path: Tensor) -> Tensor:
        """Delete, one after the other, the unit with the largest logit.

        Args:
            kept: [n] how many units of each instance.
            compared: From logits to what is compared: with noise to draw, rounded to choose.
            path: [n, steps] the first units, −1 where they are chosen here.

        Returns:
            [n, steps] the units, −1 after the last.
        """
        steps = int(kept.max()) if len(kept) else 0
        walk = torch.full((len(kept), steps), -1, device=self.ptr.device)
        walk[:, : path.size(1)] = path[:, :steps]
        owner, terms, pair = owners(self.ptr), self.terms, self.pair
        neighbours = Neighbours.of(pair, int(self.node_ptr[-1]))
        around = terms.start.new_zeros(int(self.node_ptr[-1]), terms.start.size(1))  # at each node, of what is gone
        units = torch.arange(len(owner), device=self.ptr.device)  # those of instances that are not done
        free = torch.ones_like(units, dtype=torch.bool)
        ends = set(kept.tolist())
        for step in range(steps):
            if step in ends:
                chosen = (kept > step)[owner].nonzero().squeeze(1)
                units, owner, pair, terms = units[chosen], owner[chosen], pair[:, chosen], terms.select(chosen)
            logits = compared(_answers(terms, pair, around)).masked_fill_(~free[units], -torch.inf)
            best = first_minimum(-logits, owner, len(kept))
            walk[:, step] = torch.where((best < 0) | (walk[:, step] >= 0), walk[:, step], units[best])
            gone = walk[:, step]
            gone = gone[gone >= 0]
            free[gone] = False
            neighbours.add_(around, self.pair[:, gone], self.terms.near[gone], self.terms.far[gone])
        return walk

    def log_likelihood(self, drawn: Sequences, sharpness: float = 1.0) -> Tensor:
        """log P(u_t | u_1, …, u_{t−1}) of every unit of the sequences, P = softmax of sharpness · f(· | D).

        Args:
            drawn: The sequences.
            sharpness: As they were drawn.

        Returns:
            [Σ lengths].
        """
        lengths, units = drawn.lengths, drawn.units
        sequence = owners(torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]))
        start = (lengths.cumsum(0) - lengths)[sequence]
        step = torch.arange(len(units), device=units.device)
        # Nothing is gone before the first unit, whichever sequence it begins: its instance is looked at once.
        first = log_softmax(sharpness * self.alone, owners(self.ptr), len(self.ptr) - 1).index_select(0, units)
        later = (step > start).nonzero().squeeze(1)
        instance = drawn.instance[sequence[later]]  # one copy for each: its instance without the units before it
        index, copy = gather_ranges(self.ptr[instance], self.ptr[instance + 1])
        before, own = gather_ranges(start[later], later)
        counts = self.ptr.diff()[instance]
        shift = counts.cumsum(0) - counts - self.ptr[instance]
        gone = units[before] + shift[own]
        logits = sharpness * self._expanded(instance, index, copy, gone)
        left = log_softmax(logits.index_fill(0, gone, FLOOR), copy, len(later))
        return first.index_copy(0, later, left.index_select(0, units[later] + shift))
