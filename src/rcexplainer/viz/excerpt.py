"""Which edges of a large graph are drawn: those that rank highest, and how they hang together.

Up to `most_edges` edges everything is drawn. Beyond that, the deleted edges and those with the highest values are
taken; for a node or link each is joined to it by a shortest path, for a graph the other edges between their nodes are
added. What is left out is said in words.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcexplainer.viz.search_outcome import counted

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

MOST_EDGES = 500
CHOSEN_EDGES, MOST_DELETED = 60, 120  # by score; more if more are deleted, up to the second number
MOST_LONE_NODES = 60  # nodes without edges


@dataclass(frozen=True, eq=False)
class Excerpt:
    """The part of a graph to draw.

    Attributes:
        nodes: The nodes, ascending.
        kept: [pairs] whether an edge is drawn.
        left_out: What is not drawn, in words; empty if nothing.
    """

    nodes: Numbers
    kept: Flags
    left_out: str

    @property
    def partial(self) -> bool:
        """Whether edges are left out."""
        return not bool(self.kept.all())


def choose_excerpt(
    ends: Numbers,
    scores: NDArray[np.float64],
    deleted: Flags,
    nodes: Numbers,
    roots: list[int],
    most_edges: int = MOST_EDGES,
    chosen_edges: int = CHOSEN_EDGES,
) -> Excerpt:
    """Choose what to draw.

    Args:
        ends: [2, pairs] the nodes of every edge.
        scores: [pairs].
        deleted: [pairs] whether a counterfactual deletes the edge; these come first.
        nodes: The nodes of the instance.
        roots: The explained nodes; empty for a graph.
        most_edges: Up to this number everything is drawn.
        chosen_edges: Edges chosen by score from a larger graph.

    Returns:
        The excerpt.
    """
    pairs = ends.shape[1]
    if pairs <= most_edges:
        touched = np.union1d(np.unique(ends), np.array(roots, dtype=np.int64))
        alone = np.setdiff1d(nodes, touched)
        if len(alone) <= MOST_LONE_NODES:
            return Excerpt(nodes, np.ones(pairs, dtype=bool), "")
        sentence = f"Not drawn: {counted(len(alone), 'node')} without edges."
        return Excerpt(touched, np.ones(pairs, dtype=bool), sentence)
    number = int(np.clip(deleted.sum(), chosen_edges, max(chosen_edges, MOST_DELETED)))
    order = np.lexsort((np.arange(pairs), -scores, ~deleted))[:number]
    kept = np.zeros(pairs, dtype=bool)
    kept[order] = True
    if roots:
        _join(kept, ends, roots)
    else:
        between = np.isin(ends, np.unique(ends[:, kept])).all(0)
        kept = kept | between if between.sum() <= most_edges else kept
    shown = np.union1d(np.unique(ends[:, kept]), np.array(roots, dtype=np.int64))
    return Excerpt(shown, kept, _sentence(kept, deleted, len(shown), len(nodes), bool(roots)))


def _join(kept: Flags, ends: Numbers, roots: list[int]) -> None:
    """Add a shortest path to a root for every chosen edge; `kept` is changed."""
    size = int(max(ends.max(), *roots)) + 1
    reached = np.zeros(size, dtype=bool)
    reached[roots] = True
    towards = np.full(size, -1)  # the pair over which a node was reached, and the node before it
    before = np.full(size, -1)
    while True:
        near = reached[ends]
        rim = np.flatnonzero(near[0] ^ near[1])
        if not len(rim):
            break
        start = np.where(near[0, rim], ends[0, rim], ends[1, rim])
        end = np.where(near[0, rim], ends[1, rim], ends[0, rim])
        towards[end], before[end] = rim, start
        reached[end] = True
    for node in np.unique(ends[:, kept]).tolist():
        while towards[node] >= 0 and not kept[towards[node]]:
            kept[towards[node]] = True
            node = int(before[node])


def _sentence(kept: Flags, deleted: Flags, shown: int, nodes: int, rooted: bool) -> str:
    """What is left out, in words; they hold for both readings of an edge."""
    first = "the deleted ones, those that rank highest" if deleted.any() else "those that rank highest"
    chosen = first + (" and a path from each to the explained nodes" if rooted else " and others between their nodes")
    text = f"Drawn: {kept.sum():,} of {counted(len(kept), 'edge')} and {shown:,} of {counted(nodes, 'node')}: {chosen}."
    hidden = int((deleted & ~kept).sum())
    return text + (f" Not drawn: {counted(hidden, 'deleted edge')}." if hidden else "")
