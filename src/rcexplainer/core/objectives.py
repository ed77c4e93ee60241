"""Training objectives of the mask network: functions from a mini-batch of instances to named terms of the loss.

    leave_region    15 · (λ L_same + (1 − λ) L_opp + β R_sparse + μ R_discrete)      the paper (Eq. 7)
    lose_confidence 15 · (L_conf + β R_sparse + μ R_discrete)                        its ablation without boundaries
    follow_order    the order in which a search against the region's boundaries deleted the units
    follow_effects  the effect of each unit on its own
    seek_outcomes   the real outcome of deleting explanations drawn from the network's own ranking
    keep_top        the graph's top k should be the top of a noisy copy's ranking

Every term is a mean over the instances. How logits become masks is a gate passed in.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.gates import Gate
from rcexplainer.core.losses import SIDES, Side, confident, discrete, doubtful, sparse
from rcexplainer.core.outcomes import OutcomeFn, outcome_loss
from rcexplainer.core.plackett_luce import effect_loss, order_loss
from rcexplainer.core.stability import NoisyCopy, stability_loss

Terms = dict[str, Tensor]


@dataclass(frozen=True)
class Step:
    """A mini-batch, as objectives see it.

    Attributes:
        logits: f_θ [units].
        ptr: [n + 1] where the units of each instance begin.
        owner: [units] the instance of each unit.
        clean: B(φ_gc(G)) [n, P], pointing into each instance's region.
        inside: mask [units] → B(φ_gc(G weighted by it)) [n, P].
        log_p: mask [units] → log P(c | G weighted by it) [n], c the predicted class.
        outcome: units [units] to delete → 1 − P(c | G without them) [n].
        copied: Gives the logits of noisy copies of the instances.
        order: π [n, K] the order of a search's deletions, −1 after the last.
        effect: e [units] the effect of each unit on its own.
        progress: Share of the training that is done.
        generator: Source of random numbers.
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


Objective = Callable[[Step], Terms]


@dataclass(frozen=True)
class Masks:
    """How logits become masks, and how the masks are regularised.

    Attributes:
        gate: The function from logits to masks.
        weight: Factor of all terms of the loss.
        sparse: β, the weight of R_sparse.
        discrete: μ, the weight of R_discrete.
        warmup: Share of the training over which μ grows from 0 to its value.
        temperature: T of the gate at the start and at the end, geometric in between.
        target_size: Size of a mask up to which R_sparse is 0.
        press: Factor of β at the start; it falls linearly to 1 at the end.
    """

    gate: Gate
    weight: float = 1.0
    sparse: float = 0.0
    discrete: float = 0.0
    warmup: float = 0.0
    temperature: tuple[float, float] = (1.0, 1.0)
    target_size: float = 0.0
    press: float = 1.0


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
        return {
            "same": weight_same * same(step.clean, step.inside(mask)),
            "opposite": (1 - weight_same) * opposite(step.clean, step.inside(1 - mask)),
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
        return {"same": confident(step.log_p(mask)), "opposite": eta * doubtful(step.log_p(1 - mask))}

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
        mask = masks.gate(step.logits, step.ptr, step.owner, now, step.generator)
        number = len(step.clean)
        grown = min(1.0, step.progress / masks.warmup) if masks.warmup else 1.0
        pressed = masks.press + (1 - masks.press) * step.progress
        parts = both(step, mask) | {
            "sparse": pressed * masks.sparse * sparse(mask, step.owner, number, masks.target_size),
            "discrete": grown * masks.discrete * discrete(mask, step.owner, number),
        }
        return {name: masks.weight * part.mean() for name, part in parts.items()}

    return objective


def follow_order(weight: float) -> Objective:
    """Plackett–Luce likelihood of the search's order.

    Args:
        weight: Factor of the term "order".

    Returns:
        The objective.
    """
    return lambda step: {"order": weight * order_loss(step.logits, step.ptr, step.owner, step.order).mean()}


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
        return {"effect": weight * loss.mean()}

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
        return {"outcome": weight * loss.mean()}

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
        return {"stable": weight * stability_loss(step.logits, step.ptr, step.owner, step.copied(), k).mean()}

    return objective


def sum_of(objectives: list[Objective]) -> Objective:
    """Combine objectives whose terms have different names.

    Args:
        objectives: The parts.

    Returns:
        An objective with the terms of all of them.
    """
    return lambda step: {name: term for objective in objectives for name, term in objective(step).items()}
