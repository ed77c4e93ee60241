"""Settings of RCExplainer, documented field by field with the paper's value."""

import math
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_type_hints

from rcexplainer.errors import RCExplainerError


@dataclass(frozen=True)
class RCConfig:
    """How regions are found and the mask network is trained. The defaults are the preset `default`."""

    # Computation graphs of nodes and links
    hops: int | None = None  # how far they reach; None: as far as the model is measured to look

    # Boundaries and regions
    sampler: Literal["sample", "segment"] = "sample"  # where boundaries are taken; the paper: at the sample
    candidates_per_class: int = 50  # sampled boundaries a class; the paper: 50. A linear head is enumerated
    epsilon: float = 1.0  # ε of the greedy choice (Eq. 5); the paper: "a small constant"
    tight: bool = False  # whether a region has every boundary its members agree on; the paper: only the greedy choice
    scaled: bool = True  # boundaries divided by half the median |B| in their region; the paper: no

    # The mask network
    network: Literal["neighbours", "factorised", "concat"] = "neighbours"  # of an edge; the paper: on [z_i, z_j]
    inputs: Literal["all", "layers", "last"] = "all"  # which embeddings it reads; the paper: the last layer's
    standardised: bool = True  # whether it reads them with mean 0 and spread 1; the paper: no
    hidden: int = 64  # width of its hidden layer; the paper: 64
    connected: bool = False  # of nodes, links: an edge counts as far as edges lead from it to the node; the paper: no
    score: Literal["share", "mask"] = "share"  # "mask": σ(f) as in the paper; "share": softmax over a graph's edges

    # The paper's losses (Eq. 7)
    weight_regions: float = 0.0  # factor of all four terms; the paper: 15
    weight_same: float = 0.3  # λ of L_same, 1 − λ of L_opp; the paper: .1 for graphs, .85 for nodes
    weight_sparse: float = 0.0  # β; the paper: 6e-5 (Mutagenicity 6e-4, nodes .006), an edge counted twice
    press: float = 1.0  # the 2nd, 4th, … restart begins with so many times β, which falls to β; the paper: 1
    target_size: float = 0.0  # only what the masks sum up to above this is penalised; the paper: 0
    widen: float = 1.0  # the 3rd, 4th, 7th, 8th, … restart has so many times the target_size, if an instance has more
    sides: Literal["product", "softplus"] = "product"  # σ of products of two B as in the paper, or softplus of one
    weight_discrete: float = 0.0  # μ; the paper: .66
    warmup: float = 0.0  # share of the training over which μ grows to its value; the paper: none
    gate: Literal["sigmoid", "concrete", "budget"] = "budget"  # from logits to masks; the paper: sigmoid
    temperature: float = 0.5  # of the gate at the start; the paper: 1, its code: .5
    temperature_end: float = 0.5  # and at the end; the paper: 1, its code: 4.99

    # What a search teaches; the paper has none of it
    weight_order: float = 0.2  # of the order in which greedy deletion leaves the region
    weight_effect: float = 0.05  # of what units do on their own
    effect_temperature: float = 0.1  # τ: drops in probability this close share the credit
    teacher: Literal["region", "margin"] = "region"  # what it leaves: the region, or the class, by its logit's margin
    teacher_depth: float = 0.3  # how far the search deletes, as a share of the units
    teacher_steps: int = 32  # and how many units at most
    teacher_candidates: int = 64  # units of an instance among which it chooses: those that do most on their own
    teacher_limit: int = 4000  # instances that are learnt from, and validated on, at most; the paper: all
    teacher_tolerance: float = 0.01  # outside the region, units this close in probability go by their own effect
    weight_outcome: float = 10.0  # of what deleting explanations drawn from the network's ranking really does
    outcome_draws: int = 2  # explanations of an instance that are drawn in a step, to be compared with each other
    noise: float = 0.3  # noisy copies have up to this share of edges and features changed; the paper: none
    weight_stable: float = 7.0  # of the same edges at the top in noisy copies; 0: all else is learnt from the copies

    # Training
    epochs: int = 140  # the paper: 600
    restarts: int = 1  # trainings from other starts, of which the best by the validation loss are kept; the paper: 1
    averaged: int = 1  # how many are kept, at most, of each target alike: a score is their mean; the paper: 1
    lr: float = 0.008  # the paper: 0.001
    decay: Literal["cosine", "none"] = "cosine"  # of the learning rate; the paper does not say
    batch_size: int = 128  # instances a step; the paper does not say, its code about 200
    patience: int = 50  # epochs without a better validation loss before training stops; the paper: never
    keep: Literal["best", "last"] = "best"  # which epoch's weights, by the validation loss; the paper: the last
    on_collapse: Literal["rescue", "report"] = "rescue"  # masks all 0 or 1: train with safer settings, or say so

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(RCConfig).items():
            _CHECKS.get(hint, _one_of)(name, getattr(self, name))
        if not (self.weight_regions or self.weight_order or self.weight_effect or self.weight_outcome):
            raise RCExplainerError(
                "weight_regions, weight_order, weight_effect and weight_outcome are all 0: there is nothing to train "
                "the network on"
            )
        if self.outcome_draws < 2:
            raise RCExplainerError(
                f"outcome_draws must be at least 2, as draws are compared with each other, got {self.outcome_draws}"
            )


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
    least, most = _LIMITS.get(name, (0.0, math.inf))
    positive = name in _POSITIVE
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not least <= value <= most or (positive and value == 0):
        low = "> 0" if positive else "≥ 0"
        within = (
            f"a finite number {low}" if most == math.inf else f"a share {'in (0, 1]' if positive else 'from 0 to 1'}"
        )
        raise RCExplainerError(f"{name} must be {within}, got {value!r}")


def _one_of(name: str, value: Any) -> None:
    allowed = get_args(get_type_hints(RCConfig)[name])
    if value not in allowed:
        raise RCExplainerError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


_SHARES = ("weight_same", "warmup", "teacher_depth", "teacher_tolerance", "noise")
_LIMITS = dict.fromkeys(_SHARES, (0.0, 1.0))
_POSITIVE = ("lr", "press", "widen", "epsilon", "effect_temperature", "teacher_depth", "temperature", "temperature_end")
_CHECKS = {int: _whole, int | None: _whole_or_none, bool: _truth, float: _number}

_PAPER = RCConfig(
    epsilon=1e-3,
    scaled=False,
    network="concat",
    inputs="last",
    standardised=False,
    score="mask",
    weight_regions=15.0,
    weight_same=0.1,
    weight_sparse=2 * 6e-5,  # ‖M‖₁ counts both directions of an edge
    weight_discrete=0.66,
    gate="sigmoid",
    temperature=1.0,
    temperature_end=1.0,
    weight_order=0.0,
    weight_effect=0.0,
    weight_outcome=0.0,
    noise=0.0,
    weight_stable=0.0,
    epochs=600,
    lr=0.001,
    decay="none",
    patience=600,
    keep="last",
    on_collapse="report",
)
# The authors' code weighs its terms 3, 12, .001 and 8: 15 times λ = .2, β and μ as here.
_RELEASED = replace(
    _PAPER,
    sampler="segment",
    inputs="layers",
    weight_same=0.2,
    weight_sparse=2 * 0.001 / 15,
    weight_discrete=8 / 15,
    gate="concrete",
    temperature=0.5,
    temperature_end=4.99,
    batch_size=200,
)
PRESETS: dict[str, RCConfig] = {"default": RCConfig(), "paper": _PAPER, "released": _RELEASED}
# What is different for nodes and links: the paper's λ and β, and its code's weights of 12, 3, .09 and 10.
# By default: what keeps the prediction (λ = .7) in about a motif's size of edges, by softplus margins. A search that
# deletes few edges meets little of a motif, so it does not teach here.
_NODES: dict[str, dict[str, Any]] = {
    "default": {
        "tight": True,  # with many classes the cover is content with few boundaries: masks lead to where nobody was
        "network": "factorised",
        "connected": True,
        "score": "mask",
        "weight_regions": 1.0,
        "weight_same": 0.7,
        "weight_sparse": 0.1,
        "press": 5.0,  # some networks need it to let go of edges they do not use, others lose the motif by it
        "target_size": 6.0,
        "widen": 2.0,  # where edges do for one another, few are enough, and more show which belong together
        "sides": "softplus",
        "gate": "concrete",
        "weight_order": 0.0,
        "weight_effect": 0.0,
        "weight_outcome": 0.0,
        "noise": 0.0,
        "weight_stable": 0.0,
        "lr": 0.002,  # faster, the gates saturate with every edge kept before the size counts
        "batch_size": 64,
        "epochs": 100,
        "restarts": 8,  # some starts end with other edges or with all of them; the validation loss tells
        "averaged": 6,
        "patience": 30,
    },
    "paper": {"weight_same": 0.85, "weight_sparse": 2 * 0.006},
    "released": {"weight_same": 12 / 15, "weight_sparse": 2 * 0.09 / 15, "weight_discrete": 10 / 15},
}


def make_config(preset: str, settings: dict[str, Any], task: str = "graph") -> RCConfig:
    """A preset with single fields changed; an unknown name is an error at once."""
    if preset not in PRESETS:
        raise RCExplainerError(f"unknown preset {preset!r}; known: {', '.join(PRESETS)}")
    known = [field.name for field in fields(RCConfig)]
    for name in settings:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise RCExplainerError(f"unknown setting {name!r}; {hint}")
    own: dict[str, Any] = {} if task == "graph" else dict(_NODES[preset])
    return replace(PRESETS[preset], **(own | settings))
