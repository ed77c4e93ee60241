"""From settings to what the mask network minimises."""

from rcexplainer.config import RCConfig
from rcexplainer.core.gates import GATES
from rcexplainer.core.losses import SIDES
from rcexplainer.core.objectives import (
    Masks,
    Objective,
    follow_effects,
    follow_order,
    keep_top,
    leave_region,
    seek_outcomes,
    sum_of,
)

STABLE_TOP = 8  # k: top edges that must survive noise, as in the paper's measure
DRAWS = 2  # explanations drawn for an instance in a step, to be compared with each other
PRESS = 5.0  # pressed restarts begin with this many times β, which falls to β


def make_masks(config: RCConfig, press: float = 1.0) -> Masks:
    """How logits become masks, and the penalties on them."""
    return Masks(
        GATES[config.gate],
        weight=config.weight_regions,
        sparse=config.weight_sparse,
        discrete=config.weight_discrete,
        temperature=config.temperature,
        target_size=config.target_size,
        press=press,
    )


def make_objective(config: RCConfig, press: float = 1.0) -> Objective:
    """The sum of all losses with a weight.

    Args:
        config: The settings.
        press: Factor of β at the start of the training; it falls to 1.
    """
    parts: list[Objective] = []
    if config.weight_regions:
        parts.append(leave_region(make_masks(config, press), config.weight_same, SIDES[config.sides]))
    if config.weight_order:
        parts.append(follow_order(config.weight_order))
    if config.weight_effect:
        parts.append(follow_effects(config.weight_effect, config.effect_temperature))
    if config.weight_outcome:
        parts.append(seek_outcomes(config.weight_outcome, DRAWS))
    if config.weight_stable and config.noise:
        parts.append(keep_top(config.weight_stable, STABLE_TOP))
    return sum_of(parts)
