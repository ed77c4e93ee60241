"""SubgraphX: its game against brute force, and explanations whose reasons are known."""

from itertools import permutations

import numpy as np
import pytest
import torch

from rcexplainer.baselines import Random
from rcexplainer.baselines.node_masks import cut_off
from rcexplainer.baselines.search_tree import SearchTree, State
from rcexplainer.baselines.subgraphx import Game, SubgraphX, node_scores, orders
from rcexplainer.errors import RCExplainerError
from rcexplainer.metrics import fidelity, motif_auc
from rcexplainer.testing.sample_networks import motif_network
from tests.baselines.marked import (
    LOLLIPOP,
    STAR,
    CountsMarks,
    check_marked_neighbours_of_a_link,
    marked_graph,
    score_of,
)

PATH = [{1}, {0, 2}, {1, 3}, {2, 4}, {3}]  # 0-1-2-3-4
SMALL = SubgraphX(rollouts=3, samples=10)


def game(reach: int, samples: int, roots=()) -> Game:
    tree = SearchTree(PATH, frozenset(roots), 1, 14, 10.0, 0.0)
    return Game(tree, reach, orders(np.random.default_rng(0), samples, 5))


def value(present) -> float:
    """A game in which nothing is additive."""
    return len(present) ** 2 / 25 + (0.5 if {1, 4} <= set(present) else 0.0) - (0.3 if 2 in present else 0.0)


def shapley(subset: list[int], others: list[int], always: list[int]) -> float:
    """The mean, over all orders of the players, of what the subset adds to those before it."""
    gains = []
    for order in permutations(["S", *others]):
        before = [*always, *order[: order.index("S")]]
        gains.append(value([*before, *subset]) - value(before))
    return sum(gains) / len(gains)


@pytest.mark.parametrize(
    ("subset", "reach", "others", "always"),
    [([1, 2], 9, [0, 3, 4], []), ([1, 2], 1, [0, 3], [4]), ([4], 2, [2, 3], [0, 1]), ([0, 1, 2, 3, 4], 1, [], [])],
)
def test_the_reward_is_the_shapley_value(subset, reach: int, others, always) -> None:
    without, with_it = game(reach, 4000).coalitions(frozenset(subset))
    gains = [
        value(after.nonzero().flatten().tolist()) - value(before.nonzero().flatten().tolist())
        for before, after in zip(without, with_it, strict=True)
    ]
    assert sum(gains) / len(gains) == pytest.approx(shapley(subset, others, always), abs=0.01)


def test_a_root_takes_part_in_everything() -> None:
    without, with_it = game(2, 50, roots=[2]).coalitions(frozenset([1, 2]))
    assert without[:, 2].all()
    assert not without[:, 1].any()
    assert with_it[:, [1, 2]].all()
    assert torch.equal(without[:, [0, 3, 4]], with_it[:, [0, 3, 4]])
    assert not without[:, [0, 3, 4]].all()


def test_every_number_of_players_before_the_subset_is_as_likely() -> None:
    before = orders(np.random.default_rng(1), 30_000, 4).sum(1)
    torch.testing.assert_close(before.bincount() / 30_000, torch.full((5,), 0.2), atol=0.01, rtol=0)


def test_node_scores_are_those_of_the_best_subset_of_each_size() -> None:
    met = [
        ([0, 1, 2, 3, 4], 0.0),
        ([1, 2, 3, 4], 0.5),
        ([0, 1, 2, 3], 0.4),
        ([3, 4], 0.2),
        ([1, 2], 0.3),
    ]
    scores = node_scores(State(frozenset(nodes), reward) for nodes, reward in met)
    torch.testing.assert_close(scores, torch.tensor([0.0, 0.6, 0.6, 0.2, 0.2]))


def test_edges_between_marked_nodes_explain_a_graph() -> None:
    graph = marked_graph(LOLLIPOP, [0, 1, 2])
    fitted = SubgraphX().fit(CountsMarks("graph", 4.5), graph)
    assert fitted.explain(graph, search="none").top(3).nonzero().flatten().tolist() == [0, 1, 2, 9, 10, 11]
    # Other marks, other rewards, another tree.
    other = marked_graph(LOLLIPOP, [3, 4, 5])
    top = fitted.explain(other, search="none").top(2)
    assert {tuple(sorted(pair)) for pair in other.edge_index[:, top].T.tolist()} == {(3, 4), (4, 5)}


@pytest.mark.parametrize("settings", [{}, {"hide": cut_off}])
def test_marked_neighbours_explain_a_node(settings) -> None:
    graph = marked_graph(STAR, [1, 2])
    fitted = SubgraphX(task="node", hops=1, **settings).fit(CountsMarks("node", 1.5), graph)
    found = fitted.explain(graph, index=0)
    assert found.prediction == 1
    assert min(score_of(found, 0, 1), score_of(found, 0, 2)) > max(score_of(found, 0, node) for node in (3, 4, 5, 6))
    assert found.counterfactual.flipped


def test_marked_neighbours_explain_a_link() -> None:
    check_marked_neighbours_of_a_link(SubgraphX)


def test_another_seed_is_another_sample() -> None:
    model, _, (house, *_) = motif_network("graphconv")
    one, other = (SubgraphX(rollouts=1, samples=5, seed=seed).fit(model, house).explain(house) for seed in (0, 1))
    assert not torch.equal(one.edge_scores, other.edge_scores)


def test_it_beats_random_on_motifs() -> None:
    model, _, houses = motif_network("graphconv")
    graphs = houses[:6]
    found, random = (method.fit(model, graphs).explain(graphs, search="none") for method in (SMALL, Random()))
    assert motif_auc(found) > motif_auc(random) + 0.25
    assert fidelity(model, found, [0.95]).drop[0] > fidelity(model, random, [0.95]).drop[0] + 0.25


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rollouts": 0}, "rollouts must be a whole number ≥ 1, got 0"),
        ({"min_nodes": 0}, "min_nodes must be a whole number ≥ 1, got 0"),
        ({"prune": 1.0}, r"prune must be a share of the nodes in \[0, 1\), got 1.0"),
        ({"reach": 0}, "reach must be a whole number ≥ 1, got 0"),
        ({"hops": 2}, "hops is for nodes and links, .* nodes are players of SubgraphX's game are set by reach"),
        ({"hide": "zero"}, "hide must be a function such as baselines.node_masks.cut_off, got 'zero'"),
        ({"rollout": 2}, "unknown setting 'rollout'; did you mean rollouts?"),
    ],
)
def test_impossible_settings(settings, message: str) -> None:
    with pytest.raises(RCExplainerError, match=message):
        SubgraphX(**settings)
