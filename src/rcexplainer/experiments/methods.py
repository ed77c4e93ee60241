"""Every method by its name on the command line: how it is made for a case, and on how many instances it is run."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from difflib import get_close_matches
from typing import Any

from rcexplainer import baselines
from rcexplainer.errors import RCExplainerError
from rcexplainer.experiments.cases import Case
from rcexplainer.explainer import RCExplainer
from rcexplainer.explaining import FittedExplainer
from rcexplainer.gnn.calling import Task

DEPTH = 0.3  # how far greedy deletion goes
LARGE = 64  # of a computation graph, the units that greedy deletion looks at
SAMPLE = 50  # instances for a method that searches or optimises anew for each


@dataclass(frozen=True)
class Entry:
    """`fit(case, progress)`; `most`: of how many instances it is asked at most; `settings(seed, task, preset, settings
    of RCExplainer)`: what it is made with, field by field."""

    fit: Callable[[Case, bool], FittedExplainer]
    most: int | None = None
    settings: Callable[[int, Task, str, Mapping[str, Any]], dict[str, Any]] = lambda seed, task, preset, own: {}


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


def _other(make: Callable[[int, bool], baselines.Method], most: int | None = None) -> Entry:
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

    return Entry(fit, most, lambda seed, task, preset, own: _told(vars(make(seed, task != "graph"))))


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
    "gnnexplainer": _other(lambda seed, within: baselines.GNNExplainer(seed=seed)),
    "pgexplainer": _other(lambda seed, within: baselines.PGExplainer()),
    "pgmexplainer": _other(lambda seed, within: baselines.PGMExplainer(seed=seed), SAMPLE),
    "subgraphx": _other(_subgraphx, SAMPLE // 5),
    "cfgnnexplainer": _other(lambda seed, within: baselines.CFGNNExplainer(), SAMPLE),
    "cf2": _other(lambda seed, within: baselines.CF2(), SAMPLE),
    "gradient": _other(lambda seed, within: baselines.Gradient()),
    "gradcam": _other(lambda seed, within: baselines.GradCAM()),
    "integrated-gradients": _other(lambda seed, within: baselines.IntegratedGradients()),
    "attention": _other(lambda seed, within: baselines.Attention()),
    "occlusion": _other(lambda seed, within: baselines.Occlusion()),
    "greedy": _other(_greedy, 4 * SAMPLE),
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
