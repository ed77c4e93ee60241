"""Every method by its name on the command line: how it is made for a case, and on how many instances it is run."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass, replace
from difflib import get_close_matches
from typing import Any

from rcexplainer import baselines
from rcexplainer.benchmark.case import Case
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.gnn.forward import TaskName
from rcexplainer.method.fitted_explainer import FittedExplainer

DEPTH = 0.3  # how far greedy deletion goes
LARGE = 64  # of a computation graph, the units that greedy deletion looks at


@dataclass(frozen=True)
class Caps:
    """On how many instances a method is measured at most; None: on all that there are."""

    most: int | None = None  # that are explained; none of the others is more
    noisy: int | None = None  # graphs of which noisy copies are explained
    overlaps: int | None = None  # graphs whose counterfactuals are compared with those of noisy copies
    labelled: int | None = None  # graphs of the group labelled, not predicted, as the class

    def within(self, most: int | None) -> "Caps":
        """With all of them at most so large, too."""
        limits = (least(most, self.most, cap) for cap in (None, self.noisy, self.overlaps, self.labelled))
        return Caps(*limits)


def least(*limits: int | None) -> int | None:
    """The smallest of some limits, of which None is no limit."""
    return min((limit for limit in limits if limit is not None), default=None)


USUAL = Caps(noisy=100, overlaps=30)
SEARCHING = Caps(most=50, noisy=30, overlaps=30, labelled=0)  # a method that searches or optimises anew for each


@dataclass(frozen=True)
class Entry:
    """`fit(case, progress)`; `caps`: how much of it `rcexplainer evaluate` measures; `settings(seed, task, preset,
    settings of RCExplainer)`: what it is made with, field by field."""

    fit: Callable[[Case, bool], FittedExplainer]
    caps: Caps = USUAL
    settings: Callable[[int, TaskName, str, Mapping[str, Any]], dict[str, Any]] = lambda seed, task, preset, own: {}


def _ours(make: Callable[..., RCExplainer]) -> Entry:
    def fit(case: Case, progress: bool) -> FittedExplainer:
        explainer = make(task=case.data.task, preset=case.preset, **case.settings)
        return explainer.fit(
            case.model,
            case.training,
            index=case.seen,
            val=case.validation,
            class_names=case.data.class_names,
            seed=case.seed,
            progress=progress,
        )

    return Entry(fit, settings=lambda seed, task, preset, own: make(task=task, preset=preset, **own).settings)


def _other(make: Callable[[int, bool], baselines.Method], caps: Caps = USUAL) -> Entry:
    def fit(case: Case, progress: bool) -> FittedExplainer:
        return make(case.seed, case.within).fit(
            case.model,
            case.training,
            task=case.data.task,
            index=case.seen,
            class_names=case.data.class_names,
            hops=case.hops,
            seed=case.seed,
            progress=progress,
        )

    return Entry(fit, caps, lambda seed, task, preset, own: _told(vars(make(seed, task != "graph"))))


def _told(value: Any) -> Any:
    """Settings that JSON can hold: a function by its name, which is the same in every process."""
    if isinstance(value, dict):
        return {name: _told(item) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.__qualname__ if callable(value) else value


def _greedy(seed: int, within: bool) -> baselines.Method:
    return baselines.GreedyDeletion(DEPTH, candidates=LARGE if within else None)


def _subgraphx(seed: int, within: bool) -> baselines.Method:
    """With the defaults a node of BA-Shapes would take minutes: within a large graph it searches less."""
    if within:
        return baselines.SubgraphX(rollouts=2, samples=5, seed=seed)
    return baselines.SubgraphX(seed=seed)


METHODS: dict[str, Entry] = {
    "rcexplainer": _ours(RCExplainer),
    "rcexplainer-noldb": _ours(lambda **how: baselines.NoLDB(**how)),
    "gnnexplainer": _other(lambda seed, within: baselines.GNNExplainer(seed=seed), replace(USUAL, noisy=30)),
    "pgexplainer": _other(lambda seed, within: baselines.PGExplainer()),
    "pgmexplainer": _other(lambda seed, within: baselines.PGMExplainer(seed=seed), SEARCHING),
    "subgraphx": _other(_subgraphx, Caps(most=10, noisy=5, overlaps=0, labelled=0)),
    "cfgnnexplainer": _other(lambda seed, within: baselines.CFGNNExplainer(), SEARCHING),
    "cf2": _other(lambda seed, within: baselines.CF2(), SEARCHING),
    "gradient": _other(lambda seed, within: baselines.Gradient()),
    "gradcam": _other(lambda seed, within: baselines.GradCAM()),
    "integrated-gradients": _other(lambda seed, within: baselines.IntegratedGradients()),
    "attention": _other(lambda seed, within: baselines.Attention()),
    "occlusion": _other(lambda seed, within: baselines.Occlusion()),
    "greedy": _other(_greedy, replace(USUAL, most=200)),
    "random": _other(lambda seed, within: baselines.Random(seed)),
}
ALWAYS = ("occlusion", "greedy", "random")  # the reference and the floor: in every table


def chosen(names: str) -> list[str]:
    """The methods of a comma-separated list, or "all", in the order above; the references are always among them."""
    asked = set(METHODS) if names == "all" else {name.strip() for name in names.split(",") if name.strip()}
    for name in sorted(asked - METHODS.keys()):
        near = get_close_matches(name, METHODS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(METHODS)}"
        raise RCExplainerError(f"unknown method {name!r}; {hint}")
    if not asked:
        raise RCExplainerError(f"no method is named; known: {', '.join(METHODS)}, or all")
    return [name for name in METHODS if name in asked or name in ALWAYS]
