"""Linear decision boundaries of the head φ_fc, sampled from its gradients.

    w = ∂(max₁ φ_fc(α) − max₂ φ_fc(α)) / ∂α            at α = φ_gc(G)                              (2)
    b = max₁ φ_fc(α) − max₂ φ_fc(α) − wᵀα                                                            (3)
    B_i(x) = w_iᵀ x + b_i

x [n, d] embeddings, φ_fc(x) [n, C] class scores (logits or log-probabilities: only their differences count),
w [m, d], b [m], B(x) [n, m]. Row i was taken where classes (a, b) are the two largest; B_i > 0 on the side of a.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.errors import RCExplainerError
from rcexplainer.short_repr import ShortRepr

log = logging.getLogger(__name__)

Head = Callable[[Tensor], Tensor]

BOUNDARY_TOLERANCE = 1e-4  # of unit normals and relative scores in float32
ROWS_AT_ONCE = 1024  # boundaries that are compared with others at a time


@dataclass(frozen=True, eq=False, repr=False)
class LinearBoundaries(ShortRepr):
    """Hyperplanes between pairs of classes.

    Attributes:
        weight: w [m, d].
        bias: b [m].
        classes: [m, 2] long; row i separates class a = classes[i, 0], where B_i > 0, from class b = classes[i, 1].
    """

    weight: Tensor
    bias: Tensor
    classes: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate all boundaries: x [n, d] → B(x) [n, m]."""
        return torch.addmm(self.bias, x, self.weight.T)

    def __len__(self) -> int:
        return len(self.bias)

    def select(self, rows: Tensor) -> "LinearBoundaries":
        """Take some boundaries.

        Args:
            rows: Positions [k], or a boolean mask [m].

        Returns:
            These boundaries, in that order.
        """
        return LinearBoundaries(self.weight[rows], self.bias[rows], self.classes[rows])

    def candidates(self, label: int) -> Tensor:
        """Find the boundaries between a class and any other; crossing another row does not concern the class.

        Args:
            label: The class.

        Returns:
            [k] their rows.
        """
        return (self.classes == label).any(1).nonzero().flatten()

    def oriented(self) -> "LinearBoundaries":
        """Turn every boundary so that a < b."""
        sign = torch.where(self.classes[:, 0] < self.classes[:, 1], 1, -1).to(self.bias.dtype)
        return LinearBoundaries(self.weight * sign[:, None], self.bias * sign, self.classes.sort(1).values)

    def merged(self, tolerance: float = BOUNDARY_TOLERANCE) -> "LinearBoundaries":
        """Remove duplicates and degenerate rows (w ≈ 0), and turn every boundary so that a < b.

        Two rows between the same classes are duplicates if their (w, b) / ‖w‖ agree; the first one stays. B keeps the
        units of the scores.

        Args:
            tolerance: Largest distance between duplicates, and smallest ‖w‖ relative to the largest.

        Returns:
            The distinct boundaries.
        """
        norm = self.weight.norm(dim=1)
        rows = self.oriented().select(norm > tolerance * norm.max() if len(self) else norm > 0)
        norm = rows.weight.norm(dim=1, keepdim=True)
        offset = rows.bias[:, None] / norm
        extent = offset.abs().max().clamp_min(1) if len(rows) else 1
        planes = torch.cat([rows.weight / norm, offset / extent], 1)
        return rows.select(~_repeated(planes, rows.classes, tolerance))


def _repeated(planes: Tensor, classes: Tensor, tolerance: float) -> Tensor:
    """[m] whether an earlier row of planes [m, k] between the same classes [m, 2] is nearer than the tolerance.

    Rows are compared only within their pair of classes, and at most `ROWS_AT_ONCE` with all others of it at a time.
    """
    repeated = torch.zeros(len(planes), dtype=torch.bool, device=planes.device)
    _, group, sizes = torch.unique(classes, dim=0, return_inverse=True, return_counts=True)
    order = group.argsort(stable=True)
    for members in torch.split(order, sizes.tolist()):
        if len(members) == 1:
            continue
        for start in range(0, len(members), ROWS_AT_ONCE):
            here, earlier = members[start : start + ROWS_AT_ONCE], members[: start + ROWS_AT_ONCE]
            # Distances by matrix product lose half the digits, and it is the small distances that matter.
            gap = torch.cdist(planes[here], planes[earlier], compute_mode="donot_use_mm_for_euclid_dist")
            repeated[here] = (gap < tolerance).tril(start - 1).any(1)
    return repeated


def concat(parts: Sequence[LinearBoundaries]) -> LinearBoundaries:
    """Join several sets of boundaries, one after the other."""
    return LinearBoundaries(
        torch.cat([part.weight for part in parts]),
        torch.cat([part.bias for part in parts]),
        torch.cat([part.classes for part in parts]),
    )


def check_embeddings(x: Tensor) -> None:
    """Check that embeddings form a matrix of finite numbers.

    Args:
        x: [n, d].

    Raises:
        RCExplainerError: If they do not.
    """
    if x.dim() != 2:
        raise RCExplainerError(f"embeddings must be a matrix [instances, width], got shape {tuple(x.shape)}")
    bad = ~x.detach().isfinite().all(1)
    if bool(bad.any()):
        raise RCExplainerError(
            f"{int(bad.sum())} of {len(x)} embeddings contain NaN or infinite values, the first in row "
            f"{int(bad.long().argmax())}; look for NaN in the features or weights of the GNN"
        )


def at_samples(head: Head, x: Tensor) -> LinearBoundaries:
    """Take the boundary between the two largest classes at every embedding (Eq. 2, 3).

    One backward pass is enough, as row i of the gradient depends on sample i alone.

    Args:
        head: φ_fc.
        x: [n, d].

    Returns:
        n boundaries.

    Raises:
        RCExplainerError: If an embedding is not finite, or the head does not return differentiable class scores.
    """
    check_embeddings(x)
    return linearise(head, x, None)


def linearise(head: Head, x: Tensor, classes: Tensor | None) -> LinearBoundaries:
    """Linearise the margin between two classes at every embedding.

    Args:
        head: φ_fc.
        x: [n, d].
        classes: [n, 2] the classes; None for the two largest at each row.

    Returns:
        n boundaries.
    """
    _, margin, classes, weight = gradients(head, x, classes, create_graph=False)
    weight, margin = weight.detach(), margin.detach()
    return LinearBoundaries(weight, margin - (weight * x.detach()).sum(1), classes)


def gradients(
    head: Head, x: Tensor, classes: Tensor | None, create_graph: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Differentiate the margin between two classes.

    Args:
        head: φ_fc.
        x: [n, d].
        classes: [n, 2] the classes; None for the two largest at each row.
        create_graph: Whether the gradient itself can be differentiated.

    Returns:
        x as a leaf, the margins [n], their classes [n, 2], and ∂ margin / ∂x [n, d].

    Raises:
        RCExplainerError: If the head does not return differentiable class scores.
    """
    x = x.detach().requires_grad_()
    with torch.enable_grad():
        scores = head(x)
        if scores.dim() != 2 or scores.shape[0] != len(x) or scores.shape[1] < 2:
            raise RCExplainerError(
                f"the head must return one row of at least two class scores per embedding: for {tuple(x.shape)} it "
                f"returned {tuple(scores.shape)}"
            )
        if not scores.requires_grad:
            raise RCExplainerError("the head's scores carry no gradient; does it run under torch.no_grad()?")
        classes = scores.detach().topk(2, dim=1).indices if classes is None else classes
        first, second = scores.gather(1, classes).unbind(1)
        margin = first - second
        (weight,) = torch.autograd.grad(
            margin.sum(), x, create_graph=create_graph, allow_unused=True, materialize_grads=True
        )
    return x, margin, classes, weight


@torch.no_grad()
def on_segments(
    head: Head, starts: Tensor, ends: Tensor, max_steps: int = 40, tolerance: float = BOUNDARY_TOLERANCE
) -> LinearBoundaries:
    """Find a boundary on each segment between two embeddings of different classes, by bisection.

    The classes at the two ends of the bisected interval always differ; the bisection stops where their scores are the
    two largest and equal up to the tolerance. Segments on which it does not get there are left out and reported in the
    log.

    Args:
        head: φ_fc.
        starts: [n, d].
        ends: [n, d] of other predicted classes than the starts.
        max_steps: Number of bisections.
        tolerance: Largest difference of the two scores, relative to the margins at the ends of the segment.

    Returns:
        Up to n boundaries.

    Raises:
        RCExplainerError: If an embedding is not finite, or the head does not return differentiable class scores.
    """
    check_embeddings(starts)
    check_embeddings(ends)
    scores = torch.stack([head(starts), head(ends)])  # [2, n, C]
    small = tolerance * scores.topk(2).values.diff(dim=2).abs().amax((0, 2))
    pair = scores.argmax(2).T.clone()  # [n, 2]
    low, high = torch.zeros_like(starts[:, :1]), torch.ones_like(starts[:, :1])
    points, found = starts.clone(), torch.zeros_like(starts[:, 0], dtype=torch.bool)
    crossing = pair[:, 0] != pair[:, 1]
    for _ in range(max_steps):
        middle = (low + high) / 2
        here = torch.where(found[:, None], points, torch.lerp(starts, ends, middle))
        scores = head(here)
        top = scores.topk(2)
        meets = (top.values.diff(dim=1).abs()[:, 0] <= small) & (top.indices.sort(1).values == pair.sort(1).values).all(
            1
        )
        points, found = here, found | (meets & crossing)
        if bool((found | ~crossing).all()):
            break
        winner = scores.argmax(1, keepdim=True)
        behind = winner == pair[:, :1]
        low, high = torch.where(behind, middle, low), torch.where(behind, high, middle)
        moved = torch.where(behind, pair[:, 1:], winner)
        pair = torch.where(found[:, None], pair, torch.cat([pair[:, :1], moved], 1))
    if not bool(found.all()):
        log.warning(
            "no boundary on %d of %d segments: %d do not join two classes, %d did not converge in %d steps",
            int((~found).sum()), len(found), int((~crossing).sum()), int((crossing & ~found).sum()), max_steps,
        )  # fmt: skip
    return linearise(head, points[found], pair[found])


def enumerate_affine(
    head: Head, dim: int, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> LinearBoundaries:
    """List all C(C−1)/2 boundaries of an affine head, exactly: the gradients and values of its margins at 0.

    Args:
        head: An affine φ_fc.
        dim: d, the width of the embeddings.
        dtype: Their dtype.
        device: Their device.

    Returns:
        The boundaries.
    """
    origin = torch.zeros(1, dim, dtype=dtype, device=device)
    with torch.no_grad():
        num_classes = head(origin).size(1)
    pairs = torch.combinations(torch.arange(num_classes, device=device))
    return linearise(head, origin.expand(len(pairs), -1), pairs)
