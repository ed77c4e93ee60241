"""From settings to what the mask network minimises."""

from dataclasses import dataclass

from rcexplainer.config import RCConfig
from rcexplainer.core.drawn_masks import over_edges, over_matrix
from rcexplainer.core.gates import GATES
from rcexplainer.core.losses import SIDES
from rcexplainer.core.objectives import (
    Masks,
    Objective,
    follow_effects,
    follow_order,
    keep_top,
    leave_region,
    lose_confidence,
    lose_probability,
    seek_outcomes,
    sum_of,
)

STABLE_TOP = 8  # k: top edges that must survive noise, as in the paper's measure
ETA = 10.0  # η of L_conf; the paper gives no value
DRAWS = 4  # explanations drawn for an instance in a step, to be compared with each other


@dataclass(frozen=True)
class Restarts:
    """How the networks that are trained side by side differ.

    Attributes:
        press: Factor of β at the start of the training, for each; it falls to 1.
        target_size: Size of a mask up to which it is not penalised, for each.
    """

    press: tuple[float, ...]
    target_size: tuple[float, ...]

    @classmethod
    def alone(cls, config: RCConfig) -> "Restarts":
        """A single training, as the settings say."""
        return cls((1.0,), (config.target_size,))

    def __len__(self) -> int:
        return len(self.press)

    def some(self, start: int, end: int) -> "Restarts":
        """Those at positions from start to end, exclusive."""
        return Restarts(self.press[start:end], self.target_size[start:end])


def make_masks(config: RCConfig, restarts: Restarts) -> Masks:
    """How logits become masks, and the penalties on them."""
    return Masks(
        GATES[config.gate],
        draw=over_matrix if config.network == "directed" else over_edges,
        weight=config.weight_regions,
        sparse=config.weight_sparse,
        discrete=config.weight_discrete,
        temperature=config.temperature,
        target_size=restarts.target_size,
        press=restarts.press,
    )


def mask_objective(config: RCConfig, masks: Masks) -> Objective:
    """The loss of masks, by what they should lead out of."""
    if config.leave == "probability":
        return lose_probability(masks, config.weight_same)
    if config.leave == "confidence":
        return lose_confidence(masks, ETA)
    return leave_region(masks, config.weight_same, SIDES[config.sides])


def make_objective(config: RCConfig, restarts: Restarts | None = None) -> Objective:
    """The sum of all losses with a weight.

    Args:
        config: The settings.
        restarts: How networks that are trained side by side differ; None: a single one.
    """
    masks = make_masks(config, restarts or Restarts.alone(config))
    parts: list[Objective] = []
    if config.weight_regions:
        parts.append(mask_objective(config, masks))
    if config.weight_order:
        parts.append(follow_order(config.weight_order))
    if config.weight_effect:
        parts.append(follow_effects(config.weight_effect, config.effect_temperature))
    if config.weight_outcome:
        parts.append(seek_outcomes(config.weight_outcome, DRAWS))
    if config.weight_stable and config.noise:
        parts.append(keep_top(config.weight_stable, STABLE_TOP))
    return sum_of(parts)
