"""Every method by its name on the command line: how it is made for a case, and on how many instances it is run."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from rcexplainer import baselines
from rcexplainer.errors import RCExplainerError
from rcexplainer.experiments.cases import Case
from rcexplainer.explainer import RCExplainer
from rcexplainer.explaining import FittedExplainer

DEPTH = 0.3  # how far greedy deletion goes
LARGE = 64  # of a computation graph, the units that greedy deletion looks at
SAMPLE = 50  # instances for a method that searches or optimises anew for each


@dataclass(frozen=True)
class Entry:
    """`fit(case, progress)`; `most`: of how many instances it is asked at most."""

    fit: Callable[[Case, bool], FittedExplainer]
    most: int | None = None


def _ours(make: Callable[..., RCExplainer]) -> Callable[[Case, bool], FittedExplainer]:
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

    return fit


def _other(make: Callable[[Case], baselines.Method]) -> Callable[[Case, bool], FittedExplainer]:
    def fit(case: Case, progress: bool) -> FittedExplainer:
        return make(case).fit(
            case.model,
            case.training,
            task=case.data.task,
            index=case.seen,
            class_names=case.data.class_names,
            hops=case.hops,
            seed=case.seed,
            progress=progress,
        )

    return fit


def _greedy(case: Case) -> baselines.Method:
    return baselines.GreedyDeletion(DEPTH, candidates=LARGE if case.within else None)


def _subgraphx(case: Case) -> baselines.Method:
    """With the defaults a node of BA-Shapes would take minutes: within a large graph it searches less."""
    if case.within:
        return baselines.SubgraphX(rollouts=2, samples=5, seed=case.seed)
    return baselines.SubgraphX(seed=case.seed)


METHODS: dict[str, Entry] = {
    "rcexplainer": Entry(_ours(RCExplainer)),
    "rcexplainer-noldb": Entry(_ours(lambda **how: baselines.NoLDB(**how))),
    "gnnexplainer": Entry(_other(lambda case: baselines.GNNExplainer(seed=case.seed))),
    "pgexplainer": Entry(_other(lambda case: baselines.PGExplainer())),
    "pgmexplainer": Entry(_other(lambda case: baselines.PGMExplainer(seed=case.seed)), SAMPLE),
    "subgraphx": Entry(_other(_subgraphx), 20),
    "cfgnnexplainer": Entry(_other(lambda case: baselines.CFGNNExplainer()), 2 * SAMPLE),
    "cf2": Entry(_other(lambda case: baselines.CF2()), 2 * SAMPLE),
    "gradient": Entry(_other(lambda case: baselines.Gradient())),
    "gradcam": Entry(_other(lambda case: baselines.GradCAM())),
    "integrated-gradients": Entry(_other(lambda case: baselines.IntegratedGradients())),
    "attention": Entry(_other(lambda case: baselines.Attention())),
    "occlusion": Entry(_other(lambda case: baselines.Occlusion())),
    "greedy": Entry(_other(_greedy), 4 * SAMPLE),
    "random": Entry(_other(lambda case: baselines.Random(case.seed))),
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
