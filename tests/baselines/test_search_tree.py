"""SubgraphX's tree, by hand."""

import pytest

from rcexplainer.baselines.search_tree import SearchTree, State, reached

PATH = [{1}, {0, 2}, {1, 3}, {2}]  # 0-1-2-3


def tree(neighbours=PATH, roots=(), min_nodes=1, children=14, exploration=10.0, prune=0.0) -> SearchTree:
    return SearchTree(neighbours, frozenset(roots), min_nodes, children, exploration, prune)


def search(made: SearchTree, rollouts: int, reward) -> list[set[int]]:
    """Run rollouts with a reward for every subset; the subsets in the order in which a reward was asked for."""
    asked = []
    for states in made.rollouts(rollouts):
        for state in states:
            state.reward = reward(state.nodes)
            asked.append(set(state.nodes))
    return asked


def test_promise_is_the_mean_and_the_reward_where_few_have_been() -> None:
    assert State(frozenset(), reward=0.5, visits=3, total=1.2).promise(16, 10.0) == pytest.approx(
        1.2 / 3 + 10 * 0.5 * 4 / 4
    )
    assert State(frozenset(), reward=0.5).promise(9, 2.0) == pytest.approx(2 * 0.5 * 3)


def test_the_most_promising_child_is_chosen() -> None:
    made = tree(exploration=1.0)
    often = State(frozenset([0]), reward=0.4, visits=8, total=4.0)  # 0.5 + 0.4 · 3 / 9
    seldom = State(frozenset([1]), reward=0.4, visits=1, total=0.1)  # 0.1 + 0.4 · 3 / 2
    never = State(frozenset([2]), reward=0.2)  # 0.2 · 3
    made.start.children = [often, seldom, never]
    assert made.select(made.start) is seldom
    often.total = 6.0
    assert made.select(made.start) is often


def test_before_any_visit_the_largest_reward_is_chosen() -> None:
    made = tree()
    made.start.children = [State(frozenset([node]), reward=reward) for node, reward in enumerate([0.1, 0.7, -0.3])]
    assert made.select(made.start).reward == 0.7


def test_children_lack_one_node_and_what_falls_off() -> None:
    made = tree()
    new = made.expand(made.start)
    # Ends are pruned first. Of two parts the larger one is left.
    assert [set(state.nodes) for state in new] == [{1, 2, 3}, {0, 1, 2}, {2, 3}, {0, 1}]
    assert [set(state.nodes) for state in made.start.children] == [{1, 2, 3}, {0, 1, 2}, {2, 3}, {0, 1}]
    first = made.start.children[0]
    assert [set(state.nodes) for state in made.expand(first)] == [{1, 2}, {1}]  # {2, 3} and … are known
    assert [set(state.nodes) for state in first.children] == [{2, 3}, {1, 2}, {1}]


def test_no_subset_lacks_a_root() -> None:
    made = tree(roots=[1])
    asked = search(made, 20, lambda nodes: len(nodes) / 4)
    assert asked
    assert all(1 in nodes for nodes in asked)
    assert set(made.states) == {frozenset(nodes) for nodes in ([0, 1, 2, 3], [1, 2, 3], [0, 1, 2], [0, 1], [1, 2], [1])}


def test_two_roots_may_be_in_two_parts() -> None:
    assert tree(roots=[0, 3]).connected(frozenset([0, 1, 3])) == {0, 1, 3}
    assert tree(roots=[0, 3]).connected(frozenset([0, 3])) == {0, 3}


def test_a_rollout_counts_its_way_and_asks_for_every_subset_once() -> None:
    made = tree(min_nodes=2)
    asked = search(made, 5, lambda nodes: 1.0 if nodes == {2, 3} else 0.25)
    assert len(asked) == len({frozenset(nodes) for nodes in asked})
    assert made.start.visits == 5
    best = made.states[frozenset([2, 3])]
    assert best.visits == best.total > 0  # it ends there, with a reward of 1
    assert made.start.total == pytest.approx(best.visits + 0.25 * (5 - best.visits))


def test_the_reward_decides_where_the_tree_grows() -> None:
    ring = [{(node - 1) % 12, (node + 1) % 12} for node in range(12)]

    def largest(node: int) -> frozenset[int]:
        made = tree(ring, min_nodes=3, children=12)
        search(made, 3, lambda nodes: (node in nodes) / len(nodes))
        return max(made.states.values(), key=lambda state: state.reward).nodes

    for node in (0, 5, 9):
        assert node in largest(node)
        assert len(largest(node)) <= 3


def test_of_many_nodes_several_go_at_once() -> None:
    path = [{node - 1, node + 1} & set(range(100)) for node in range(100)]
    made = tree(path, prune=0.05, children=3)
    # By degree the order is 0, 99, 1, 2, …; five in a row go, and without 99, 1, 2, 3, 4 the node 0 falls off.
    left = [range(4, 99), range(5, 99), range(6, 100)]
    assert [state.nodes for state in made.expand(made.start)] == [frozenset(nodes) for nodes in left]


def test_hops() -> None:
    assert reached(PATH, frozenset([0]), 2) == {0, 1, 2}
    assert reached(PATH, frozenset([0, 3]), 1) == {0, 1, 2, 3}
    assert reached(PATH, frozenset([0]), 9, within=frozenset([0, 1, 3])) == {0, 1}
