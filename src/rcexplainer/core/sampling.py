"""Which boundaries are looked at: H̃, the candidates of all classes, and how well they stand for the head.

A head whose margins are affine has C(C−1)/2 boundaries, which are enumerated. Any other has too many, so they are
sampled. Whether a head is affine, piecewise linear or smooth is measured, not read off its modules.
"""

import logging
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from rcexplainer.core.boundaries import (
    TOLERANCE,
    Head,
    LinearBoundaries,
    at_samples,
    check_embeddings,
    concat,
    enumerate_affine,
    gradients,
    linearise,
    on_segments,
)

log = logging.getLogger(__name__)

# (head, embeddings [k, d] of one class, as many of other classes) → boundaries
Sampler = Callable[[Head, Tensor, Tensor], LinearBoundaries]

_CHUNK = 65536  # embeddings at a time, where all of them are looked at
_FAR = 10.0  # how far outside the data a head is tried, in units of its extent


def is_affine(head: Head, x: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Measured: all margins to the first class, linearised at the mean of x, hold on x and far outside of it."""
    probes, centre, extent = _probes(x)
    far = centre + _FAR * extent * _directions(probes)
    points = torch.cat([probes, far, 2 * centre - far])
    with torch.no_grad():
        scores = head(points)
    others = torch.arange(1, scores.size(1), device=x.device)
    pairs = torch.stack([torch.zeros_like(others), others], 1)
    tangent = linearise(head, centre.expand(len(pairs), -1), pairs)
    margins = scores[:, :1] - scores[:, 1:]
    return bool((tangent(points) - margins).abs().max() <= tolerance * margins.abs().max())


@torch.enable_grad()
def smooth_head(head: Head, x: Tensor, tolerance: float = 1e-3) -> bool:
    """Whether the head is curved (tanh, GELU, …) rather than piecewise linear (ReLU, hard-tanh, MaxOut, …).

    The second derivative of the margin along a random direction is 0 at every point of a piecewise linear head; a
    smooth one has it at almost all. It is compared to the gradient, over the extent of the data.
    """
    probes, _, extent = _probes(x)
    at, _, _, weight = gradients(head, probes, None, create_graph=True)
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
    own = linearise(head, x, None)
    norm = own.weight.norm(dim=1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)
    value = (own.weight * x).sum(1, keepdim=True) + own.bias[:, None]  # B_x(x) ≥ 0
    way = -own.weight / norm * (value / norm).clamp_max(extent)
    share = torch.arange(1, steps + 1, device=x.device).to(x)[:, None, None] / steps
    points = x + share * way  # [steps, n, d]
    with torch.no_grad():
        scores = head(points.flatten(0, 1)).view(steps, len(x), -1)
    first, second = scores.gather(2, own.classes.expand(steps, -1, -1)).unbind(2)
    return float(((points * own.weight).sum(2) + own.bias - (first - second)).abs().max())


def warn_if_smooth(head: Head, x: Tensor) -> None:
    """One warning for a head whose boundaries can only be local linearisations, with how far they are off."""
    if not is_affine(head, x) and smooth_head(head, x):
        error = linearisation_error(head, x)
        log.warning("the head is not piecewise linear: boundaries are local linearisations, off by up to %.3g", error)


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
    target: int | None = None,
) -> LinearBoundaries:
    """H̃: all boundaries of an affine head; else those of up to `per_class` embeddings of each predicted class.

    `"sample"` takes them at the embeddings (the paper), `"segment"` on the way to embeddings of other classes (the
    authors' code). Duplicates are merged. Of a smooth head they are local linearisations (`warn_if_smooth`).

    With a `target`, only boundaries between it and another class (Eq. 12, 13). At an embedding of class i the two
    largest need not be i and the target, so that there its margin to the target is taken, whichever the sampler: the
    piece of the boundary between the two that belongs to the linear piece the embedding lies on. A deep head may have
    many of them for the same two classes.
    """
    check_embeddings(embeddings)
    if is_affine(head, embeddings):
        every = enumerate_affine(head, embeddings.size(1), embeddings.dtype, embeddings.device).merged()
        return every if target is None else every.select(every.candidates(target))
    generator = generator or torch.Generator().manual_seed(0)
    draw = SAMPLERS[sampler] if isinstance(sampler, str) else sampler
    parts = []
    for label in sorted(set(predictions.tolist())):
        own, other = ((predictions == label) == inside for inside in (True, False))
        seeds = embeddings[_choose(own, per_class, generator)]
        if target is not None:
            if label != target:
                parts.append(linearise(head, seeds, predictions.new_tensor([[label, target]]).expand(len(seeds), 2)))
            continue
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
