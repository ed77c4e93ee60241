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
from typing import Literal

import torch
from torch import Tensor

from rcexplainer.errors import RCExplainerError

log = logging.getLogger(__name__)

Head = Callable[[Tensor], Tensor]
# (head, embeddings [k, d] of one class, as many of other classes) → boundaries
Sampler = Callable[[Head, Tensor, Tensor], "LinearBoundaries"]

TOLERANCE = 1e-4  # of unit normals and relative scores in float32
_CHUNK = 65536  # embeddings at a time, where all of them are looked at
_FAR = 10.0  # how far outside the data a head is tried, in units of its extent


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

    def to(self, device: torch.device | str) -> "LinearBoundaries":
        return LinearBoundaries(self.weight.to(device), self.bias.to(device), self.classes.to(device))

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
    return _linearise(head, x, None)


def _linearise(head: Head, x: Tensor, classes: Tensor | None) -> LinearBoundaries:
    """B of the margin between `classes` [n, 2] (left out: the two largest) at each row of x."""
    _, margin, classes, weight = _gradients(head, x, classes, create_graph=False)
    weight, margin = weight.detach(), margin.detach()
    return LinearBoundaries(weight, margin - (weight * x.detach()).sum(1), classes)


def _gradients(
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
    return _linearise(head, points[found], pair[found])


def enumerate_affine(
    head: Head, dim: int, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> LinearBoundaries:
    """All C(C−1)/2 boundaries of an affine head, exactly: the margins' gradients, and their values, at 0."""
    origin = torch.zeros(1, dim, dtype=dtype, device=device)
    with torch.no_grad():
        num_classes = head(origin).size(1)
    pairs = torch.combinations(torch.arange(num_classes, device=device))
    return _linearise(head, origin.expand(len(pairs), -1), pairs)


def is_affine(head: Head, x: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Measured: all margins to the first class, linearised at the mean of x, hold on x and far outside of it."""
    probes, centre, extent = _probes(x)
    far = centre + _FAR * extent * _directions(probes)
    points = torch.cat([probes, far, 2 * centre - far])
    with torch.no_grad():
        scores = head(points)
    others = torch.arange(1, scores.size(1), device=x.device)
    pairs = torch.stack([torch.zeros_like(others), others], 1)
    tangent = _linearise(head, centre.expand(len(pairs), -1), pairs)
    margins = scores[:, :1] - scores[:, 1:]
    return bool((tangent(points) - margins).abs().max() <= tolerance * margins.abs().max())


def smooth_head(head: Head, x: Tensor, tolerance: float = 1e-3) -> bool:
    """Whether the head is curved (tanh, GELU, …) rather than piecewise linear (ReLU, hard-tanh, MaxOut, …).

    The second derivative of the margin along a random direction is 0 at every point of a piecewise linear head; a
    smooth one has it at almost all. It is compared to the gradient, over the extent of the data.
    """
    probes, _, extent = _probes(x)
    at, _, _, weight = _gradients(head, probes, None, create_graph=True)
    if not weight.requires_grad:
        return False
    along = (weight * _directions(probes)).sum()
    (curvature,) = torch.autograd.grad(along, at, allow_unused=True, materialize_grads=True)
    curved = extent * curvature.norm(dim=1) > tolerance * weight.detach().norm(dim=1)
    return bool(curved.double().mean() > 0.1)


def linearisation_error(head: Head, x: Tensor, steps: int = 4) -> float:
    """max |B_x(p) − margin(p)| over points p between each x and the nearest point of its own boundary B_x = 0.

    At x itself it is 0 for every head; on the way to the boundary it is 0 as long as x and the boundary lie on one
    linear piece. So it shows the curvature of a smooth head, and for a piecewise linear one the crossings into other
    pieces. Ways longer than the extent of the data end there: farther out there is nothing to explain.
    """
    _, _, extent = _probes(x)
    return max(_error_on_the_way(head, chunk, extent, steps) for chunk in torch.split(x, _CHUNK))


def _error_on_the_way(head: Head, x: Tensor, extent: Tensor, steps: int) -> float:
    own = _linearise(head, x, None)
    norm = own.weight.norm(dim=1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)
    value = (own.weight * x).sum(1, keepdim=True) + own.bias[:, None]  # B_x(x) ≥ 0
    way = -own.weight / norm * (value / norm).clamp_max(extent)
    share = torch.arange(1, steps + 1, device=x.device).to(x)[:, None, None] / steps
    points = x + share * way  # [steps, n, d]
    with torch.no_grad():
        scores = head(points.flatten(0, 1)).view(steps, len(x), -1)
    first, second = scores.gather(2, own.classes.expand(steps, -1, -1)).unbind(2)
    return float(((points * own.weight).sum(2) + own.bias - (first - second)).abs().max())


def _probes(x: Tensor, number: int = 64) -> tuple[Tensor, Tensor, Tensor]:
    """A few rows from everywhere in x, their mean [1, d], and how far they are from it at most."""
    check_embeddings(x)
    probes = x.detach()[:: max(1, len(x) // number)][:number]
    centre = probes.mean(0, keepdim=True)
    extent = (probes - centre).norm(dim=1).max()
    # One sample alone, or all in one place: their distance from the origin is the only scale left.
    return probes, centre, extent if bool(extent > 0) else probes.norm(dim=1).max().clamp_min(1)


def _directions(like: Tensor) -> Tensor:
    """Random unit vectors, the same ones every time."""
    vectors = torch.randn(like.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return torch.nn.functional.normalize(vectors).to(like)


def _at_seeds(head: Head, seeds: Tensor, _: Tensor) -> LinearBoundaries:
    return at_samples(head, seeds)


SAMPLERS: dict[str, Sampler] = {"sample": _at_seeds, "segment": on_segments}


def sample_boundaries(
    head: Head,
    embeddings: Tensor,
    predictions: Tensor,
    per_class: int = 50,
    sampler: Literal["sample", "segment"] | Sampler = "sample",
    generator: torch.Generator | None = None,
) -> LinearBoundaries:
    """H̃: all boundaries of an affine head; else those of up to `per_class` embeddings of each predicted class.

    `"sample"` takes them at the embeddings (the paper), `"segment"` on the way to embeddings of other classes (the
    authors' code). Duplicates are merged. Of a smooth head they are local linearisations, which is said once.
    """
    check_embeddings(embeddings)
    if is_affine(head, embeddings):
        return enumerate_affine(head, embeddings.size(1), embeddings.dtype, embeddings.device).merged()
    if smooth_head(head, embeddings):
        error = linearisation_error(head, embeddings)
        log.warning("the head is not piecewise linear: boundaries are local linearisations, off by up to %.3g", error)
    generator = generator or torch.Generator().manual_seed(0)
    draw = SAMPLERS[sampler] if isinstance(sampler, str) else sampler
    parts = []
    for label in sorted(set(predictions.tolist())):
        own, other = ((predictions == label) == inside for inside in (True, False))
        seeds = embeddings[_choose(own, per_class, generator)]
        partners = embeddings[_choose(other, len(seeds), generator, replace=True)]
        if draw is _at_seeds or len(partners):
            parts.append(draw(head, seeds, partners))
    if not parts:
        return LinearBoundaries(embeddings[:0], embeddings[:0, 0], predictions.new_empty(0, 2))
    return concat(parts).merged()


def _choose(among: Tensor, number: int, generator: torch.Generator, replace: bool = False) -> Tensor:
    """Up to `number` of the True places of a mask, uniformly; with `replace` as many, if there is any."""
    places = among.nonzero().flatten()
    if replace:
        number = number if len(places) else 0
        return places[torch.randint(max(1, len(places)), (number,), generator=generator).to(places.device)]
    return places[torch.randperm(len(places), generator=generator)[:number].to(places.device)]
