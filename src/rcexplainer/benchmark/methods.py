"""Every method by its name on the command line: how it is made and fitted for a case, and on how many instances."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from difflib import get_close_matches
from typing import Any

from rcexplainer import baselines
from rcexplainer.benchmark.case import GREEDY_DEPTH, Case
from rcexplainer.benchmark.results import OURS
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.gnn.forward import TaskName
from rcexplainer.method.fitted_explainer import FittedExplainer

GREEDY_CANDIDATES = 64  # units of a computation graph that greedy deletion tries
SHARED = ("task", "target_class", "hops")  # what every method is made with: no settings of its own
# Settings that version 0.2 did not have, with their defaults. They are named only where they differ, so that results of
# baselines without them are found.
NEW_SETTINGS = {"connected": False, "restarts": 1}


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
SEARCHING = Caps(most=100, noisy=100, overlaps=30, labelled=0)  # methods that take from .1 to 1 s an instance


@dataclass(frozen=True)
class MethodInputs:
    """What a method is made from.

    Attributes:
        task: What instances are.
        seed: Of methods that draw random numbers when they explain.
        preset: Of RCExplainer and its ablation NoLDB.
        settings: Of both, on top of the preset.
        tuned: Of a baseline, from `tuned.toml`.
        own: Of a baseline, on top of the tuned ones.
        depth: The share of the units that greedy deletion orders.
        hops: How far computation graphs reach; None: measured by the method.
    """

    task: TaskName
    seed: int
    preset: str = "default"
    settings: Mapping[str, Any] = field(default_factory=dict)
    tuned: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    depth: float = GREEDY_DEPTH
    hops: int | None = None

    @property
    def baseline(self) -> dict[str, Any]:
        """Settings of a baseline; JSON and TOML have lists where a method takes a pair."""
        return {key: tuple(one) if isinstance(one, list) else one for key, one in {**self.tuned, **self.own}.items()}


@dataclass(frozen=True)
class MethodEntry:
    """One method of the table below.

    Attributes:
        fit: (case, progress) → the fitted method.
        caps: The instances on which `rcexplainer evaluate --methods` measures it.
        settings: From what it is made from to all of its settings, field by field.
    """

    fit: Callable[[Case, bool], FittedExplainer]
    caps: Caps = USUAL
    settings: Callable[[MethodInputs], dict[str, Any]] = lambda inputs: {}


def _inputs(case: Case, name: str) -> MethodInputs:
    """What a method is made from, for a case."""
    return MethodInputs(
        case.data.task,
        case.seed,
        case.preset,
        case.settings,
        case.tuned(name),
        case.baseline_settings,
        case.greedy_depth,
        case.hops or None,
    )


def _ours(name: str, make: Callable[[MethodInputs], RCExplainer]) -> MethodEntry:
    """RCExplainer or a variant of it."""

    def fit(case: Case, progress: bool) -> FittedExplainer:
        return make(_inputs(case, name)).fit(
            case.network,
            case.training,
            val=case.validation,
            background=case.background,
            checkpoint=case.checkpoint(name),
            **(_fitting(case, progress) | {"index": case.learnt}),
        )

    return MethodEntry(fit, settings=lambda inputs: make(inputs).settings)


def _rcexplainer(inputs: MethodInputs) -> RCExplainer:
    return RCExplainer(task=inputs.task, preset=inputs.preset, **inputs.settings)


def _noldb(inputs: MethodInputs) -> RCExplainer:
    """The ablation was tuned with the preset `default`; other presets are as they are."""
    tuned = inputs.tuned if inputs.preset == "default" else {}
    own = replace(inputs, tuned={}).baseline
    return baselines.NoLDB(task=inputs.task, preset=inputs.preset, **{**tuned, **inputs.settings, **own})


Usual = Callable[[MethodInputs], dict[str, Any]]  # arguments of a baseline beside those that all methods share


def _other(name: str, make: Callable[..., baselines.Method], usual: Usual, caps: Caps = USUAL) -> MethodEntry:
    """A baseline; its tuned and own settings go before the usual ones."""

    def made(inputs: MethodInputs) -> baselines.Method:
        return make(**({"task": inputs.task, "hops": inputs.hops} | usual(inputs) | inputs.baseline))

    def fit(case: Case, progress: bool) -> FittedExplainer:
        return made(_inputs(case, name)).fit(case.network, case.training, **_fitting(case, progress))

    def settings(inputs: MethodInputs) -> dict[str, Any]:
        return {field: value for field, value in _told(vars(made(inputs))).items() if field not in SHARED}

    return MethodEntry(fit, caps, settings)


def _fitting(case: Case, progress: bool) -> dict[str, Any]:
    """Arguments of `fit` that are the same for all methods."""
    return {
        "index": case.seen,
        "class_names": case.data.class_names,
        "seed": case.seed,
        "progress": progress,
        **case.call,
    }


def _plain(value: Any) -> Any:
    """Settings as JSON can hold them: a function by its name, which is the same in every process."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.__qualname__ if callable(value) else value


def _told(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON values, without those of NEW_SETTINGS that have their defaults."""
    return {
        name: _told(value) if isinstance(value, dict) else value
        for name, value in _plain(dict(settings)).items()
        if name not in NEW_SETTINGS or NEW_SETTINGS[name] != value
    }


def _greedy(inputs: MethodInputs) -> dict[str, Any]:
    return {"depth": inputs.depth, "candidates": None if inputs.task == "graph" else GREEDY_CANDIDATES}


def _subgraphx(inputs: MethodInputs) -> dict[str, Any]:
    """As published for graphs. Within one large graph it searches less: a node of BA-Shapes would take many minutes."""
    published = {"rollouts": 20, "samples": 100}
    return _seeded(inputs) | (published if inputs.task == "graph" else {"rollouts": 2, "samples": 5})


def _seeded(inputs: MethodInputs) -> dict[str, Any]:
    """A method that draws random numbers when it explains."""
    return {"seed": inputs.seed}


def _seedless(inputs: MethodInputs) -> dict[str, Any]:
    """A method that draws nothing when it explains."""
    return {}


METHODS: dict[str, MethodEntry] = {
    OURS: _ours(OURS, _rcexplainer),
    "rcexplainer-noldb": _ours("rcexplainer-noldb", _noldb),
    "gnnexplainer": _other("gnnexplainer", baselines.GNNExplainer, _seeded),
    "pgexplainer": _other("pgexplainer", baselines.PGExplainer, _seedless),
    "pgmexplainer": _other("pgmexplainer", baselines.PGMExplainer, _seeded),
    "subgraphx": _other("subgraphx", baselines.SubgraphX, _subgraphx, Caps(most=10, noisy=2, overlaps=0, labelled=0)),
    "cfgnnexplainer": _other("cfgnnexplainer", baselines.CFGNNExplainer, _seedless, SEARCHING),
    "cf2": _other("cf2", baselines.CF2, _seedless, SEARCHING),
    "gradient": _other("gradient", baselines.Gradient, _seedless),
    "gradcam": _other("gradcam", baselines.GradCAM, _seedless),
    "integrated-gradients": _other("integrated-gradients", baselines.IntegratedGradients, _seedless),
    "attention": _other("attention", baselines.Attention, _seedless),
    "occlusion": _other("occlusion", baselines.Occlusion, _seedless),
    "greedy": _other("greedy", baselines.GreedyDeletion, _greedy, replace(USUAL, most=200)),
    "random": _other("random", baselines.Random, _seeded),
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
