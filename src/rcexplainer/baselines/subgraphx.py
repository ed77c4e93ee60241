"""SubgraphX (ICML 2021): the connected subsets of nodes with the largest Shapley value, found by tree search.

    game       players: the subset S as one of them, and each node within `reach` hops of it; all others take part
    v(C)       p(c) of the graph in which the nodes that do not take part are hidden: their features are 0
    reward(S)  E [v(C ∪ S) − v(C)], where C are the players before S in a random order
    score(i)   1 − m / n: of all subsets met by the search, the one with the largest reward of every size is kept, and i
               is in one of m nodes, in none smaller

A unit has the lower score of its two nodes: it belongs to the subgraph that a subset induces. The explained node of a
node task (of a link both ends) is in every subset and in every C.

Its fidelity here is lower than the published one. There the nodes of the explanation lost their features, as in this
game; here its edges are really deleted, and the two are not the same: a node without features still passes on what its
neighbours know, so the search never learns what happens without the edges. And a reward is a mean over all coalitions;
what is missed when the subset is taken from the whole graph, the counterfactual question, is only one of them.
`hide=cut_off` plays the game with the edges of hidden nodes deleted, and answers the first of the two.

Not as published: a reward has 20 samples, not 100, but all subsets of a graph share them, and they spread the number of
players before S evenly; a state of many nodes loses the share `prune` of them at once (one of up to 39). It stays
expensive: a graph of 25 nodes is run some 50,000 times, and this number grows with that of the nodes.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.baselines.chance import generators
from rcexplainer.baselines.node_masks import read_at, zero_filled
from rcexplainer.baselines.search_tree import Nodes, SearchTree, State, reached
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method

Hide = Callable[[Instances, Tensor, Tensor], Iterator[Data]]


class SubgraphX(Method):
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
        **common: Any,
    ) -> None:
        super().__init__(**common)
        counts = {
            "rollouts": rollouts,
            "min_nodes": min_nodes,
            "samples": samples,
            "children": children,
            "reach": reach,
        }
        for name, value in counts.items():
            if value < 1:
                raise RCExplainerError(f"{name} must be at least 1, got {value}")
        if not 0 <= prune < 1:
            raise RCExplainerError(f"prune is a share of the nodes and must be in [0, 1), got {prune}")
        self.rollouts, self.min_nodes, self.samples, self.children = rollouts, min_nodes, samples, children
        self.exploration, self.reach, self.prune, self.hide, self.seed = exploration, reach, prune, hide, seed

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        games = self.games(instances)
        searches = [game.tree.rollouts(self.rollouts) for game in games]
        # One step of all searches at a time, until none needs another reward.
        while asked := [(place, state) for place, search in enumerate(searches) for state in next(search, [])]:
            copies = torch.tensor([place for place, _ in asked]).repeat_interleave(2 * self.samples)
            present = torch.cat([games[place].coalitions(state.nodes).flatten() for place, state in asked])
            value = self._values(instances, labels, copies, ~present).view(len(asked), 2, self.samples)
            for (_, state), reward in zip(asked, (value[:, 1] - value[:, 0]).mean(1).tolist(), strict=True):
                state.reward = round(reward, 5)  # what a batch adds to a number must not decide between two states
        nodes = torch.cat([node_scores(game.tree.states.values()) for game in games])
        return nodes.to(labels.device)[instances.units.pair].amin(0)

    def games(self, instances: Instances) -> list["Game"]:
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
    def _values(self, instances: Instances, labels: Tensor, copies: Tensor, hidden: Tensor) -> Tensor:
        """p(c) of copies of instances with hidden nodes."""
        split = instances.split
        runs = [split.log_probs(split.run(batch).output) for batch in self.hide(instances, copies, hidden)]
        return torch.cat(runs).exp().gather(1, labels[copies.to(labels.device), None]).squeeze(1)


def orders(random: np.random.Generator, count: int, num_nodes: int) -> Tensor:
    """Which nodes come before the subset in each of `count` random orders, [count, n].

    In a random order every number of players before the subset is equally likely: this is a share drawn evenly from
    [0, 1], with which every node comes before. One share is drawn from each of `count` equal parts of [0, 1].
    """
    share = (np.arange(count) + random.random(count)) / count
    return torch.from_numpy(random.random((count, num_nodes)) < share[:, None])


@dataclass(frozen=True, eq=False)
class Game:
    """The game of one instance."""

    tree: SearchTree
    reach: int
    before: Tensor  # [samples, n]: which nodes come before the subset

    def coalitions(self, nodes: Nodes) -> Tensor:
        """Who takes part without and with the subset, [2, samples, n]."""
        players, subset = torch.zeros(2, self.before.size(1), dtype=torch.bool)
        players[list(reached(self.tree.neighbours, nodes, self.reach))] = True
        subset[list(nodes)] = True
        without = (self.before | ~players) & ~subset
        without[:, list(self.tree.roots)] = True
        return torch.stack([without, without | subset])


def node_scores(states: Iterable[State]) -> Tensor:
    """1 − m / n for every node, m the size of the smallest subset it is in; of every size, the best one counts."""
    best: dict[int, State] = {}
    for state in states:
        size = len(state.nodes)
        if size not in best or state.reward > best[size].reward:
            best[size] = state
    scores = torch.zeros(max(best))
    for size in sorted(best, reverse=True):
        scores[list(best[size].nodes)] = 1 - size / max(best)
    return scores
