"""Monte-Carlo tree search over the connected subsets of a graph's nodes, for SubgraphX.

    state     a subset of the nodes; a child is the connected part that is left when one of its nodes is pruned
    rollout   from all nodes down to `min_nodes`, at each step to the child with the largest Q + U
                  Q = W / N                               mean reward at the end of the rollouts through the child
                  U = exploration · R · √(Σ N) / (1 + N)  its own reward R, larger for children with few visits; Σ over
                                                          the siblings; before any visit the largest R wins
              then N grows by 1 along the path, and W by the reward of its last state

The tree does not know the model: a rollout yields states that need a reward, and continues once they have it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Nodes = frozenset[int]


@dataclass(eq=False)
class State:
    """A subset of the nodes, with its reward and its visits."""

    nodes: Nodes
    reward: float = 0.0  # R
    visits: int = 0  # N
    total: float = 0.0  # W
    children: list["State"] = field(default_factory=list)

    def promise(self, among: int, exploration: float) -> float:
        """Q + U.

        Args:
            among: Visits of the state and its siblings, Σ N.
            exploration: Weight of U.
        """
        mean = self.total / self.visits if self.visits else 0.0
        return mean + exploration * self.reward * math.sqrt(among) / (1 + self.visits)


@dataclass(eq=False)
class SearchTree:
    """The tree of one graph, grown by rollouts."""

    neighbours: Sequence[set[int]]
    roots: Nodes  # nodes that are in every subset
    min_nodes: int
    children: int  # of a state, at most; nodes with few neighbours are pruned first
    exploration: float
    prune: float  # share of the nodes pruned at once, at least one node
    states: dict[Nodes, State] = field(default_factory=dict)  # all states met

    def __post_init__(self) -> None:
        everything = frozenset(range(len(self.neighbours)))
        self.start = self.states[everything] = State(everything)

    def rollouts(self, count: int) -> Iterator[list[State]]:
        """Run rollouts.

        Args:
            count: How many.

        Yields:
            New states; set their `reward` before the next step.
        """
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
        """Give a state its children, and return those that are new to the tree."""
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
        """The connected parts of a subset that hold a root; without roots the largest part, the first in a tie."""
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
    """The nodes within some hops of a subset.

    Args:
        neighbours: The neighbours of every node.
        nodes: The subset.
        hops: How many hops.
        within: Paths use these nodes alone; all nodes if None.
    """
    found = last = nodes
    for _ in range(hops):
        last = frozenset[int]().union(*(neighbours[node] for node in last)) - found
        last = last if within is None else last & within
        if not last:
            break
        found |= last
    return found
