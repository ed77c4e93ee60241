"""SubgraphX: the connected subsets of nodes with the largest Shapley value, found by tree search.

    game       players: the subset S as one player, each node within `reach` hops of it; other nodes always take part
    v(C)       p(c) of the graph in which nodes that do not take part are hidden: their features are 0
    reward(S)  E [v(C ∪ S) − v(C)], where C are the players before S in a random order
    score(i)   1 − m / n, where m is the size of the smallest subset that holds node i; of each size only the subset
               with the largest reward counts, among all the search has met

A unit has the lower score of its two nodes: it belongs to the subgraph that a subset induces. The explained node (both
ends of a link) is in every subset and in every C.

Its fidelity here is lower than published. In the publication the nodes of the explanation lose their features, as in
this game; here their edges are really deleted. The two differ: a node without features still passes messages between
its neighbours, so the search never sees the graph without the edges. And a reward is a mean over all coalitions; the
counterfactual question, what the subset adds to the whole rest of the graph, is only one of them. `hide=cut_off` plays
the game with the edges of hidden nodes deleted, which removes the first difference.

Different from the publication: a reward has 20 samples, not 100, but all subsets of a graph share them, and they spread
the number of players before S evenly; from a large state the share `prune` of its nodes is pruned at once (one node
below 40). Coalitions that several subsets share are run once (`coalitions`). It is still expensive: thousands of runs
of the model for a small molecule, tens of thousands with the published numbers of rollouts and samples.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.baselines.coalitions import CoalitionValues
from rcexplainer.baselines.node_masks import read_at, zero_filled
from rcexplainer.baselines.random_numbers import generators
from rcexplainer.baselines.search_tree import Nodes, SearchTree, State, reached
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method
from rcexplainer.method.settings import CommonSettings, non_negative, number, whole

Hide = Callable[[Instances, Tensor, Tensor], Iterator[Data]]  # `zero_filled` or `cut_off`


class SubgraphX(Method):
    """SubgraphX (Yuan et al., ICML 2021).

    Args:
        rollouts: Rollouts of the tree search.
        min_nodes: A rollout ends at a subset of this size.
        samples: Samples of a Shapley value.
        children: Children of a state of the tree, at most.
        exploration: Weight of a state's own reward in the search.
        reach: Hops around a subset within which nodes are players of its game. (In version 0.1 this was `hops`, which
            now is how far computation graphs reach, as for every method.)
        prune: Share of a state's nodes that is pruned at once.
        hide: How nodes that do not take part are hidden.
        seed: Random seed.
        **common: `task`, `target_class`, `hops` and `connected`, as for every method.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    def __init__(
        self,
        rollouts: int = 10,
        min_nodes: int = 3,
        samples: int = 20,
        children: int = 14,
        exploration: float = 10.0,
        reach: int = 3,
        prune: float = 0.05,
        hide: Hide = zero_filled,
        seed: int = 0,
        **common: Unpack[CommonSettings],
    ) -> None:
        if common.get("hops") is not None and common.get("task", "graph") == "graph":
            raise RCExplainerError(
                "hops is for nodes and links, graphs are explained whole; the hops within which nodes are players of "
                "SubgraphX's game are set by reach"
            )
        super().__init__(**common)
        if not callable(hide):
            raise RCExplainerError(f"hide must be a function such as baselines.node_masks.cut_off, got {hide!r}")
        self.rollouts, self.min_nodes = whole("rollouts", rollouts), whole("min_nodes", min_nodes)
        self.samples, self.children = whole("samples", samples), whole("children", children)
        self.exploration, self.reach = non_negative("exploration", exploration), whole("reach", reach)
        self.prune = number("prune", prune, lambda given: 0 <= given < 1, "a share of the nodes in [0, 1)")
        self.hide, self.seed = hide, whole("seed", seed, least=0)

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        games = self.games(instances)
        searches = [game.tree.rollouts(self.rollouts) for game in games]
        values = CoalitionValues(partial(self._values, instances, labels))
        # One step of all searches at a time, until none needs another reward.
        while asked := [(place, state) for place, search in enumerate(searches) for state in next(search, [])]:
            played = [(place, games[place].coalitions(state.nodes).flatten(0, 1)) for place, state in asked]
            for (_, state), found in zip(asked, values(played), strict=True):
                reward = (sum(found[self.samples :]) - sum(found[: self.samples])) / self.samples
                state.reward = round(reward, 5)  # what a batch adds to a number must not decide between two states
        nodes = torch.cat([node_scores(game.tree.states.values()) for game in games])
        return nodes.to(labels.device)[instances.units.pair].amin(0)

    def games(self, instances: Instances) -> list["Game"]:
        """The game of every instance, with a tree that has only its root."""
        units, ptr = instances.units, instances.store[instances.everything].ptr.tolist()
        found: list[Game] = []
        for place, random in enumerate(generators(units, self.seed)):
            neighbours: list[set[int]] = [set() for _ in range(ptr[place + 1] - ptr[place])]
            for one, other in (units.pair[:, units.ptr[place] : units.ptr[place + 1]] - ptr[place]).T.tolist():
                neighbours[one].add(other)
                neighbours[other].add(one)
            roots = frozenset(read_at(instances, place))
            tree = SearchTree(neighbours, roots, self.min_nodes, self.children, self.exploration, self.prune)
            found.append(Game(tree, self.reach, orders(random, self.samples, len(neighbours))))
        return found

    @torch.no_grad()
    def _values(self, instances: Instances, labels: Tensor, copies: Tensor, present: Tensor) -> Tensor:
        """p(c) of the instances `copies` [v] where only the nodes `present` [Σ their nodes] take part, [v]."""
        split = instances.split
        runs = [split.log_probs(split.run(batch).output) for batch in self.hide(instances, copies, ~present)]
        return torch.cat(runs).exp().gather(1, labels[copies.to(labels.device), None]).squeeze(1)


def orders(random: np.random.Generator, count: int, num_nodes: int) -> Tensor:
    """Which nodes come before the subset in random orders.

    In a random order every number of players before the subset is equally likely. This is the same as drawing a share
    from U(0, 1) with which each node comes before; one share is drawn from each of `count` equal parts of [0, 1].

    Args:
        random: Random generator.
        count: Number of orders.
        num_nodes: n.

    Returns:
        [count, n], boolean.
    """
    share = (np.arange(count) + random.random(count)) / count
    return torch.from_numpy(random.random((count, num_nodes)) < share[:, None])


@dataclass(frozen=True, eq=False)
class Game:
    """The cooperative game of one instance."""

    tree: SearchTree
    reach: int
    before: Tensor  # [samples, n]: which nodes come before the subset

    def coalitions(self, nodes: Nodes) -> Tensor:
        """Which nodes take part without and with the subset, [2, samples, n], boolean."""
        players, subset = torch.zeros(2, self.before.size(1), dtype=torch.bool)
        players[list(reached(self.tree.neighbours, nodes, self.reach))] = True
        subset[list(nodes)] = True
        without = (self.before | ~players) & ~subset
        without[:, list(self.tree.roots)] = True
        return torch.stack([without, without | subset])


def node_scores(states: Iterable[State]) -> Tensor:
    """1 − m / n for every node, [n]; m: size of the smallest subset with it, among the best subset of each size."""
    best: dict[int, State] = {}
    for state in states:
        size = len(state.nodes)
        if size not in best or state.reward > best[size].reward:
            best[size] = state
    scores = torch.zeros(max(best))
    for size in sorted(best, reverse=True):
        scores[list(best[size].nodes)] = 1 - size / max(best)
    return scores
