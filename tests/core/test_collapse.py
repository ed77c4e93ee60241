"""Masks that explain nothing are found out, and ordinary ones are not suspected."""

import pytest
import torch

from rcexplainer.core.collapse import mask_collapse, ranking_collapse

OWNER = torch.arange(20).repeat_interleave(5)


def spread(seed: int = 0) -> torch.Tensor:
    return torch.randn(100, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("logits", "said"),
    [
        (spread() - 30, "all masks are 0"),
        (spread() + 30, "all masks are 1"),
        (torch.zeros(100), "the same score"),
        (torch.full((100,), torch.nan), "not numbers"),
    ],
)
def test_a_collapse_is_named(logits: torch.Tensor, said: str) -> None:
    assert said in str(mask_collapse(logits, OWNER, 20))


def test_ordinary_masks_have_not_collapsed() -> None:
    assert mask_collapse(spread(), OWNER, 20) is None
    few = spread()
    few[OWNER < 10] -= 30  # half of the instances only
    assert mask_collapse(few, OWNER, 20) is None


def test_a_ranking_may_lie_at_any_level_but_not_be_flat() -> None:
    assert ranking_collapse(spread() - 30, OWNER, 20) is None
    assert "the same score" in str(ranking_collapse(OWNER.float(), OWNER, 20))


def test_instances_with_a_single_unit_say_nothing() -> None:
    assert mask_collapse(torch.zeros(3), torch.arange(3), 3) is None
    assert ranking_collapse(torch.zeros(0), torch.zeros(0).long(), 3) is None


def test_masks_that_are_0_and_1_in_every_instance_are_what_is_wanted() -> None:
    assert mask_collapse(torch.tensor([30.0, -30, -30, -30, 30]).repeat(20), OWNER, 20) is None


@pytest.mark.parametrize(("collapsed", "said"), [(18, False), (19, True)])
def test_nearly_all_instances_are_95_of_100(collapsed: int, said: bool) -> None:
    logits = spread().masked_fill(collapsed > OWNER, 0.0)
    for test in (mask_collapse, ranking_collapse):
        assert (test(logits, OWNER, 20) is not None) == said


def test_two_units_are_enough_to_see_a_collapse() -> None:
    owner = torch.arange(20).repeat_interleave(2)
    for test in (mask_collapse, ranking_collapse):
        assert "the same score" in str(test(torch.zeros(40), owner, 20))


@pytest.mark.parametrize("test", [mask_collapse, ranking_collapse])
def test_one_instance_that_is_not_a_number_is_enough(test) -> None:
    logits = spread()
    logits[7] = torch.nan
    assert "not numbers" in str(test(logits, OWNER, 20))
