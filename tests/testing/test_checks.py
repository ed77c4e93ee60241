"""The suite finds methods that are wrong, on networks that can tell; and its page shows how it is used."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import rcexplainer as rc
from rcexplainer.baselines import Method, Random
from rcexplainer.errors import RCExplainerError
from rcexplainer.testing import CHECKS, ConformanceError, MethodCase, check_method, motif_score, sample_networks
from rcexplainer.testing import input_checks as inputs
from rcexplainer.testing import score_checks as scores
from rcexplainer.testing import task_checks as tasks
from rcexplainer.testing.sample_graphs import sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import LinkNetwork, motif_network, predictions, random_network

PAGE = Path(__file__).parents[2] / "docs" / "add-a-method.md"


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
        with torch.no_grad():
            next(instances.split.model.parameters()).add_(1)  # flags and hooks are restored whatever a method does
        return super().scores(instances, labels)


class Swallowing(Random):
    def fit(self, *args, **options):
        fitted = super().fit(*args, **options)
        return SwallowingFitted(fitted)


class SwallowingFitted:
    """It explains what it can and never says what it cannot."""

    def __init__(self, fitted) -> None:
        self.fitted = fitted

    def explain(self, graphs, **options):
        return self.fitted.explain(graphs, **(options | {"on_error": "keep"}))


class GraphsOnly(Random):
    def scores(self, instances, labels):
        return super().scores(instances, instances.store[instances.everything].y.long())


class NeedsEdges(Random):
    def scores(self, instances, labels):
        found = super().scores(instances, labels)
        return found - 0 * found.max()


class AnyClass(Random):
    """It forgets its target class."""

    def fitted(self, **parts):
        return super().fitted(**(parts | {"targets": (None,)}))


class ByTarget(Random):
    def scores(self, instances, labels):
        return super().scores(instances, labels) / (1 if self.target_class is None else 2)


class TakesAnything(Random):
    def __init__(self, **settings) -> None:
        super().__init__(**{name: settings[name] for name in ("task", "target_class", "hops") if name in settings})


@pytest.mark.parametrize(
    ("wrong", "check"),
    [
        (Same, scores.scores_are_numbers_from_0_to_1),
        (Twice, scores.scores_are_numbers_from_0_to_1),
        (ByTheBatch, scores.scores_are_the_same_alone_and_in_a_batch),
        (Dice, scores.same_seed_same_scores),
        (Random, scores.scores_follow_the_model),
        (Careless, inputs.the_model_is_left_as_it_was),
        (Swallowing, inputs.bad_graphs_are_refused_and_the_others_explained),
        (NeedsEdges, inputs.a_graph_without_edges_has_no_scores),
        (GraphsOnly, tasks.nodes_are_explained),
        (GraphsOnly, tasks.links_are_explained),
        (AnyClass, tasks.counterfactuals_lead_to_the_target_class),
        (ByTarget, tasks.scores_do_not_depend_on_the_target_class),
        (TakesAnything, tasks.impossible_settings_are_refused),
    ],
)
def test_the_suite_finds_what_is_wrong(wrong: type[Method], check) -> None:
    assert check in CHECKS
    with pytest.raises((AssertionError, RCExplainerError, RuntimeError)):
        check(MethodCase(wrong))


def test_all_failures_are_told_at_once() -> None:
    with pytest.raises(ConformanceError) as raised:
        check_method(Same, judge=motif_score)
    message = str(raised.value)
    assert message.startswith(f"5 of {len(CHECKS)} checks fail:\n")
    assert "scores_are_numbers_from_0_to_1: ConformanceError: all edges of a graph have the same score" in message
    assert re.search(r"scores_are_better_than_random: ConformanceError: motif_score is 0\.500, random scores", message)


@pytest.mark.parametrize("conv", ["graphconv", "gat"])
def test_the_networks_of_the_suite_can_tell(conv: str) -> None:
    """Both classes are predicted, and some deletions lead to the target class: no check is empty."""
    graph, pairs = whole_graph(), torch.tensor([(0, 5), (3, 9), (2, 11)])
    with torch.no_grad():
        of_nodes = random_network(conv, "node")(graph.x, graph.edge_index).argmax(1)
        of_pairs = LinkNetwork(conv, pairs.tolist())(graph.x, graph.edge_index, pairs.t()).argmax(1)
    for labels in (predictions(random_network(conv), sample_graphs()), of_nodes, of_pairs):
        assert set(labels.tolist()) == {0, 1}
    found = MethodCase(Random, conv=conv).targeted.explain(sample_graphs(), search="greedy", on_error="keep")
    assert {type(one) for one in found} == {rc.Explanation, rc.Failure}
    assert any(one.counterfactual.flipped for one in found if isinstance(one, rc.Explanation))


def test_layers_that_do_not_learn_the_motif_are_refused(monkeypatch) -> None:
    def untrained(config, *args, **options):
        torch.manual_seed(0)
        return SimpleNamespace(model=rc.gnn.GNN(config))

    monkeypatch.setattr(sample_networks, "train_gnn", untrained)
    with pytest.raises(RCExplainerError, match=r"gcn layers does not use the motif: \d+% .*; choose another conv"):
        motif_network.__wrapped__("gcn")


def test_it_needs_neither_pytest_nor_our_tests() -> None:
    for path in Path(rc.testing.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & {"pytest", "tests", "hypothesis"}, path


def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_shows_a_method_that_passes() -> None:
    """All code on the page runs, from top to bottom."""
    names = {"model": random_network("graphconv"), "graphs": sample_graphs()}
    made, used, once, in_pytest = examples()
    exec(made, names)
    exec(used, names)
    assert len(names["explanations"]) == len(sample_graphs())
    exec(once, names)
    exec(in_pytest, names)
    names["test_embedding_shift"](CHECKS[0])


def test_a_check_that_does_not_apply_is_left_out_by_name() -> None:
    skip = ("scores_follow_the_model", "scores_are_better_than_random")
    rc.testing.check_method(rc.baselines.Random, skip=skip)
    with pytest.raises(rc.testing.ConformanceError, match="there is no check scores_are_nice"):
        rc.testing.check_method(rc.baselines.Random, skip=("scores_are_nice",))
