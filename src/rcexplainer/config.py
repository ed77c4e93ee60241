"""Settings of RCExplainer, documented field by field with the paper's value."""

import math
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Literal

from rcexplainer.errors import RCExplainerError


@dataclass(frozen=True)
class RCConfig:
    """How regions are found and the mask network is trained."""

    # Boundaries and regions
    sampler: Literal["sample", "segment"] = "sample"  # where boundaries are taken; the paper: at the sample
    candidates_per_class: int = 50  # sampled boundaries a class; the paper: 50. A linear head is enumerated
    epsilon: float = 1.0  # ε of the greedy choice (Eq. 5); the paper: "a small constant"

    # The mask network
    inputs: Literal["all", "last"] = "all"  # which layers it reads; the paper: the last
    hidden: int = 64  # width of its hidden layer; the paper: 64

    # Training
    epochs: int = 60  # the paper: 600
    lr: float = 0.003  # the paper: 0.001
    batch_size: int = 128  # instances a step; the paper does not say, its code about 200
    patience: int = 15  # epochs without a better validation loss before training stops
    teacher_depth: float = 0.3  # how far the search deletes, as a share of the units
    teacher_limit: int = 4000  # instances the search is run on, at most
    weight_effect: float = 0.5  # of what units do on their own, beside the search's order; ours
    effect_temperature: float = 0.1  # τ: drops in probability this close share the credit; ours

    def __post_init__(self) -> None:
        for name in ("candidates_per_class", "hidden", "epochs", "batch_size", "patience", "teacher_limit"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise RCExplainerError(f"{name} must be a whole number ≥ 1, got {value!r}")
        limits = {"lr": math.inf, "epsilon": math.inf, "effect_temperature": math.inf, "teacher_depth": 1.0}
        for name, most in limits.items():
            value = getattr(self, name)
            if (
                not isinstance(value, int | float)
                or isinstance(value, bool)
                or not 0 < value <= most
                or value == math.inf
            ):
                within = "a finite number > 0" if most == math.inf else "a share in (0, 1]"
                raise RCExplainerError(f"{name} must be {within}, got {value!r}")
        if not isinstance(self.weight_effect, int | float) or not 0 <= self.weight_effect < math.inf:
            raise RCExplainerError(f"weight_effect must be a finite number ≥ 0, got {self.weight_effect!r}")
        for name, allowed in (("sampler", ("sample", "segment")), ("inputs", ("all", "last"))):
            if getattr(self, name) not in allowed:
                raise RCExplainerError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")


PRESETS: dict[str, RCConfig] = {"default": RCConfig()}


def make_config(preset: str, settings: dict[str, Any]) -> RCConfig:
    """A preset with single fields changed; an unknown name is an error at once."""
    if preset not in PRESETS:
        raise RCExplainerError(f"unknown preset {preset!r}; known: {', '.join(PRESETS)}")
    known = [field.name for field in fields(RCConfig)]
    for name in settings:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise RCExplainerError(f"unknown setting {name!r}; {hint}")
    return replace(PRESETS[preset], **settings)
