"""Distances beyond a region, worked out by hand in the plane."""

import pytest
import torch
from torch import nan, tensor

from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.region_distance import region_distances
from rcexplainer.core.regions import DecisionRegion, Regions

# Class 0 is where x > 1 and y < 3: B_0 = x − 1 > 0, B_1 = y − 3 < 0. Its members have |B_0| = 4 and |B_1| = 1 in the
# median, so the scales are 2 and ½. Class 1 has no region.
LINES = LinearBoundaries(tensor([[1.0, 0.0], [0.0, 1.0]]), tensor([-1.0, -3.0]), tensor([[0, 1], [0, 1]]))
CORNER = Regions(LINES, (DecisionRegion(0, tensor([0, 1]), tensor([1.0, -1.0]), 5, 0),), tensor([[2.0, 0.5]]))


def distances(after: list[list[float]], label: int = 0, before: list[float] | None = None) -> list[float]:
    there = tensor([before or [5.0, 2.0]] * len(after))
    return region_distances(CORNER, Regions.assign, there, torch.full((len(after),), label), tensor(after)).tolist()


def test_the_deepest_boundary_counts_in_its_own_scale() -> None:
    # (−1, 2): 2 beyond the first line, 2 / 2 = 1 in its scale. (2, 4): 1 beyond the second, 1 / ½ = 2. (−1, 4): both.
    assert distances([[-1.0, 2.0], [2.0, 4.0], [-1.0, 4.0]]) == [1.0, 2.0, 2.0]


def test_inside_it_is_negative_and_on_the_boundary_zero() -> None:
    # (5, 2.75) is 4 / 2 = 2 inside the first line, ¼ / ½ = ½ inside the second: the nearer one counts.
    assert distances([[5.0, 2.75], [1.0, 0.0]]) == [-0.5, 0.0]


def test_the_scale_makes_2_as_far_out_as_a_typical_member_is_in() -> None:
    x = tensor([[5.0, 0.0], [4.0, 0.0], [9.0, 0.0], [-5.0, 0.0]])
    line = LinearBoundaries(tensor([[1.0, 0.0]]), tensor([-1.0]), tensor([[0, 1]]))
    regions = Regions.fit(line, x, tensor([0, 0, 0, 1]))  # members 3, 4 and 8 inside
    found = region_distances(regions, Regions.assign, x[:1], tensor([0]), tensor([[-3.0, 0.0]]))
    assert found.tolist() == [2.0]  # 4 beyond the line


def test_no_region_and_no_finite_embedding_no_distance() -> None:
    assert distances([[0.0, 0.0]], label=1) == pytest.approx([nan], nan_ok=True)
    assert distances([[nan, 0.0], [-1.0, 2.0]]) == pytest.approx([nan, 1.0], nan_ok=True)
    assert distances([[-1.0, 2.0]], before=[torch.inf, 0.0]) == pytest.approx([nan], nan_ok=True)


def test_embeddings_may_be_single_numbers() -> None:
    line = LinearBoundaries(tensor([[1.0]]), tensor([-1.0]), tensor([[0, 1]]))
    regions = Regions(line, (DecisionRegion(0, tensor([0]), tensor([1.0]), 5, 0),), tensor([[1.0]]))
    found = region_distances(regions, Regions.assign, tensor([[5.0]]), tensor([0]), tensor([[-2.0]]))
    assert found.tolist() == [3.0]
