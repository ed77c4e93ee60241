"""A plan of deletions: units one after the other, each chosen knowing which are gone already.

    f(u | D) = g_u + o_cᵀ relu(a_u + Σ_{i ∈ u} (K_i + Σ_{j ~ i} L_j))
    K_i = Σ_{d ∈ D at node i} k_d,   L_i = Σ_{d ∈ D at node i} l_d
    u_t = argmax over u ∉ D of f(u | D),   D = {u_1, …, u_{t−1}}

Scores say how much each edge counts; but the k highest scores need not be the k edges that do most *together*. In a
symmetric graph they cannot be: equal edges have equal scores, whether the second one adds to the first or could only
have replaced it. A plan breaks ties by position, and then knows what it has done. g, a, k and l are read from one pass
of the GNN: to plan costs no run of the model.

i ∈ u are the two nodes of u, j ~ i the neighbours of i in the whole graph: a deletion is felt at its own nodes (k), and
one edge further (l), also by way of edges that are gone.

g [units], a, k, l [units, r], o [classes, r]; D as positions of units; c the output row of the unit's instance: its
predicted class or, towards chosen classes, the pair of both.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from rcexplainer.core.gates import uniform
from rcexplainer.core.plan_terms import Neighbours, PlanTerms, UnitView
from rcexplainer.core.segments import gather_ranges, owners, ranks, split_by_cost

TIE = 1e-4  # logits this close, relative to the largest, tie: rounding must not decide between units that are alike
PLANNED_SHARE = 0.3  # of the units of an instance; the others follow by what is left of their logits
MOST_STEPS = 64
LARGE = 1e6  # beyond every logit
DIGITS = 4  # of logits by which units are ranked that the plan does not reach
PIECE_UNITS = 1 << 18  # units of copies that are looked at together
MOST_VISITS = 1 << 24  # steps times units, at most, of an instance: a plan for a huge graph is short
Compared = Callable[[Tensor], Tensor]


def most_steps(counts: Tensor, steps: int, visits: int) -> Tensor:
    """[n] how many units of instances with these numbers of them are planned: steps times units are bounded."""
    return (visits // counts.clamp_min(1)).clamp(1, steps).minimum(counts)


def _columns(walk: Tensor) -> Tensor:
    """The column of every entry."""
    return torch.arange(walk.size(1), device=walk.device).expand_as(walk)


def _first_largest(values: Tensor, owner: Tensor, number: int) -> Tensor:
    """[n] the position of each owner's largest value, the first of those that tie; −1 for an owner without values."""
    largest = values.new_full((number,), -torch.inf).scatter_reduce(0, owner, values, "amax").index_select(0, owner)
    near = values >= largest - TIE * largest.abs().clamp_min(1)
    place = torch.arange(len(values), device=values.device)
    first = torch.full((number,), len(values), device=values.device)
    first = first.scatter_reduce(0, owner, torch.where(near, place, len(values)), "amin")
    return torch.where(first < len(values), first, -1)


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
        return self.given(self.ptr[:0])

    @cached_property
    def neighbours(self) -> Neighbours:
        """The neighbours of every node."""
        return Neighbours.of(self.pair, int(self.node_ptr[-1]))

    @property
    def view(self) -> UnitView:
        """All units, as they are."""
        return UnitView(self.terms.logit, self.terms.start, self.terms.row, self.terms.reply, self.pair)

    def given(self, gone: Tensor) -> Tensor:
        """f(u | D) of every unit, for the units that are gone from all instances together.

        Args:
            gone: D, positions of units.

        Returns:
            [units].
        """
        return self.view.answers(self._around(gone))

    def _around(self, units: Tensor, shift: Tensor | None = None, nodes: int | None = None) -> Tensor:
        """K_i + Σ_{j ~ i} L_j of every node i, [nodes, r].

        Args:
            units: D [d].
            shift: [d] from nodes of this graph to those of the copy that the unit is gone from; None: 0.
            nodes: How many nodes all copies have; None: as many as this graph.
        """
        nodes = int(self.node_ptr[-1]) if nodes is None else nodes
        around = self.terms.start.new_zeros(nodes, self.terms.start.size(1))
        ends, near, far = self._deleted(units)
        # Summed at each node first: the neighbours of a hub are visited once, however many of its units are gone.
        node, place = torch.unique(ends if shift is None else ends + shift.repeat(2), return_inverse=True)
        source = torch.empty_like(node).scatter_(0, place, ends)
        near, far = (value.new_zeros(len(node), value.size(1)).index_add(0, place, value) for value in (near, far))
        self.neighbours.add_(around, source, near, far, node - source)
        return around

    def _deleted(self, units: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The nodes [2 d] of these units, and k and l [2 d, r] of the unit at each."""
        near, far = (values.index_select(0, units).repeat(2, 1) for values in (self.terms.near, self.terms.far))
        return self.pair.index_select(1, units).flatten(), near, far

    def repeated(self, times: int) -> "DeletionPlan":
        """The same instances several times, one copy after the other."""
        copies = torch.arange(times, device=self.ptr.device)[:, None]
        units, nodes = self.pair.size(1), int(self.node_ptr[-1])
        return DeletionPlan(
            self.terms.each(lambda values: values.repeat(times, *[1] * (values.dim() - 1))),
            (self.pair[:, None] + nodes * copies).flatten(1),
            torch.cat([self.ptr[:1], (self.ptr[1:] + units * copies).flatten()]),
            torch.cat([self.node_ptr[:1], (self.node_ptr[1:] + nodes * copies).flatten()]),
        )

    def copies(self, instance: Tensor, removed: Tensor) -> Tensor:
        """f(u | D) for copies of instances with units removed, rounded: units that are alike tie.

        Args:
            instance: [v] the instance of each copy.
            removed: Boolean [Σ their units], copy after copy.

        Returns:
            [Σ their units].
        """
        found, start = [self.terms.logit[:0].double()], 0
        for piece in split_by_cost(instance, self.ptr.diff()[instance], PIECE_UNITS):
            index, copy = gather_ranges(self.ptr[piece], self.ptr[piece + 1])
            gone = removed[start : start + len(index)].nonzero().squeeze(1)
            found.append(self.expanded(piece, index, copy, gone).double().round(decimals=DIGITS))
            start += len(index)
        return torch.cat(found)

    def expanded(self, instance: Tensor, index: Tensor, copy: Tensor, gone: Tensor) -> Tensor:
        """f(u | D) for copies: `index` has the units of all copies, `copy` the copy of each, `gone` places in them."""
        nodes = self.node_ptr.diff()[instance]
        shift = (nodes.cumsum(0) - nodes - self.node_ptr[instance]).index_select(0, copy)
        view = self.view.some(index)
        around = self._around(index.index_select(0, gone), shift.index_select(0, gone), int(nodes.sum()))
        return replace(view, pair=view.pair + shift).answers(around)

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

        return self._walk(kept, noisy, self.ptr[:0])

    @torch.no_grad()
    def order(self, path: Tensor | None = None) -> Tensor:
        """The place of every unit in the plan, 0 for the one to delete first.

        Args:
            path: [n, steps] units that go before all others, −1 after the last; None: none.

        Returns:
            [units].
        """
        counts = self.ptr.diff()
        path = self.ptr.new_empty(len(counts), 0) if path is None else path
        before, on_path = (path >= 0).sum(1), path >= 0
        kept = (PLANNED_SHARE * counts).ceil().long().minimum(most_steps(counts, MOST_STEPS, MOST_VISITS))
        walk = self._walk((kept - before).clamp_min(0), lambda logits: logits, path[on_path])
        found = walk >= 0
        gone = torch.cat([path[on_path], walk[found]])
        place = torch.cat([_columns(path)[on_path], (before[:, None] + _columns(walk))[found]])
        rest = self.given(gone).double().clamp(-LARGE, LARGE).round(decimals=DIGITS)
        value = rest.index_put((gone,), 2 * LARGE - place.to(rest.dtype))
        return ranks(value, owners(self.ptr), self.ptr)

    def _walk(self, kept: Tensor, compared: Compared, before: Tensor) -> Tensor:
        """Delete, one after the other, the unit with the largest logit.

        Args:
            kept: [n] how many units of each instance, at most as many as there are without those gone before.
            compared: From logits to what is compared: with noise to draw, as they are to choose.
            before: Units that are gone before the first step.

        Returns:
            [n, steps] the units, −1 after the last.
        """
        steps = int(kept.max()) if len(kept) else 0
        walk = torch.full((len(kept), steps), -1, device=self.ptr.device)
        owner, view, around = owners(self.ptr), self.view, self._around(before)
        units = torch.arange(len(owner), device=self.ptr.device)  # those of instances that are not done
        free, ends = torch.ones_like(units, dtype=torch.bool).index_fill(0, before, False), set(kept.tolist())
        for step in range(steps):
            if step in ends:
                chosen = (kept > step)[owner].nonzero().squeeze(1)
                units, owner, view = units[chosen], owner[chosen], view.some(chosen)
            logits = compared(view.answers(around).clamp(-LARGE, LARGE)).masked_fill(~free[units], -torch.inf)
            best = _first_largest(logits, owner, len(kept))
            walk[:, step] = torch.where(best < 0, -1, units[best])
            gone = walk[:, step][best >= 0]
            free[gone] = False
            self.neighbours.add_(around, *self._deleted(gone))  # at most two nodes of each instance
        return walk
