"""Every method passes the suite that any method passes, and so does the one in docs/add-a-method.md."""

import re
from functools import partial
from pathlib import Path

import pytest
import torch

from rcexplainer.baselines import (
    CF2,
    Attention,
    CFGNNExplainer,
    GNNExplainer,
    GradCAM,
    Gradient,
    GreedyDeletion,
    IntegratedGradients,
    Method,
    Occlusion,
    PGExplainer,
    PGMExplainer,
    Random,
    SubgraphX,
)
from rcexplainer.errors import RCExplainerError
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
    "pgmexplainer": Case(PGMExplainer),
    "cfgnnexplainer": Case(partial(CFGNNExplainer, steps=100)),
    "cf2": Case(partial(CF2, steps=200), motif),
    "subgraphx": Case(partial(SubgraphX, rollouts=2, samples=5)),
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


class Same(Method):
    def scores(self, instances, labels):
        return torch.full((len(instances.units),), 0.5)


class Twice(Random):
    def scores(self, instances, labels):
        return 2 * super().scores(instances, labels)


class ByTheBatch(Random):
    def scores(self, instances, labels):
        found = super().scores(instances, labels)
        return found / found.max()


class Dice(Method):
    def scores(self, instances, labels):
        return torch.rand(len(instances.units))


class Careless(Random):
    def scores(self, instances, labels):
        instances.split.model.eval()
        return super().scores(instances, labels)


class GraphsOnly(Random):
    def scores(self, instances, labels):
        return super().scores(instances, instances.store[instances.everything].y.long())


class NeedsEdges(Random):
    def scores(self, instances, labels):
        found = super().scores(instances, labels)
        return found - 0 * found.max()


@pytest.mark.parametrize(
    ("wrong", "check"),
    [
        (Same, suite.scores_are_numbers_from_0_to_1),
        (Twice, suite.scores_are_numbers_from_0_to_1),
        (ByTheBatch, suite.alone_as_in_a_batch),
        (Dice, suite.same_seed_same_scores),
        (Careless, suite.the_model_is_left_as_it_was),
        (GraphsOnly, suite.nodes_are_explained),
        (GraphsOnly, suite.links_are_explained),
        (NeedsEdges, suite.a_graph_without_edges_has_no_scores),
    ],
)
def test_the_suite_finds_what_is_wrong(wrong: type[Method], check) -> None:
    with pytest.raises((AssertionError, RCExplainerError, RuntimeError)):
        check(Case(wrong))


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
