"""A plane to draw embeddings and linear boundaries in.

plane     x ↦ V (x − x̄),  V [2, d] the two directions in which most of the boundaries' normals w lie
boundary  wᵀx + b = 0 meets the plane in the line (V w)ᵀ u + (wᵀx̄ + b) = 0
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.boundaries import LinearBoundaries

FLAT = 1e-4  # a direction shorter than this share of the longest one is none


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane through the mean of some embeddings in which most of the boundaries' normals lie.

    Attributes:
        mean: [d], x̄.
        axes: [2, d], V, orthonormal.
        normals: Share of the normals (their squares) that lies in it; 1: every boundary is a line.
        spread: Share of the embeddings' variance that lies in it.
    """

    mean: Tensor
    axes: Tensor
    normals: float
    spread: float

    @classmethod
    def of(cls, x: Tensor, boundaries: LinearBoundaries) -> "Plane":
        """The plane for some embeddings and boundaries.

        Args:
            x: [n, d] embeddings.
            boundaries: At least one.

        Returns:
            The plane; most of the spread within it goes across.
        """
        mean = x.mean(0)
        centred, normals = x - mean, torch.nn.functional.normalize(boundaries.weight, dim=1)
        axes = _directions(normals)[:2]
        # One boundary has one normal; the other axis is where the embeddings spread most beside it.
        axes = torch.cat([axes, _directions(centred - centred @ axes.T @ axes)])[:2]
        axes = _directions(centred @ axes.T) @ axes  # turned: most of the spread goes across
        axes = axes * torch.where(axes.sum(1) < 0, -1.0, 1.0)[:, None]  # an axis could point either way
        return cls(mean, axes, _within(normals, axes), _within(centred, axes))

    def __call__(self, x: Tensor) -> Tensor:
        """[n, d] → [n, 2]."""
        return (x - self.mean) @ self.axes.T

    def lines(self, boundaries: LinearBoundaries) -> Tensor:
        """[m, 3]: (a, b, c) of a u + b v + c = 0 for every boundary, a u + b v + c > 0 where it is positive."""
        return torch.cat([boundaries.weight @ self.axes.T, boundaries(self.mean[None]).T], 1)


def _directions(rows: Tensor) -> Tensor:
    """[r, d] the orthonormal directions that rows [n, d] have, the largest first."""
    _, lengths, directions = torch.linalg.svd(rows, full_matrices=False)
    return directions[lengths > FLAT * lengths[0]]


def _within(rows: Tensor, axes: Tensor) -> float:
    """The share of the squares of rows [n, d] that lies along the axes."""
    return float(((rows @ axes.T) ** 2).sum() / (rows**2).sum().clamp_min(torch.finfo(rows.dtype).tiny))
