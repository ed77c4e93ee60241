"""Settings of RCExplainer, documented field by field with the paper's value."""

import logging
import math
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

from rcexplainer.errors import RCExplainerError

log = logging.getLogger(__name__)

Span = tuple[float, float]
NetworkName = Literal["directed", "concat", "factorised", "neighbours", "planned"]


@dataclass(frozen=True)
class RCConfig:
    """How regions are found and the mask network is trained. The defaults are the preset `default` for graphs."""

    # Regions
    candidates_per_class: int = 50  # sampled boundaries per class; the paper: 50. A linear head is enumerated
    epsilon: float = 1.0  # ε of the greedy choice (Eq. 5); the paper: "a small constant"
    leave: Literal["region", "nearest", "class", "probability", "confidence"] = "region"  # what masks lead out of
    tight: bool = False  # also boundaries with all members on one side; the paper: only the greedy choice
    scaled: bool = True  # divide boundaries by half the median |B| in their region; the paper: no

    # Network
    network: NetworkName = "planned"  # how edges are scored, and planned; the paper: concat, its code: directed
    inputs: Literal["all", "layers", "unit", "last"] = "all"  # embeddings it reads; the paper: the last layer's
    connected: bool = False  # nodes, links: edges not connected to the explained node rank last; the paper: no

    # Losses: the paper's (Eq. 7)
    weight_regions: float = 0.0  # factor of all four terms; the paper: 15
    weight_same: float = 0.3  # λ of L_same, 1 − λ of L_opp; the paper: .1 for graphs, .85 for nodes
    weight_sparse: float = 0.0  # β; the paper: 6e-5 (Mutagenicity 6e-4, nodes .006) for each direction of an edge
    weight_discrete: float = 0.0  # μ; the paper: .66
    target_size: float = 0.0  # only the size of the mask above this is penalised; the paper: 0
    sides: Literal["product", "softplus"] = "product"  # σ of a product of two B (the paper), or softplus of one
    gate: Literal["sigmoid", "concrete", "budget"] = "budget"  # from logits to masks; the paper: sigmoid
    temperature: Span = (0.5, 0.5)  # of the gate, at the start and at the end; the paper: 1, its code: 5

    # Losses: learnt from the model itself; the paper has none of them
    weight_order: float = 0.2  # imitation of the order in which greedy deletion leaves the region
    weight_effect: float = 0.05  # imitation of the effects of deleting single units
    effect_temperature: float = 0.1  # τ: drops in probability this close share the credit
    weight_outcome: float = 10.0  # outcome of really deleting explanations drawn from the network's ranking
    weight_stable: float = 10.0  # top-k stability under noise; 0: the other losses train on noisy copies instead
    noise: float = 0.45  # noisy copies have up to this share of edges and features changed

    # Teacher
    teacher: Literal["region", "margin"] = "region"  # what greedy deletion leaves: the region, or the class
    teacher_limit: int = 4000  # training instances, and validation instances, at most; the paper: all

    # Training
    epochs: int = 60  # the paper: 600
    lr: float = 0.008  # the paper: 0.001
    batch_size: int | None = None  # instances per step; None: by device; the paper does not say, its code about 200
    patience: int | None = 30  # epochs without a better validation loss; None: constant lr, last weights (the paper)
    restarts: int = 1  # trainings whose best are averaged to an ensemble; the paper: 1
    on_collapse: Literal["rescue", "report"] = "rescue"  # masks all 0 or 1: train with safer settings, or only warn

    def __post_init__(self) -> None:
        for name, hint in _hints().items():
            _CHECKS.get(hint, _one_of)(name, getattr(self, name))
        if not (self.weight_regions or self.weight_order or self.weight_effect or self.weight_outcome):
            raise RCExplainerError(
                "weight_regions, weight_order, weight_effect and weight_outcome are all 0: there is nothing to train "
                "the network on"
            )
        if self.network == "directed" and self.gate == "budget":
            raise RCExplainerError(
                'network="directed" has a mask for each direction of an edge, and gate="budget" ranks edges: choose '
                'gate="sigmoid" or "concrete"'
            )

    @property
    def sampler(self) -> Literal["sample", "segment"]:
        """Where boundaries are taken: at samples of a class, or, as in the authors' code, between two classes."""
        return "segment" if self.network == "directed" else "sample"

    @property
    def planned(self) -> bool:
        """Whether a plan of deletions is learnt: where deletions are learnt at all, and not masks alone."""
        return self.network == "planned" and bool(self.weight_order or self.weight_outcome)

    def without_effect(self) -> dict[str, str]:
        """The settings that change nothing as the others stand, each with the reason."""
        masks = ("weight_same", "weight_sparse", "weight_discrete", "target_size", "sides", "gate", "temperature")
        reasons: dict[str, str] = {}
        if not self.weight_regions:
            reasons |= dict.fromkeys(masks, "weight_regions is 0")
            del reasons["gate"]  # it still decides whether scores are shares or masks
            if self.leave != "nearest":  # the teacher leaves the nearest boundary too
                reasons["leave"] = "weight_regions is 0"
        elif not self.weight_sparse:
            reasons["target_size"] = "weight_sparse is 0"
        if self.weight_regions and self.leave in ("probability", "confidence"):
            unused = ("sides",) if self.leave == "probability" else ("sides", "weight_same")
            reasons |= dict.fromkeys(unused, f"leave is {self.leave}")
        if self.leave == "nearest":
            reasons |= dict.fromkeys(("tight", "epsilon"), "leave is nearest")
        if not (self.weight_order or self.weight_effect):
            reasons["teacher"] = "weight_order and weight_effect are 0"
        if not self.weight_effect:
            reasons["effect_temperature"] = "weight_effect is 0"
        if not self.noise:
            reasons["weight_stable"] = "noise is 0"
        return reasons


@cache
def _hints() -> dict[str, Any]:
    return get_type_hints(RCConfig)


def _whole(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise RCExplainerError(f"{name} must be a whole number ≥ 1, got {value!r}")


def _whole_or_none(name: str, value: Any) -> None:
    if value is not None:
        _whole(name, value)


def _truth(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise RCExplainerError(f"{name} must be True or False, got {value!r}")


def _number(name: str, value: Any) -> None:
    most, positive = (1.0 if name in _SHARES else math.inf), name in _POSITIVE
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not 0 <= value <= most or (positive and value == 0):
        low = "> 0" if positive else "≥ 0"
        raise RCExplainerError(
            f"{name} must be {f'a finite number {low}' if most == math.inf else 'a share from 0 to 1'}, got {value!r}"
        )


def _span(name: str, value: Any) -> None:
    if not isinstance(value, tuple) or len(value) != 2:
        raise RCExplainerError(f"{name} must be a pair (at the start, at the end), got {value!r}")
    for part in value:
        _number(name, part)


def _one_of(name: str, value: Any) -> None:
    allowed = get_args(_hints()[name])
    if value not in allowed:
        raise RCExplainerError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


_SHARES = ("weight_same", "noise")
_POSITIVE = ("lr", "epsilon", "effect_temperature", "temperature")
_CHECKS = {int: _whole, int | None: _whole_or_none, bool: _truth, float: _number, Span: _span}

_PAPER = RCConfig(
    epsilon=1e-3,
    scaled=False,
    network="concat",
    inputs="last",
    weight_regions=15.0,
    weight_same=0.1,
    weight_sparse=2 * 6e-5,  # ‖M‖₁ counts both directions of an edge
    weight_discrete=0.66,
    gate="sigmoid",
    temperature=(1.0, 1.0),
    weight_order=0.0,
    weight_effect=0.0,
    weight_outcome=0.0,
    weight_stable=0.0,
    noise=0.0,
    epochs=600,
    lr=0.001,
    batch_size=200,
    patience=None,
    on_collapse="report",
)
# The authors' code weighs its terms 3, 12, .001 and 8: 15 times λ = .2, β and μ as here, β for every ordered pair.
_RELEASED = replace(
    _PAPER,
    network="directed",
    inputs="unit",
    weight_same=0.2,
    weight_sparse=0.001 / 15,
    weight_discrete=8 / 15,
    gate="concrete",
    temperature=(5.0, 5.0),
)
PRESETS: dict[str, RCConfig] = {"default": RCConfig(), "paper": _PAPER, "released": _RELEASED}
# What differs for nodes and links: the paper's λ and β, and its code's weights of 12, 3, .09 and 10.
# By default: keep the prediction (λ = .7) with about a motif's size of edges, by softplus margins. A search that
# deletes few edges meets little of a motif, so there is no teacher here.
_NODES: dict[str, dict[str, Any]] = {
    "default": {
        "tight": True,  # with many classes the cover needs few boundaries: masks would lead to where no instance was
        "network": "factorised",
        "connected": True,
        "weight_regions": 1.0,
        "weight_same": 0.7,
        "weight_sparse": 0.1,
        "target_size": 6.0,
        "sides": "softplus",
        "gate": "concrete",
        "weight_order": 0.0,
        "weight_effect": 0.0,
        "weight_outcome": 0.0,
        "weight_stable": 0.0,
        "noise": 0.0,
        "lr": 0.002,  # faster, the gates saturate with every edge kept before the size counts
        "epochs": 40,
        "restarts": 8,  # some restarts converge to the wrong edges, or keep all of them; the validation loss tells
        "patience": 15,
    },
    "paper": {"weight_same": 0.85, "weight_sparse": 2 * 0.006},
    "released": {
        "weight_same": 12 / 15,
        "weight_sparse": 0.09 / 15,
        "weight_discrete": 10 / 15,
        "temperature": (0.5, 4.99),
    },
}


# Settings of 0.1, and what stands for them now.
_GONE = {
    "hops": "hops is an argument of the constructor",
    "averaged": "the best restarts are always averaged: set restarts=N",
    "press": "every second restart begins with five times the size penalty",
    "widen": "every second pair of restarts may keep twice as many edges",
    "keep": "patience=None keeps the last weights",
    "decay": "patience=None has a constant learning rate",
    "temperature_end": "temperature is a pair (at the start, at the end)",
    "score": 'gate="budget" learns a ranking, the other gates masks',
    "standardised": 'all networks but "concat" and "directed" read standardised inputs',
    "sampler": 'network="directed", as in the authors\' code, takes boundaries on segments, all others at samples',
    **dict.fromkeys(
        (
            "hidden", "coverage", "warmup", "teacher_depth", "teacher_steps", "teacher_candidates",
            "teacher_tolerance", "outcome_draws",
        ),
        "it is a constant (docs/settings.md)",
    ),
}  # fmt: skip


def make_config(preset: str, settings: dict[str, Any], task: str = "graph") -> RCConfig:
    """A preset with single fields changed.

    Args:
        preset: "default", "paper" or "released".
        settings: Fields of `RCConfig`; one that has no effect in this preset is reported in the log.
        task: "graph", "node" or "link".

    Raises:
        RCExplainerError: An unknown preset, an unknown setting, or an impossible value.
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        raise RCExplainerError(f"unknown preset {preset!r}; known: {', '.join(PRESETS)}")
    known = [field.name for field in fields(RCConfig)]
    for name in settings:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            hint = f"since 0.2 {_GONE[name]}" if name in _GONE else hint
            raise RCExplainerError(f"unknown setting {name!r}; {hint}")
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}  # of JSON
    own: dict[str, Any] = {} if task == "graph" else dict(_NODES[preset])
    config = replace(PRESETS[preset], **(own | settings))
    for name, reason in config.without_effect().items():
        if settings.get(name) and settings[name] != getattr(replace(PRESETS[preset], **own), name):  # not what is off
            log.warning("%s=%r has no effect: %s", name, settings[name], reason)
    return config
