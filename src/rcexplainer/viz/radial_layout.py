"""Layout around the explained node: it stands in the centre, and every hop is a circle farther out.

Each branch of the breadth-first tree has an angle of its own, so branches do not cross. It grows with the square root
of their leaves, which leaves room for a small branch beside the many neighbours of a hub.
"""

import numpy as np

from rcexplainer.viz.excerpt import Numbers
from rcexplainer.viz.layout import Places

PAIR_GAP = 0.16  # how far the two nodes of an explained link are from the centre


def radial_layout(ends: Numbers, num_nodes: int, roots: list[int]) -> Places:
    """Compute node positions.

    Args:
        ends: [2, pairs] the nodes of every edge, each edge once; directions are ignored.
        num_nodes: Number of nodes.
        roots: One node, or two.

    Returns:
        [num_nodes, 2] positions in the square from −1 to 1. Nodes that no path joins to a root stand on the outermost
        circle.
    """
    children, depth = _tree(ends, num_nodes, roots)
    leaves = _leaves(children, depth)
    angles = np.zeros(num_nodes)
    spans = {root: (place / len(roots), (place + 1) / len(roots)) for place, root in enumerate(roots)}
    lost = [node for node in range(num_nodes) if depth[node] < 0]
    for node in sorted((node for node in range(num_nodes) if depth[node] >= 0), key=lambda node: depth[node]):
        low, high = spans[node]
        angles[node] = (low + high) / 2
        share = (high - low) / max(1, sum(leaves[child] ** 0.5 for child in children[node]))
        for child in children[node]:
            spans[child] = (low, low + share * leaves[child] ** 0.5)
            low = spans[child][1]
    farthest = max(1, int(depth.max()) + (1 if lost else 0))
    for place, node in enumerate(lost):
        angles[node], depth[node] = (place + 0.5) / len(lost), farthest
    radius = depth / farthest
    radius[roots] = PAIR_GAP if len(roots) > 1 else 0.0
    turn = 2 * np.pi * angles
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)


def _tree(ends: Numbers, num_nodes: int, roots: list[int]) -> tuple[list[list[int]], Numbers]:
    """The children of every node in the breadth-first tree, and its depth; −1 where no path leads."""
    near: list[list[int]] = [[] for _ in range(num_nodes)]
    for one, other in ends.T.tolist():
        near[one].append(other)
        near[other].append(one)
    children: list[list[int]] = [[] for _ in range(num_nodes)]
    depth = np.full(num_nodes, -1)
    depth[roots] = 0
    queue = list(roots)
    for node in queue:
        for other in near[node]:
            if depth[other] < 0:
                depth[other] = depth[node] + 1
                children[node].append(other)
                queue.append(other)
    return children, depth


def _leaves(children: list[list[int]], depth: Numbers) -> list[int]:
    """The number of leaves below every node; 1 for a leaf."""
    leaves = [1] * len(children)
    for node in np.argsort(-depth, kind="stable").tolist():
        if children[node]:
            leaves[node] = sum(leaves[child] for child in children[node])
    return leaves
