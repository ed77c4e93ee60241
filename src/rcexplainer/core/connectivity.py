"""Connected explanations of a node or link: an edge counts only if kept edges connect it to the explained node.

    b(root) = ∞,   b(v) = max over units (v, w) of min(f_(v, w), b(w))        the widest path to the root
    r(u) = min(f_u, max(b(i), b(j)))                                          u = (i, j), as far as it is connected
    f'_u = r(u) + ε (f_u − r(u))

At any threshold, the units with r above it are those with f above it that are connected to the root by such units. The
small ε keeps the order of units behind the same bottleneck, and lets a gradient reach their own f.

logits [U], pair [2, U], roots [k] → f' [U], in as many rounds as the GNN passes messages
"""

import torch
from torch import Tensor

FOLLOW = 0.02  # ε


def connected(logits: Tensor, pair: Tensor, roots: Tensor, num_nodes: int, rounds: int) -> Tensor:
    """Lower the logits of units that are not connected to the roots by units with logits as high.

    Args:
        logits: f [U].
        pair: [2, U] the two nodes of each unit.
        roots: [k] the explained nodes.
        num_nodes: Number of nodes.
        rounds: Length of the longest path considered.

    Returns:
        f' [U]; units without a path to a root rank below all others, in the order of their own f.
    """
    far = torch.finfo(logits.dtype).max / 4
    width = logits.new_full((num_nodes,), -far).index_fill(0, roots, far)
    ends, others = torch.cat([pair[0], pair[1]]), torch.cat([pair[1], pair[0]])
    both = logits.repeat(2)
    for _ in range(rounds):
        width = width.scatter_reduce(0, ends, torch.minimum(both, width[others]), "amax")
    reached = torch.minimum(logits, torch.maximum(width[pair[0]], width[pair[1]]))
    return torch.where(reached <= -far, logits - 1e3, reached + FOLLOW * (logits - reached))
