"""Where the nodes of a drawing go: at distances on paper that are like those in the graph.

    minimise Σ_{i<j} w_ij (‖x_i − x_j‖ − d_ij)²,   w_ij = d_ij^−2,   d_ij = (number of edges between i and j)^0.7

by stress majorisation: x ← L⁺ L(x) x, each step the minimum of a parabola above the stress, so that it never grows.
The first start is classical scaling of d; where edges cross, small graphs get other starts, and the drawing with the
fewest crossings is taken. Nothing but numpy is needed, and the same graph always gives the same drawing. Long ways are
drawn shorter than they are, which leaves room for what is small, such as a clique at the end of a tree.
"""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Places = NDArray[np.float64]

STEPS = 100
BENDS = (1.0, 0.7)  # the first untangles, the second makes room
APART = 2.0  # parts that are not connected are drawn this much farther apart than the longest way within one
JITTER = 0.01  # nodes with the same neighbours start at the same place, and would stay there
SHAKEN = 0.7  # the other starts are as far from the first
STARTS, SMALL = 12, 100  # how many, in graphs of at most so many nodes


def stress_layout(edge_index: Tensor, num_nodes: int) -> Places:
    """[num_nodes, 2] places in the square from −1 to 1; the longer side lies across."""
    if num_nodes < 2:
        return np.zeros((num_nodes, 2))
    ways = hop_distances(edge_index, num_nodes)
    ends = np.unique(np.sort(edge_index.cpu().numpy(), axis=0), axis=1)
    first, found = _scaled(ways), []
    for start in range(STARTS if num_nodes <= SMALL else 1):
        noise = np.random.RandomState(start).standard_normal((num_nodes, 2))
        places = first + (SHAKEN if start else JITTER) * noise
        for bend in BENDS:
            places = _relaxed(places, ways**bend)
        found.append(places)
        if crossings(places, ends) == 0:
            break
    return _turned(min(found, key=lambda places: crossings(places, ends)))


def crossings(places: Places, ends: NDArray[np.int64]) -> int:
    """How many pairs of edges cross; `ends` [2, m] names every edge once. Edges that meet in a node do not cross."""
    start, end = places[ends[0]], places[ends[1]]
    along = end - start

    def left(points: Places) -> Places:
        """[m, m] on which side of every edge's line every point is, as a sign: 0 for its own ends."""
        away = points[None] - start[:, None]
        return np.sign(along[:, None, 0] * away[..., 1] - along[:, None, 1] * away[..., 0])

    parted = left(start) * left(end) < 0  # the ends of the second edge lie on different sides of the first
    return int((parted & parted.T).sum()) // 2


def _relaxed(places: Places, ways: Places) -> Places:
    """The places after a number of steps towards less stress."""
    weights = np.divide(1.0, ways**2, out=np.zeros_like(ways), where=ways > 0)
    inverse = np.linalg.pinv(_laplacian(weights))
    for _ in range(STEPS):
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
        pull = np.divide(weights * ways, gaps, out=np.zeros_like(gaps), where=gaps > 1e-9)
        places = inverse @ (_laplacian(pull) @ places)
    return places


def hop_distances(edge_index: Tensor, num_nodes: int) -> Places:
    """[n, n] the number of edges between two nodes; a little more than the longest way where there is none."""
    near = np.zeros((num_nodes, num_nodes), dtype=bool)
    one, other = edge_index.cpu().numpy()
    near[one, other] = near[other, one] = True
    ways = np.full((num_nodes, num_nodes), np.inf)
    reached = np.eye(num_nodes, dtype=bool)
    ways[reached] = 0
    steps = 0
    while True:
        steps += 1
        new = (reached.astype(np.float32) @ near.astype(np.float32) > 0) & ~reached
        if not new.any():
            break
        ways[new] = steps
        reached |= new
    longest = ways[np.isfinite(ways)].max()
    return np.where(np.isfinite(ways), ways, longest + APART)


def _laplacian(weights: Places) -> Places:
    return np.diag(weights.sum(1)) - weights


def _scaled(ways: Places) -> Places:
    """Classical scaling: the two directions in which the distances spread most."""
    centre = np.eye(len(ways)) - 1 / len(ways)
    values, vectors = np.linalg.eigh(-0.5 * centre @ ways**2 @ centre)
    return vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]].clip(1e-6))


def _turned(places: Places) -> Places:
    """Centred, the longest direction across, the larger side from −1 to 1."""
    places = places - places.mean(0)
    places = places @ np.linalg.svd(places, full_matrices=False)[2].T
    places = places - (places.max(0) + places.min(0)) / 2
    return places / max(np.abs(places).max(), 1e-9)
