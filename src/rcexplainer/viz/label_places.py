"""Where the names of nodes are written beside them: greedily, where they cover the least.

Every name may stand on any side of its node, near it or a little farther away. Nodes take turns, those with the most
edges first because they have the least room, and each name goes where

    6 · overlap with names already placed + 2 · nodes covered + points of edges covered / 3 + a little for distance

is lowest.
"""

from collections.abc import Collection, Sequence

import numpy as np

from rcexplainer.viz.excerpt import Numbers
from rcexplainer.viz.layout import Places

LONG_NAME = 3  # a longer name would hide the edges of its node: it stands beside a dot
CHARACTER_WIDTH, LINE_HEIGHT = 0.58, 1.1  # of a character, in font sizes
# Sides of a node, the preferred ones first; y points down or up, which makes no difference.
SIDES = np.array(
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1)]
)
DISTANCES = (0.45, 1.0, 1.8)  # between a node and its name, in font sizes
SAMPLES = np.linspace(0.04, 0.96, 17)  # of every edge


def label_places(
    places: Places,
    names: Sequence[str],
    ends: Numbers,
    size: float,
    roots: Sequence[int] = (),
    ring: float = 0.0,
    first: Collection[int] = (),
) -> Places:
    """Find places for the names of nodes.

    Args:
        places: [n, 2] the nodes.
        names: The name of each; an empty one takes no room.
        ends: [2, m] the nodes of every edge.
        size: Of the font, in units of `places`.
        roots: The explained nodes.
        ring: Radius of the rings around them, in units of `places`.
        first: Nodes whose names are placed after those of `roots` and before all others.

    Returns:
        [n, 2] the middle of each name.
    """
    half = 0.5 * size * np.array([[CHARACTER_WIDTH * len(name), LINE_HEIGHT] for name in names]).reshape(-1, 2)
    found = places.astype(float).copy()
    degree = np.bincount(ends.reshape(-1), minlength=len(places))
    share = SAMPLES[:, None, None]
    lines = (places[ends[0]] * (1 - share) + places[ends[1]] * share).reshape(-1, 2)
    turns = np.linspace(0, 2 * np.pi, 13)[:-1]
    circle = ring * np.stack([np.cos(turns), np.sin(turns)], 1)
    marks = np.concatenate([places, *(places[root] + circle for root in roots)])
    placed: list[int] = []
    turn = sorted(range(len(places)), key=lambda node: (node not in roots, node not in first, -int(degree[node]), node))
    for node in turn:
        if not names[node]:
            continue
        reach = ring if node in roots else 0.0
        centres = places[node] + np.concatenate([SIDES * (half[node] + reach + size * gap) for gap in DISTANCES])
        overlap = _overlap(centres, half[node], found[placed], half[placed])
        covered = _inside(centres, half[node] + 0.25 * size, marks)
        crossed = _inside(centres, half[node], lines)
        rank = np.arange(len(centres)) / len(centres)
        found[node] = centres[np.argmin(6 * overlap + 2 * covered + crossed / 3 + rank)]
        placed.append(node)
    return found


def _overlap(centres: Places, half: Places, others: Places, other_halves: Places) -> Places:
    """[k] how much of a box around each centre is covered by other boxes, as a share of its area."""
    room = half + other_halves - np.abs(centres[:, None] - others[None])
    sides = np.minimum(room.clip(0), 2 * np.minimum(half, other_halves))
    return np.asarray(sides.prod(2).sum(1) / (4 * half.prod()))


def _inside(centres: Places, half: Places, points: Places) -> Places:
    """[k] the number of points in a box around each centre."""
    return np.asarray((np.abs(centres[:, None] - points[None]) < half).all(2).sum(1), dtype=float)
