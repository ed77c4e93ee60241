"""Nearest boundaries of three classes in the plane."""

import torch

from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.nearest_boundary import assign_nearest, nearest_regions

# Class 0 | 1 at x = 0 (in doubled units: |B| is no distance), class 0 | 2 at y = 0, class 1 | 2 at x = y.
BOUNDARIES = LinearBoundaries(
    torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.0, -1.0]]), torch.zeros(3), torch.tensor([[0, 1], [0, 2], [1, 2]])
)
X = torch.tensor([[1.0, 5.0], [2.0, 5.0], [5.0, 1.0], [-1.0, 3.0], [3.0, -1.0]])
PREDICTED = torch.tensor([0, 0, 0, 1, 2])


def test_each_instance_has_its_nearest_boundary_and_its_side() -> None:
    regions = nearest_regions(BOUNDARIES, X, PREDICTED)
    region = assign_nearest(regions, X, PREDICTED)
    assert regions.rows[region].flatten().tolist() == [0, 0, 1, 0, 1]
    assert regions.signs[region].flatten().tolist() == [1, 1, 1, -1, -1]
    assert regions.labels[region].tolist() == PREDICTED.tolist()
    assert regions.contains(X, region).all()
    assert [one.covered for one in regions.regions] == torch.bincount(region).tolist()


def test_margins_are_divided_by_half_the_median_of_the_members() -> None:
    regions = nearest_regions(BOUNDARIES, X, PREDICTED)
    region = assign_nearest(regions, X, PREDICTED)
    # |B| of the first two is 2 and 4; the median of two is the smaller one, as torch has it.
    torch.testing.assert_close(regions.margins(X, region).flatten(), torch.tensor([2.0, 4.0, 2.0, 2.0, 2.0]))
    plain = nearest_regions(BOUNDARIES, X, PREDICTED, scaled=False)
    torch.testing.assert_close(plain.margins(X, region).flatten(), torch.tensor([2.0, 4.0, 1.0, 2.0, 1.0]))


def test_others_take_the_nearest_region_that_holds_them() -> None:
    regions = nearest_regions(BOUNDARIES, X, PREDICTED)
    other = torch.tensor([[0.1, 9.0], [-0.1, 9.0], [4.0, 4.0]])
    region = assign_nearest(regions, other, torch.tensor([0, 0, 3]))
    assert regions.rows[region[:2]].flatten().tolist() == [0, 1]  # at x = −.1 it is not inside x > 0
    assert int(region[2]) == -1  # a class without a region


def test_a_boundary_between_two_other_classes_does_not_count() -> None:
    # Nearest of all is x = y, between classes 1 and 2; of class 0's own boundaries x = 0 is nearer than y = 0.
    x, predicted = torch.tensor([[2.0, 2.1]]), torch.tensor([0])
    regions = nearest_regions(BOUNDARIES, x, predicted)
    assert regions.rows.tolist() == [[0]]


def test_intruders_are_those_of_other_classes_on_the_same_side() -> None:
    x, predicted = torch.cat([X, torch.tensor([[0.2, -0.1]])]), torch.cat([PREDICTED, torch.tensor([2])])
    regions = nearest_regions(BOUNDARIES, x, predicted)
    rows, signs = regions.rows.flatten().tolist(), regions.signs.flatten().tolist()
    found = {(one.label, row, sign): one.intruders for one, row, sign in zip(regions.regions, rows, signs, strict=True)}
    # x > 0 holds both of class 2; y > 0 the one of class 1; x < 0 and y < 0 none but their own.
    assert found == {(0, 0, 1): 2, (0, 1, 1): 1, (1, 0, -1): 0, (2, 1, -1): 0}
