"""What the mask network is trained on: functions from a mini-batch of instances to named terms, to be added up.

    leave_region    15 · (λ L_same + (1 − λ) L_opp + β R_sparse + μ R_discrete)      the paper (Eq. 7)
    lose_confidence 15 · (L_conf + β R_sparse + μ R_discrete)                        its ablation without boundaries
    follow_order    the order in which a search against the region's boundaries deleted the units
    follow_effects  what each unit does on its own
    seek_outcomes   what deleting explanations drawn from the network's own ranking really leads to
    keep_top        the top of a noisy copy's ranking should be the top of the graph's own

Every objective gives the mean over the instances. How logits become masks is a gate passed in.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.gates import Gate
from rcexplainer.core.losses import SIDES, Side, confident, discrete, doubtful, sparse
from rcexplainer.core.outcomes import Outcome, outcome_loss
from rcexplainer.core.plackett_luce import effect_loss, order_loss
from rcexplainer.core.stability import NoisyCopy, stability_loss

Terms = dict[str, Tensor]


@dataclass(frozen=True)
class Step:
    """All that an objective may look at."""

    logits: Tensor  # f_θ [units]
    ptr: Tensor  # [n + 1]
    owner: Tensor  # [units]
    clean: Tensor  # B(φ_gc(G)) [n, P], towards the inside of each instance's region
    inside: Callable[[Tensor], Tensor]  # a mask [units] → B(φ_gc(G weighed by it)) [n, P]
    log_p: Callable[[Tensor], Tensor]  # a mask [units] → log P(c | G weighed by it) [n], c the predicted class
    outcome: Outcome  # units [units] that are really gone → 1 − P(c | G without them) [n]
    copied: Callable[[], NoisyCopy]  # what the network says of noisy copies
    order: Tensor  # π [n, K]
    effect: Tensor  # e [units]
    progress: float  # share of the training that is done
    generator: torch.Generator


Objective = Callable[[Step], Terms]


@dataclass(frozen=True)
class Masks:
    """How logits become masks, and what is asked of the masks themselves."""

    gate: Gate
    weight: float = 1.0  # factor of all terms of the loss
    sparse: float = 0.0  # β
    discrete: float = 0.0  # μ
    warmup: float = 0.0  # share of the training over which μ grows from 0 to its value
    temperature: tuple[float, float] = (1.0, 1.0)  # of the gate at the start and at the end, geometric in between
    target_size: float = 0.0  # only what is above it is penalised
    press: float = 1.0  # β falls to its value from so many times it


def leave_region(masks: Masks, weight_same: float, sides: tuple[Side, Side] = SIDES["product"]) -> Objective:
    """The paper's losses."""
    same, opposite = sides

    def both(step: Step, mask: Tensor) -> Terms:
        return {
            "same": weight_same * same(step.clean, step.inside(mask)),
            "opposite": (1 - weight_same) * opposite(step.clean, step.inside(1 - mask)),
        }

    return regularised(both, masks)


def lose_confidence(masks: Masks, eta: float) -> Objective:
    """The paper's ablation: how sure the model is instead of boundaries."""

    def both(step: Step, mask: Tensor) -> Terms:
        return {"same": confident(step.log_p(mask)), "opposite": eta * doubtful(step.log_p(1 - mask))}

    return regularised(both, masks)


def regularised(both: Callable[[Step, Tensor], Terms], masks: Masks) -> Objective:
    """What is asked of the kept and of the remaining graph, with the size and the entropy of the mask."""
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
    """Plackett–Luce likelihood of the search's order."""
    return lambda step: {"order": weight * order_loss(step.logits, step.ptr, step.owner, step.order).mean()}


def follow_effects(weight: float, temperature: float) -> Objective:
    """Cross-entropy to the softmax of the units' own effects."""

    def objective(step: Step) -> Terms:
        loss = effect_loss(step.logits, step.owner, len(step.clean), step.effect, temperature)
        return {"effect": weight * loss.mean()}

    return objective


def seek_outcomes(weight: float, draws: int) -> Objective:
    """The mean outcome of explanations that the network draws."""

    def objective(step: Step) -> Terms:
        loss = outcome_loss(step.logits, step.ptr, step.owner, step.outcome, draws, step.generator)
        return {"outcome": weight * loss.mean()}

    return objective


def keep_top(weight: float, k: int) -> Objective:
    """The same top k in noisy copies."""

    def objective(step: Step) -> Terms:
        return {"stable": weight * stability_loss(step.logits, step.ptr, step.owner, step.copied(), k).mean()}

    return objective


def sum_of(objectives: list[Objective]) -> Objective:
    """All of them at once."""
    return lambda step: {name: term for objective in objectives for name, term in objective(step).items()}
