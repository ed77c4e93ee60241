"""Training objectives of the mask network: functions from a mini-batch of instances to named terms of the loss.

    leave_region    15 · (λ L_same + (1 − λ) L_opp + β R_sparse + μ R_discrete)      the paper (Eq. 7)
    lose_confidence 15 · (L_conf + β R_sparse + μ R_discrete)                        its ablation without boundaries
    lose_probability 15 · (λ (1 − P(c | G_θ)) + (1 − λ) P(c | G'_θ) + …)             the same weights, no boundaries
    follow_order    the order in which a search against the region's boundaries deleted the units
    follow_effects  the effect of each unit on its own
    seek_outcomes   the real outcome of deleting explanations drawn from the network's own ranking
    keep_top        the graph's top k should be the top of a noisy copy's ranking

Every term is a mean over the instances. How logits become masks is a gate passed in. Networks that are trained side by
side are one batch: the instances as the first network scores them, then as the second does, …; a term then holds one
mean for each of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.drawn_masks import Draw, Logits, PairLogits, over_edges
from rcexplainer.core.gates import Gate
from rcexplainer.core.losses import SIDES, Side, confident, doubtful
from rcexplainer.core.outcomes import OutcomeFn, outcome_loss
from rcexplainer.core.plackett_luce import effect_loss, order_loss
from rcexplainer.core.stability import NoisyCopy, stability_loss

Terms = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Step:
    """A mini-batch, as objectives see it; n instances for all R networks together.

    Attributes:
        logits: f_θ [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        clean: B(φ_gc(G)) [n, P], pointing into each instance's region.
        inside: k masks [k, units] → B(φ_gc(G weighted by them)) [k, n, P].
        log_p: k masks [k, units] → log P(c | G weighted by them) [k, n], c the predicted class.
        outcome: Units to delete, [k, units] → 1 − P(c | G without them) [k, n].
        copied: Gives the logits of noisy copies of the instances.
        pairs: f_θ of ordered pairs of nodes, if the directions of a unit are scored apart.
        order: π [n, K] the order of a search's deletions, −1 after the last.
        effect: e [units] the effect of each unit on its own.
        progress: Share of the training that is done.
        generator: Source of random numbers.
        taught: [n] whether a search was made for this instance; None: for all of them.
        members: R, the networks that are trained side by side.
    """

    logits: Tensor
    ptr: Tensor
    owner: Tensor
    clean: Tensor
    inside: Callable[[Tensor], Tensor]
    log_p: Callable[[Tensor], Tensor]
    outcome: OutcomeFn
    copied: Callable[[], NoisyCopy]
    order: Tensor
    effect: Tensor
    progress: float
    generator: torch.Generator
    taught: Tensor | None = None
    members: int = 1
    pairs: PairLogits | None = None

    def mean(self, values: Tensor) -> Tensor:
        """The mean over the instances, for each network: [n] → [R]."""
        return values.view(self.members, -1).mean(1)

    def taught_mean(self, values: Tensor) -> Tensor:
        """The same over the instances for which a search was made; 0 if there is none."""
        if self.taught is None:
            return self.mean(values)
        return self.mean(values * self.taught) / self.mean(self.taught.to(values.dtype)).clamp_min(1e-9)

    def spread(self, values: Sequence[float]) -> Tensor | float:
        """A value for each network, as one for each of its instances, [n]; a single value stands for all of them."""
        if len(set(values)) == 1:
            return values[0]
        return self.logits.new_tensor(values).repeat_interleave(len(self.clean) // self.members)


Objective = Callable[[Step], Terms]


@dataclass(frozen=True)
class Masks:
    """How logits become masks, and how the masks are regularised.

    Attributes:
        gate: The function from logits to masks.
        draw: What masks are drawn for, and what their size and entropy are taken over.
        weight: Factor of all terms of the loss.
        sparse: β, the weight of R_sparse.
        discrete: μ, the weight of R_discrete.
        temperature: T of the gate at the start and at the end, geometric in between.
        target_size: Size of a mask up to which R_sparse is 0, for all networks or one for each.
        press: Factor of β at the start, likewise; it falls linearly to 1 at the end.
    """

    gate: Gate
    draw: Draw = over_edges
    weight: float = 1.0
    sparse: float = 0.0
    discrete: float = 0.0
    temperature: tuple[float, float] = (1.0, 1.0)
    target_size: tuple[float, ...] = (0.0,)
    press: tuple[float, ...] = (1.0,)


def leave_region(masks: Masks, weight_same: float, sides: tuple[Side, Side] = SIDES["product"]) -> Objective:
    """The paper's losses (Eq. 7).

    Args:
        masks: How masks are made and regularised.
        weight_same: λ.
        sides: L_same and L_opp, or variants of them.

    Returns:
        The terms "same", "opposite", "sparse" and "discrete".
    """
    same, opposite = sides

    def both(step: Step, mask: Tensor) -> Terms:
        kept, remainder = step.inside(torch.stack([mask, 1 - mask]))
        return {
            "same": weight_same * same(step.clean, kept),
            "opposite": (1 - weight_same) * opposite(step.clean, remainder),
        }

    return regularised(both, masks)


def lose_confidence(masks: Masks, eta: float) -> Objective:
    """The paper's ablation without boundaries: the model's confidence takes their place.

    Args:
        masks: How masks are made and regularised.
        eta: η, the weight of the remainder's term.

    Returns:
        The terms "same", "opposite", "sparse" and "discrete".
    """

    def both(step: Step, mask: Tensor) -> Terms:
        kept, remainder = step.log_p(torch.stack([mask, 1 - mask]))
        return {"same": confident(kept), "opposite": eta * doubtful(remainder)}

    return regularised(both, masks)


def lose_probability(masks: Masks, weight_same: float) -> Objective:
    """The paper's weights on the probability itself: with two classes and a linear head, σ(B) is P(c).

    Args:
        masks: How masks are made and regularised.
        weight_same: λ.

    Returns:
        The terms "same", "opposite", "sparse" and "discrete".
    """

    def both(step: Step, mask: Tensor) -> Terms:
        kept, remainder = step.log_p(torch.stack([mask, 1 - mask])).exp()
        return {"same": weight_same * (1 - kept), "opposite": (1 - weight_same) * remainder}

    return regularised(both, masks)


def regularised(both: Callable[[Step, Tensor], Terms], masks: Masks) -> Objective:
    """Add R_sparse and R_discrete to terms that are computed from a mask.

    Args:
        both: The terms of the kept and the remaining graph, each [n], for a mask [units].
        masks: How masks are made and regularised.

    Returns:
        All terms.
    """
    start, end = masks.temperature

    def objective(step: Step) -> Terms:
        now = start * (end / start) ** step.progress
        logits = Logits(step.logits, step.ptr, step.owner, step.pairs)
        drawn = masks.draw(logits, masks.gate, now, step.generator)
        press, target = step.spread(masks.press), step.spread(masks.target_size)
        pressed = press + (1 - press) * step.progress
        parts = both(step, drawn.mask) | {
            "sparse": pressed * masks.sparse * (drawn.size - target).relu(),
            "discrete": masks.discrete * drawn.entropy,
        }
        return {name: masks.weight * step.mean(part) for name, part in parts.items()}

    return objective


def follow_order(weight: float) -> Objective:
    """Plackett–Luce likelihood of the search's order.

    Args:
        weight: Factor of the term "order".

    Returns:
        The objective.
    """
    return lambda step: {"order": weight * step.taught_mean(order_loss(step.logits, step.ptr, step.owner, step.order))}


def follow_effects(weight: float, temperature: float) -> Objective:
    """Cross-entropy to the softmax of the units' own effects.

    Args:
        weight: Factor of the term "effect".
        temperature: τ of the softmax.

    Returns:
        The objective.
    """

    def objective(step: Step) -> Terms:
        loss = effect_loss(step.logits, step.owner, len(step.clean), step.effect, temperature)
        return {"effect": weight * step.taught_mean(loss)}

    return objective


def seek_outcomes(weight: float, draws: int) -> Objective:
    """Mean outcome of explanations drawn from the network's ranking.

    Args:
        weight: Factor of the term "outcome".
        draws: Explanations drawn per instance, at least two.

    Returns:
        The objective.
    """

    def objective(step: Step) -> Terms:
        loss = outcome_loss(step.logits, step.ptr, step.owner, step.outcome, draws, step.generator)
        return {"outcome": weight * step.mean(loss)}

    return objective


def keep_top(weight: float, k: int) -> Objective:
    """Stability of the top k in noisy copies.

    Args:
        weight: Factor of the term "stable".
        k: Top units that must survive noise.

    Returns:
        The objective.
    """

    def objective(step: Step) -> Terms:
        loss = stability_loss(step.logits, step.ptr, step.owner, step.copied(), k)
        return {"stable": weight * step.mean(loss)}

    return objective


def sum_of(objectives: list[Objective]) -> Objective:
    """Combine objectives whose terms have different names.

    Args:
        objectives: The parts.

    Returns:
        An objective with the terms of all of them.
    """
    return lambda step: {name: term for objective in objectives for name, term in objective(step).items()}
