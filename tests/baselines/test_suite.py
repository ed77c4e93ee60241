"""Every method passes the suite that any method passes, and so does the one in docs/add-a-method.md."""

import re
from pathlib import Path

import pytest

from rcexplainer.baselines import (
    Attention,
    GNNExplainer,
    GradCAM,
    Gradient,
    GreedyDeletion,
    IntegratedGradients,
    Method,
    Occlusion,
    PGExplainer,
    Random,
)
from tests.baselines import suite
from tests.baselines.suite import CHECKS, Case, motif

METHODS = {
    "random": Case(Random),
    "occlusion": Case(Occlusion),
    "greedy": Case(GreedyDeletion),
    "gnnexplainer": Case(GNNExplainer, motif),
    "pgexplainer": Case(PGExplainer, motif),
    "gradient": Case(Gradient, motif),
    "gradcam": Case(GradCAM, motif),
    "integrated-gradients": Case(IntegratedGradients, motif),
    "attention": Case(Attention, conv="gat"),
}
# The floor itself: it looks at no model, and is as good as itself.
NOT_FOR_RANDOM = {suite.scores_follow_the_model, suite.better_than_random}
PAGE = Path(__file__).parents[2] / "docs" / "add-a-method.md"


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_method_keeps_to(check, name: str) -> None:
    if name == "random" and check in NOT_FOR_RANDOM:
        with pytest.raises(AssertionError):
            check(METHODS[name])
    else:
        check(METHODS[name])


def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def documented() -> type[Method]:
    names: dict[str, type[Method]] = {}
    exec(examples()[0], names)
    return names["EmbeddingShift"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_documented_method_keeps_to(check) -> None:
    check(Case(documented()))


def test_the_documented_method_is_used_as_shown() -> None:
    model, graphs = suite.untrained(Case(Random)), suite.graphs()
    names = {"EmbeddingShift": documented(), "model": model, "graphs": graphs}
    exec(examples()[1], names)
    assert len(names["explanations"]) == len(graphs)
