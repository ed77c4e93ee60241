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

log = logging.getLogger(__name__)

Head = Callable[[Tensor], Tensor]

TOLERANCE = 1e-4  # of unit normals and relative scores in float32


@dataclass(frozen=True, eq=False)
class LinearBoundaries:
    weight: Tensor  # [m, d]
    bias: Tensor  # [m]
    classes: Tensor  # [m, 2] long: row i separates class a = classes[i, 0], where B_i > 0, from b = classes[i, 1]

    def __call__(self, x: Tensor) -> Tensor:
        """B(x) [n, m]."""
        return torch.addmm(self.bias, x, self.weight.T)

    def __len__(self) -> int:
        return len(self.bias)

    def select(self, rows: Tensor) -> "LinearBoundaries":
        """The rows of an index or a boolean mask."""
        return LinearBoundaries(self.weight[rows], self.bias[rows], self.classes[rows])

    def candidates(self, label: int) -> Tensor:
        """Rows between this class and another. Crossing any other row changes nothing for the class."""
        return (self.classes == label).any(1).nonzero().flatten()

    def oriented(self) -> "LinearBoundaries":
        """The same boundaries with a < b."""
        sign = torch.where(self.classes[:, 0] < self.classes[:, 1], 1, -1).to(self.bias.dtype)
        return LinearBoundaries(self.weight * sign[:, None], self.bias * sign, self.classes.sort(1).values)

    def merged(self, tolerance: float = TOLERANCE) -> "LinearBoundaries":
        """Each hyperplane between two classes once, as it first occurs, with a < b; no rows that are none (w ≈ 0).

        Two rows are one if their (w, b) / ‖w‖ are, up to the tolerance. B stays in the units of the scores.
        """
        norm = self.weight.norm(dim=1)
        rows = self.oriented().select(norm > tolerance * norm.max() if len(self) else norm > 0)
        norm = rows.weight.norm(dim=1, keepdim=True)
        offset = rows.bias[:, None] / norm
        extent = offset.abs().max().clamp_min(1) if len(rows) else 1
        planes = torch.cat([rows.weight / norm, offset / extent], 1)
        # Distances by matrix product lose half the digits, and it is the small distances that matter.
        distance = torch.cdist(planes, planes, compute_mode="donot_use_mm_for_euclid_dist")
        same = (distance < tolerance) & (rows.classes[:, None] == rows.classes[None]).all(2)
        return rows.select(~same.tril(-1).any(1))


def concat(parts: Sequence[LinearBoundaries]) -> LinearBoundaries:
    return LinearBoundaries(
        torch.cat([part.weight for part in parts]),
        torch.cat([part.bias for part in parts]),
        torch.cat([part.classes for part in parts]),
    )


def check_embeddings(x: Tensor) -> None:
    if x.dim() != 2:
        raise RCExplainerError(f"embeddings must be a matrix [instances, width], got shape {tuple(x.shape)}")
    bad = ~x.detach().isfinite().all(1)
    if bool(bad.any()):
        raise RCExplainerError(
            f"{int(bad.sum())} of {len(x)} embeddings contain NaN or infinite values, the first in row "
            f"{int(bad.long().argmax())}; look for NaN in the features or weights of the GNN"
        )


def at_samples(head: Head, x: Tensor) -> LinearBoundaries:
    """Eq. 2, 3 at every row of x [n, d], in one backward pass: row i of the gradient depends on sample i alone."""
    check_embeddings(x)
    return linearise(head, x, None)


def linearise(head: Head, x: Tensor, classes: Tensor | None) -> LinearBoundaries:
    """B of the margin between `classes` [n, 2] (left out: the two largest) at each row of x."""
    _, margin, classes, weight = gradients(head, x, classes, create_graph=False)
    weight, margin = weight.detach(), margin.detach()
    return LinearBoundaries(weight, margin - (weight * x.detach()).sum(1), classes)


def gradients(
    head: Head, x: Tensor, classes: Tensor | None, create_graph: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x as a leaf, the margins there [n], the classes they are between [n, 2], and ∂ margin / ∂x [n, d]."""
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
    head: Head, starts: Tensor, ends: Tensor, max_steps: int = 40, tolerance: float = TOLERANCE
) -> LinearBoundaries:
    """Boundaries where the way from one class to another first meets the next one, found by bisection.

    Row i goes from starts[i] to ends[i], which the head must put into different classes. The two classes at the ends
    of the bisected interval always differ; it stops where their scores, the two largest, are equal up to `tolerance`
    times the margins at the ends. A segment that does not get there in `max_steps` is left out and counted in the log.
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
            "no boundary on %d of %d segments: %d do not join two classes, %d did not reach it in %d steps",
            int((~found).sum()), len(found), int((~crossing).sum()), int((crossing & ~found).sum()), max_steps,
        )  # fmt: skip
    return linearise(head, points[found], pair[found])


def enumerate_affine(
    head: Head, dim: int, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> LinearBoundaries:
    """All C(C−1)/2 boundaries of an affine head, exactly: the margins' gradients, and their values, at 0."""
    origin = torch.zeros(1, dim, dtype=dtype, device=device)
    with torch.no_grad():
        num_classes = head(origin).size(1)
    pairs = torch.combinations(torch.arange(num_classes, device=device))
    return linearise(head, origin.expand(len(pairs), -1), pairs)
