"""The candidate boundaries H̃ of all classes, and how well they approximate the head.

A head whose margins are affine has C(C−1)/2 boundaries, which are enumerated. Any other head has too many, so they are
sampled; and so are those of an affine one with many hundreds of classes. Whether a head is affine, piecewise linear or
smooth is measured, not inferred from its modules.
"""

import logging
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from rcexplainer.core.boundaries import (
    BOUNDARY_TOLERANCE,
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

_EMBEDDINGS_AT_ONCE = 65536
_MOST_SCORES = 2**27  # that an enumeration may compute: 0.5 GB in float32, at 645 classes
_FAR = 10.0  # how far outside the data a head is probed, in units of the data's extent


def is_affine(head: Head, x: Tensor, tolerance: float = BOUNDARY_TOLERANCE) -> bool:
    """Measure whether the head is affine: its margins, linearised at the mean of x, hold on x and far outside.

    Args:
        head: φ_fc.
        x: [n, d] embeddings.
        tolerance: Largest error, relative to the largest margin.

    Returns:
        Whether all margins are affine.
    """
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
    """Measure whether the head is smooth (tanh, GELU, …) rather than piecewise linear (ReLU, hard-tanh, MaxOut, …).

    The second derivative of the margin along a random direction is 0 everywhere for a piecewise linear head, and almost
    nowhere for a smooth one. It is compared to the gradient, over the extent of the data.

    Args:
        head: φ_fc.
        x: [n, d] embeddings.
        tolerance: Relative change of the gradient over the extent of the data, above which a point counts as curved.

    Returns:
        Whether more than a tenth of the points are curved.
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
    """Measure max |B_x(p) − margin(p)| over points p between each x and the nearest point of its boundary B_x = 0.

    At x itself the error is 0 for every head; on the way to the boundary it is 0 as long as x and the boundary lie on
    one linear piece. So it shows the curvature of a smooth head, and the crossings into other pieces of a piecewise
    linear one. Ways longer than the extent of the data are cut off there, as no instance lies farther out.

    Args:
        head: φ_fc.
        x: [n, d] embeddings.
        steps: Points on each way.

    Returns:
        The largest error, in units of the scores.
    """
    _, _, extent = _probes(x)
    return max(_error_on_the_way(head, chunk, extent, steps) for chunk in torch.split(x, _EMBEDDINGS_AT_ONCE))


def _error_on_the_way(head: Head, x: Tensor, extent: Tensor, steps: int) -> float:
    """`linearisation_error` of a chunk, with ways at most as long as the extent."""
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
    """Log one warning, with the linearisation error, if the head is smooth.

    Args:
        head: φ_fc.
        x: [n, d] embeddings.
    """
    if not is_affine(head, x) and smooth_head(head, x):
        error = linearisation_error(head, x)
        log.warning("the head is not piecewise linear: boundaries are local linearisations, off by up to %.3g", error)


def _probes(x: Tensor, number: int = 64) -> tuple[Tensor, Tensor, Tensor]:
    """Some rows spread over x, their mean [1, d], and their largest distance from it, the extent."""
    check_embeddings(x)
    probes = x.detach()[:: max(1, len(x) // number)][:number]
    centre = probes.mean(0, keepdim=True)
    extent = (probes - centre).norm(dim=1).max()
    # For a single sample, or identical ones, the distance from the origin is the only scale left.
    return probes, centre, extent if bool(extent > 0) else probes.norm(dim=1).max().clamp_min(1)


def _directions(like: Tensor) -> Tensor:
    """Random unit vectors of a fixed seed."""
    vectors = torch.randn(like.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return torch.nn.functional.normalize(vectors).to(like)


def _at_seeds(head: Head, seeds: Tensor, _: Tensor) -> LinearBoundaries:
    """The sampler of the paper: boundaries at the embeddings themselves."""
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
    """Collect the candidates H̃: all boundaries of an affine head, unless it has too many, else a sample of them.

    Duplicates are merged. Boundaries of a smooth head are local linearisations (`warn_if_smooth`).

    With a target, only boundaries between it and another class count (Eq. 12, 13). At an embedding of class i the two
    largest classes need not be i and the target, so there the margin between i and the target is linearised, whatever
    the sampler: this gives the boundary on the linear piece around the embedding. A deep head may have many of them
    for the same two classes.

    Args:
        head: φ_fc.
        embeddings: [n, d].
        predictions: [n].
        per_class: Number of embeddings sampled from each predicted class.
        sampler: `"sample"` takes boundaries at the embeddings (the paper), `"segment"` on the way to embeddings of
            other classes (the authors' code); or a function.
        generator: Source of random numbers; None for a fixed seed.
        target: The class to reach; None for any.

    Returns:
        The distinct boundaries.

    Raises:
        RCExplainerError: If an embedding is not finite, or the head does not return differentiable class scores.
    """
    check_embeddings(embeddings)
    if is_affine(head, embeddings) and _can_be_enumerated(head, embeddings):
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


def _can_be_enumerated(head: Head, x: Tensor) -> bool:
    """Whether the scores of all classes, once for each pair of them, fit in memory; if not, the log says so."""
    with torch.no_grad():
        number = head(x[:1]).size(1)
    pairs = number * (number - 1) // 2
    if pairs * number <= _MOST_SCORES:
        return True
    log.warning(
        "the head has %d classes and so %d boundaries, too many to list: only those at some embeddings are taken",
        number,
        pairs,
    )
    return False


def _choose(among: Tensor, number: int, generator: torch.Generator, replace: bool = False) -> Tensor:
    """Draw up to `number` True positions of a mask; with `replace` exactly as many, unless there is none."""
    places = among.nonzero().flatten()
    if replace:
        number = number if len(places) else 0
        return places[torch.randint(max(1, len(places)), (number,), generator=generator).to(places.device)]
    return places[torch.randperm(len(places), generator=generator)[:number].to(places.device)]
