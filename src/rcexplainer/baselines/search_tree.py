"""Monte-Carlo tree search over the connected subsets of a graph's nodes: SubgraphX's tree.

    state     a subset of the nodes; a child is what still hangs together when one of its nodes is pruned
    rollout   from all nodes down to `min_nodes`, each time to the child with the largest Q + U
                  Q = W / N                               mean reward in which rollouts through the child have ended
                  U = exploration · R · √(Σ N) / (1 + N)  its own reward R, more of it where few have been; Σ over the
                                                          siblings, and where none was visited yet the largest R wins
              then N grows by 1 all the way, and W by the reward of the last state

The tree knows no model: a rollout yields states that need a reward, and goes on once they have it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Nodes = frozenset[int]


@dataclass(eq=False)
class State:
    nodes: Nodes
    reward: float = 0.0  # R
    visits: int = 0  # N
    total: float = 0.0  # W
    children: list["State"] = field(default_factory=list)

    def promise(self, among: int, exploration: float) -> float:
        """Q + U, if the state and its siblings have been visited `among` times."""
        mean = self.total / self.visits if self.visits else 0.0
        return mean + exploration * self.reward * math.sqrt(among) / (1 + self.visits)


@dataclass(eq=False)
class SearchTree:
    """`children`: how many there are at most; nodes of few neighbours are pruned first. `prune`: the share of the nodes
    that goes at once, at least one of them. `roots`: nodes that no subset may lack."""

    neighbours: Sequence[set[int]]
    roots: Nodes
    min_nodes: int
    children: int
    exploration: float
    prune: float
    states: dict[Nodes, State] = field(default_factory=dict)  # all that were met

    def __post_init__(self) -> None:
        everything = frozenset(range(len(self.neighbours)))
        self.start = self.states[everything] = State(everything)

    def rollouts(self, count: int) -> Iterator[list[State]]:
        for _ in range(count):
            path = [self.start]
            while len(path[-1].nodes) > max(self.min_nodes, len(self.roots)):
                if not path[-1].children and (new := self.expand(path[-1])):
                    yield new
                path.append(self.select(path[-1]))
            for state in path:
                state.visits += 1
                state.total += path[-1].reward

    def select(self, state: State) -> State:
        """The most promising child."""
        among = sum(child.visits for child in state.children)
        return max(state.children, key=lambda child: (child.promise(among, self.exploration), child.reward))

    def expand(self, state: State) -> list[State]:
        """Give a state its children. Returned are those that were never met before."""
        degree = {node: len(self.neighbours[node] & state.nodes) for node in state.nodes - self.roots}
        order = sorted(degree, key=lambda node: (degree[node], node))
        step = max(1, int(self.prune * len(state.nodes)))
        pruned = [order[place : place + step] for place in range(min(self.children, len(order)))]
        left = dict.fromkeys(self.connected(state.nodes.difference(nodes)) for nodes in pruned)
        new = [State(nodes) for nodes in left if nodes not in self.states]
        self.states.update((child.nodes, child) for child in new)
        state.children = [self.states[nodes] for nodes in left]
        return new

    def connected(self, nodes: Nodes) -> Nodes:
        """The part of a subset that hangs together with the roots; without roots the largest part, the first of two."""
        parts: list[Nodes] = []
        rest = nodes
        while rest:
            part = reached(self.neighbours, frozenset([min(rest)]), len(nodes), rest)
            parts.append(part)
            rest -= part
        if self.roots:
            return frozenset[int]().union(*(part for part in parts if part & self.roots))
        return max(parts, key=len)


def reached(neighbours: Sequence[set[int]], nodes: Nodes, hops: int, within: Nodes | None = None) -> Nodes:
    """The nodes at most so many hops from a subset, on paths within another one (if it is given)."""
    found = last = nodes
    for _ in range(hops):
        last = frozenset[int]().union(*(neighbours[node] for node in last)) - found
        last = last if within is None else last & within
        if not last:
            break
        found |= last
    return found
