"""Summaries of regions by hand, in the plane."""

import math
from dataclasses import replace

import torch
from torch import tensor

from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.region_summary import RegionSummaries, RegionSummary, summarise, with_members
from rcexplainer.core.regions import DecisionRegion, Regions

# x > 0 and y > 0 bound a region of class 1; beyond x = 0 is class 0, beyond y = 0 class 2. Below y = 0 lies class 2.
BOUNDARIES = LinearBoundaries(
    tensor([[-1.0, 0.0], [0.0, 1.0], [0.0, 3.0]]), tensor([0.0, 0.0, 3.0]), tensor([[0, 1], [1, 2], [1, 2]])
)
REGIONS = Regions(
    BOUNDARIES,
    (
        DecisionRegion(1, tensor([0, 1, 2]), tensor([-1.0, 1.0, 1.0]), covered=5, intruders=1),
        DecisionRegion(2, tensor([1]), tensor([-1.0]), covered=3, intruders=0),
    ),
    tensor([[2.0, 1.0, 3.0], [0.5, 1.0, 1.0]]),
)


def test_the_regions_as_they_were_found() -> None:
    first, second = summarise(REGIONS)
    assert first == RegionSummary(1, 3, ((2, 2), (0, 1)), 5, 1, margin=first.margin, smallest_margin=first.margin)
    assert math.isnan(first.margin)
    assert (second.label, second.borders, second.covered) == (2, ((1, 1),), 3)


def test_members_and_their_margins() -> None:
    """The margin is the smallest of x / 2, y / 1 and (3 + 3y) / 3; the last member is outside."""
    x = tensor([[4.0, 1.0], [8.0, 3.0], [1.0, 9.0], [-1.0, 2.0], [0.0, -2.0]])
    found = with_members(summarise(REGIONS), REGIONS, x, tensor([0, 0, 0, 0, 1]))
    assert [one.members for one in found] == [4, 1]
    assert found[0].margin == 0.5  # of 1, 3, ½ and −½ the lower median
    assert found[0].smallest_margin == -0.5
    assert found[1].margin == found[1].smallest_margin == 4.0


def test_an_instance_without_a_region_counts_nowhere() -> None:
    found = with_members(summarise(REGIONS), REGIONS, torch.ones(2, 2), tensor([-1, 0]))
    assert [one.members for one in found] == [1, 0]
    assert math.isnan(found[1].margin)


def test_the_table() -> None:
    text = str(summarise(REGIONS, ("a", "b", "c")))
    assert text.splitlines() == [
        "class  covered  intruders  boundaries  borders",
        "b      5        1          3           c, a",
        "c      3        0          1           b",
    ]
    full = with_members(summarise(REGIONS), REGIONS, tensor([[4.0, 1.0]]), tensor([0]))
    assert [line.split() for line in str(full).splitlines()[1:]] == [
        ["1", "5", "1", "3", "2,", "0", "1", "1.00", "1.00"],
        ["2", "3", "0", "1", "1", "0", "–", "–"],
    ]


def test_a_class_with_many_regions_is_cut_short() -> None:
    one = RegionSummary(0, 1, ((1, 1),), covered=2, intruders=0)
    lines = str(RegionSummaries((one,) * 9)).splitlines()
    assert len(lines) == 7
    assert lines[-1] == "0      … 4 more regions, which cover 8"


def test_many_borders_are_cut_short() -> None:
    one = RegionSummary(0, 5, tuple((label, 1) for label in range(1, 6)), covered=2, intruders=0)
    assert str(RegionSummaries((one,))).splitlines()[1].endswith("1, 2, 3 +2")
    assert str(RegionSummaries((replace(one, borders=one.borders[:3]),))).splitlines()[1].endswith("1, 2, 3")


def test_of_many_kinds_of_deleted_edges_the_three_most_frequent_are_shown() -> None:
    kinds = (("C–N", 9), ("C–O", 7), ("C–C", 4), ("N–O", 1))
    one = RegionSummary(0, 1, ((1, 1),), covered=2, intruders=0, members=2, deleted=kinds)
    assert str(RegionSummaries((one,))).splitlines()[1].endswith("C–N ×9, C–O ×7, C–C ×4")
