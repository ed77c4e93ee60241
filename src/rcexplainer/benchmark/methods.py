"""Every method by its name on the command line: how it is made and fitted for a case, and on how many instances."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from difflib import get_close_matches
from typing import Any

from rcexplainer import baselines
from rcexplainer.benchmark.case import GREEDY_DEPTH, Case
from rcexplainer.benchmark.results import OURS
from rcexplainer.datasets import task_of
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.method.fitted_explainer import FittedExplainer

GREEDY_CANDIDATES = 64  # units of a computation graph that greedy deletion tries
Given = Mapping[str, Any]  # settings by name
SHARED = ("task", "target_class", "hops")  # what every method is made with: no settings of its own


@dataclass(frozen=True)
class Caps:
    """The largest number of instances on which a method is measured; None: all of them."""

    most: int | None = None  # instances explained; none of the others is larger
    noisy: int | None = None  # graphs whose noisy copies are explained
    overlaps: int | None = None  # graphs whose counterfactuals are compared with those of noisy copies
    labelled: int | None = None  # graphs of the group labelled, not predicted, as the class

    def within(self, most: int | None) -> "Caps":
        """The same caps, none of them above `most` or above `self.most`."""
        limits = (least(most, self.most, cap) for cap in (None, self.noisy, self.overlaps, self.labelled))
        return Caps(*limits)


def least(*limits: int | None) -> int | None:
    """The smallest of some limits; None is no limit."""
    return min((limit for limit in limits if limit is not None), default=None)


USUAL = Caps(noisy=100, overlaps=30)
SEARCHING = Caps(most=50, noisy=30, overlaps=30, labelled=0)  # methods that search or optimise anew for each instance


@dataclass(frozen=True)
class MethodEntry:
    """One method of the table below.

    Attributes:
        fit: (case, progress) → the fitted method.
        caps: The instances on which `rcexplainer evaluate --methods` measures it.
        settings: (dataset, seed, preset, settings of RCExplainer, of a baseline) → all it is made with.
    """

    fit: Callable[[Case, bool], FittedExplainer]
    caps: Caps = USUAL
    settings: Callable[[str, int, str, Given, Given], dict[str, Any]] = lambda dataset, seed, preset, ours, other: {}


def _ours(make: Callable[..., RCExplainer], choose: Callable[[Given, Given], Given]) -> MethodEntry:
    """RCExplainer or a variant of it.

    Args:
        make: Makes it.
        choose: (settings of RCExplainer, of a baseline) → its own settings.
    """

    def fit(case: Case, progress: bool) -> FittedExplainer:
        own = choose(case.settings, case.baseline_settings)
        return make(task=case.data.task, preset=case.preset, **own).fit(
            case.network,
            case.training,
            val=case.validation,
            background=case.background,
            **_fitting(case, progress),
        )

    def settings(dataset: str, seed: int, preset: str, ours: Given, other: Given) -> dict[str, Any]:
        return make(task=task_of(dataset), preset=preset, **choose(ours, other)).settings

    return MethodEntry(fit, settings=settings)


# (seed, whether instances are parts of one graph, depth of greedy deletion, task, hops and own settings) → the method
Make = Callable[..., baselines.Method]


def _other(make: Make, caps: Caps = USUAL) -> MethodEntry:
    """A baseline; `make(seed, within, depth, **settings)` makes it."""

    def fit(case: Case, progress: bool) -> FittedExplainer:
        own = {"task": case.data.task, "hops": case.hops or None} | _pairs(case.baseline_settings)
        method = make(case.seed, case.within, case.greedy_depth, **own)
        return method.fit(case.network, case.training, **_fitting(case, progress))

    def settings(dataset: str, seed: int, preset: str, ours: Given, other: Given) -> dict[str, Any]:
        fields = _plain(vars(make(seed, task_of(dataset) != "graph", GREEDY_DEPTH, **_pairs(other))))
        return {name: value for name, value in fields.items() if name not in SHARED}

    return MethodEntry(fit, caps, settings)


def _fitting(case: Case, progress: bool) -> dict[str, Any]:
    """Arguments of `fit` that are the same for all methods."""
    return {
        "index": case.seen,
        "class_names": case.data.class_names,
        "seed": case.seed,
        "progress": progress,
    }


def _pairs(settings: Given) -> dict[str, Any]:
    """Settings as methods take them: JSON and TOML have lists for pairs of numbers."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}


def _plain(value: Any) -> Any:
    """Settings as JSON can hold them: a function by its name, which is the same in every process."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.__qualname__ if callable(value) else value


def _greedy(seed: int, within: bool, depth: float, /, **own: Any) -> baselines.Method:
    usual = {"depth": depth, "candidates": GREEDY_CANDIDATES if within else None}
    return baselines.GreedyDeletion(**(usual | own))


def _subgraphx(seed: int, within: bool, depth: float, /, **own: Any) -> baselines.Method:
    """With the defaults a node of BA-Shapes would take minutes: within a large graph it searches less."""
    less: dict[str, Any] = {"rollouts": 2, "samples": 5} if within else {}
    return baselines.SubgraphX(**({"seed": seed} | less | own))


def _seeded(make: Make) -> Make:
    """A method that draws random numbers when it explains."""
    return lambda seed, within, depth, /, **own: make(**({"seed": seed} | own))


def _seedless(make: Make) -> Make:
    """A method that draws nothing when it explains."""
    return lambda seed, within, depth, /, **own: make(**own)


METHODS: dict[str, MethodEntry] = {
    OURS: _ours(RCExplainer, lambda ours, other: ours),
    "rcexplainer-noldb": _ours(lambda **how: baselines.NoLDB(**how), lambda ours, other: {**ours, **_pairs(other)}),
    "gnnexplainer": _other(_seeded(baselines.GNNExplainer), replace(USUAL, noisy=30)),
    "pgexplainer": _other(_seedless(baselines.PGExplainer)),
    "pgmexplainer": _other(_seeded(baselines.PGMExplainer), SEARCHING),
    "subgraphx": _other(_subgraphx, Caps(most=10, noisy=5, overlaps=0, labelled=0)),
    "cfgnnexplainer": _other(_seedless(baselines.CFGNNExplainer), SEARCHING),
    "cf2": _other(_seedless(baselines.CF2), SEARCHING),
    "gradient": _other(_seedless(baselines.Gradient)),
    "gradcam": _other(_seedless(baselines.GradCAM)),
    "integrated-gradients": _other(_seedless(baselines.IntegratedGradients)),
    "attention": _other(_seedless(baselines.Attention)),
    "occlusion": _other(_seedless(baselines.Occlusion)),
    "greedy": _other(_greedy, replace(USUAL, most=200)),
    "random": _other(_seeded(baselines.Random)),
}
REFERENCES = ("greedy", "occlusion", "random")  # in every table: two references and the floor


def chosen(methods: str | Sequence[str]) -> list[str]:
    """The named methods and the references, in the order of `METHODS`.

    Args:
        methods: Names, as a list or with commas between them, or "all".

    Raises:
        RCExplainerError: No method is named, or one of the names is unknown.
    """
    names = methods.split(",") if isinstance(methods, str) else methods
    named = {name.strip() for name in names if name.strip()}
    if "all" in named:
        named = (named - {"all"}) | METHODS.keys()
    for name in sorted(named - METHODS.keys()):
        near = get_close_matches(name, METHODS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(METHODS)}"
        raise RCExplainerError(f"unknown method {name!r}; {hint}")
    if not named:
        raise RCExplainerError(f"no method is named; known: {', '.join(METHODS)}, or all")
    return [name for name in METHODS if name in named or name in REFERENCES]
