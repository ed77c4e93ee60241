"""Every method passes the suite that a method of somebody else can be checked with."""

from dataclasses import replace
from functools import partial

import pytest

import rcexplainer as rc
from rcexplainer.baselines import (
    CF2,
    Attention,
    CFGNNExplainer,
    GNNExplainer,
    GradCAM,
    Gradient,
    GreedyDeletion,
    IntegratedGradients,
    NoLDB,
    Occlusion,
    PGExplainer,
    PGMExplainer,
    Random,
    SubgraphX,
)
from rcexplainer.testing import CHECKS, MethodCase, motif_score
from rcexplainer.testing.score_checks import scores_are_better_than_random, scores_follow_the_model
from rcexplainer.testing.task_checks import scores_do_not_depend_on_the_target_class

OURS = rc.RCExplainer
METHODS = {
    "random": MethodCase(Random),
    "occlusion": MethodCase(Occlusion),
    "greedy": MethodCase(GreedyDeletion),
    "gnnexplainer": MethodCase(GNNExplainer, motif_score),
    "pgexplainer": MethodCase(PGExplainer, motif_score),
    "gradient": MethodCase(Gradient, motif_score),
    "gradcam": MethodCase(GradCAM, motif_score),
    "integrated-gradients": MethodCase(IntegratedGradients, motif_score),
    "attention": MethodCase(Attention, conv="gat"),
    "pgmexplainer": MethodCase(PGMExplainer),
    "cfgnnexplainer": MethodCase(partial(CFGNNExplainer, steps=100)),
    "cf2": MethodCase(partial(CF2, steps=200), motif_score),
    "subgraphx": MethodCase(partial(SubgraphX, rollouts=2, samples=5)),
    "rcexplainer": MethodCase(partial(OURS, epochs=15)),
    "rcexplainer-noldb": MethodCase(partial(NoLDB, epochs=15)),
}
# How good a method is is checked as it is above; everything else does not need it to converge.
QUICK = {
    "gnnexplainer": partial(GNNExplainer, epochs=20),
    "pgexplainer": partial(PGExplainer, epochs=3),
    "integrated-gradients": partial(IntegratedGradients, steps=10),
    "pgmexplainer": partial(PGMExplainer, samples=200),
    "cfgnnexplainer": partial(CFGNNExplainer, steps=20),
    "cf2": partial(CF2, steps=20),
    "rcexplainer": partial(OURS, epochs=1, restarts=1),
    "rcexplainer-noldb": partial(NoLDB, epochs=1, restarts=1),
}
# Random scores are the floor: they look at no model. RCExplainer is trained for its target class.
EXCEPTIONS = {
    ("random", scores_follow_the_model),
    ("random", scores_are_better_than_random),
    ("rcexplainer", scores_do_not_depend_on_the_target_class),
}


QUICK_CASES = {name: replace(case, make=QUICK.get(name, case.make)) for name, case in METHODS.items()}


def marks(check) -> list[pytest.MarkDecorator]:
    """Whether a method is any good takes trained networks and real settings."""
    return [pytest.mark.slow] if check is scores_are_better_than_random else []


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("check", [pytest.param(check, marks=marks(check), id=check.__name__) for check in CHECKS])
def test_a_method_passes(check, name: str) -> None:
    case = METHODS[name] if check is scores_are_better_than_random else QUICK_CASES[name]
    if (name, check) in EXCEPTIONS:
        with pytest.raises(AssertionError):
            check(case)
    else:
        check(case)


def test_all_methods_are_checked() -> None:
    made = {case.make.func if isinstance(case.make, partial) else case.make for case in METHODS.values()}
    assert made == {getattr(rc.baselines, name) for name in rc.baselines.__all__} - {rc.baselines.Method} | {OURS}
