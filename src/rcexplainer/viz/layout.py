"""Layout of a drawing: distances on paper that resemble the distances in the graph.

    minimise Σ_{i<j} w_ij (‖x_i − x_j‖ − d_ij)²,   w_ij = d_ij^−2,   d_ij = (number of edges between i and j)^0.7

by stress majorisation: x ← L⁺ L(x) x. Each step minimises a parabola above the stress, so the stress never grows. The
first start is classical scaling of d; if edges cross, small graphs get further starts, and the layout with the fewest
crossings wins. It needs numpy alone and is deterministic. The exponent shortens long distances, which leaves room for
small structures, such as a clique at the end of a tree.
"""

from numbers import Integral

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rcexplainer.errors import RCExplainerError

Places = NDArray[np.float64]

STEPS = 100  # of majorisation, for each exponent
EXPONENTS = (1.0, 0.7)  # of the distances: the first untangles, the second makes room
WHOLE = (torch.int64, torch.int32, torch.int16, torch.uint8)  # types of node numbers
APART = 2.0  # unconnected components are this much farther apart than the longest path within one
JITTER = 0.01  # nodes with the same neighbours would otherwise start, and stay, at the same place
PERTURBATION = 0.7  # of the further starts
STARTS, SMALL_GRAPH = 12, 100  # number of starts; nodes up to which a graph gets more than one


def stress_layout(edge_index: Tensor, num_nodes: int) -> Places:
    """Compute node positions.

    Args:
        edge_index: [2, num_edges].
        num_nodes: Number of nodes.

    Returns:
        [num_nodes, 2] positions in the square from −1 to 1, wider than high.

    Raises:
        RCExplainerError: The edges are none, or do not fit the nodes.
    """
    check_edges(edge_index, num_nodes)
    if num_nodes < 2:
        return np.zeros((num_nodes, 2))
    ways = hop_distances(edge_index, num_nodes)
    ends = np.unique(np.sort(edge_index.cpu().numpy(), axis=0), axis=1)
    first, found = _scaled(ways), []
    for start in range(STARTS if num_nodes <= SMALL_GRAPH else 1):
        noise = np.random.RandomState(start).standard_normal((num_nodes, 2))
        places = first + (PERTURBATION if start else JITTER) * noise
        for exponent in EXPONENTS:
            places = _relaxed(places, ways**exponent)
        found.append(places)
        if crossings(places, ends) == 0:
            break
    return _turned(min(found, key=lambda places: crossings(places, ends)))


def check_edges(edge_index: object, num_nodes: object) -> None:
    """Refuse what cannot be laid out.

    Args:
        edge_index: [2, num_edges].
        num_nodes: Number of nodes.

    Raises:
        RCExplainerError: The edges are none, or do not fit the nodes.
    """
    if not isinstance(num_nodes, Integral) or isinstance(num_nodes, bool) or num_nodes < 0:
        raise RCExplainerError(f"the number of nodes must be a whole number ≥ 0, got {num_nodes!r}")
    tensor = isinstance(edge_index, Tensor) and edge_index.dim() == 2 and edge_index.size(0) == 2
    if not isinstance(edge_index, Tensor) or not tensor or edge_index.dtype not in WHOLE or edge_index.is_meta:
        kind = type(edge_index).__name__
        found = f"{edge_index.dtype} {tuple(edge_index.shape)}" if isinstance(edge_index, Tensor) else kind
        raise RCExplainerError(f"a drawing needs edge_index [2, num_edges] of whole numbers, got {found}")
    low, high = (int(value) for value in edge_index.aminmax()) if edge_index.numel() else (0, -1)
    if low < 0 or high >= num_nodes:
        wrong = low if low < 0 else high
        raise RCExplainerError(f"there is an edge to node {wrong}, but the nodes are 0 to {int(num_nodes) - 1}")


def crossings(places: Places, ends: NDArray[np.int64]) -> int:
    """Count the pairs of edges that cross; edges that share a node do not.

    Args:
        places: [n, 2] node positions.
        ends: [2, m] the nodes of every edge, each edge once.

    Returns:
        Their number.
    """
    start, end = places[ends[0]], places[ends[1]]
    along = end - start

    def left(points: Places) -> Places:
        """[m, m] the side of each edge's line that each point is on, as a sign; 0 for its own ends."""
        away = points[None] - start[:, None]
        return np.sign(along[:, None, 0] * away[..., 1] - along[:, None, 1] * away[..., 0])

    parted = left(start) * left(end) < 0  # the second edge's ends are on different sides of the first
    return int((parted & parted.T).sum()) // 2


def _relaxed(places: Places, ways: Places) -> Places:
    """The positions after `STEPS` steps of majorisation."""
    weights = np.divide(1.0, ways**2, out=np.zeros_like(ways), where=ways > 0)
    strengths, inverse = weights * ways, np.linalg.pinv(_laplacian(weights))
    for _ in range(STEPS):
        across, up = places[:, 0, None] - places[None, :, 0], places[:, 1, None] - places[None, :, 1]
        gaps = np.sqrt(across * across + up * up)
        pull = np.divide(strengths, gaps, out=np.zeros_like(gaps), where=gaps > 1e-9)
        places = inverse @ (pull.sum(1)[:, None] * places - pull @ places)
    return places


def hop_distances(edge_index: Tensor, num_nodes: int) -> Places:
    """Compute shortest-path lengths between all nodes.

    Args:
        edge_index: [2, num_edges]; directions are ignored.
        num_nodes: n.

    Returns:
        [n, n]; slightly more than the longest path where there is none.
    """
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
    """The Laplacian of a weighted graph."""
    return np.diag(weights.sum(1)) - weights


def _scaled(ways: Places) -> Places:
    """Classical scaling: the two principal coordinates of the distances."""
    centre = np.eye(len(ways)) - 1 / len(ways)
    values, vectors = np.linalg.eigh(-0.5 * centre @ ways**2 @ centre)
    return vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]].clip(1e-6))


def _turned(places: Places) -> Places:
    """Centred, the principal direction horizontal, the larger side from −1 to 1."""
    places = places - places.mean(0)
    places = places @ np.linalg.svd(places, full_matrices=False)[2].T
    places = places - (places.max(0) + places.min(0)) / 2
    return places / max(np.abs(places).max(), 1e-9)
