"""The second reading: sizes of changes, their loss, and the cut at ½."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from rcexplainer.core.relevance import NOTICEABLE, calibrate_relevance, combined, relative_size, relevance_loss


def test_relative_size_is_half_at_a_noticeable_change() -> None:
    size = relative_size(torch.tensor([0.0, NOTICEABLE, 3 * NOTICEABLE, 1e6]))
    torch.testing.assert_close(size, torch.tensor([0.0, 0.5, 0.75, 1.0]), atol=1e-6, rtol=0)


def test_loss_is_least_where_the_prediction_is_the_size() -> None:
    size = torch.tensor([0.1, 0.8])
    right = relevance_loss(size.logit(), size)
    by_hand = -(0.1 * torch.log(torch.tensor(0.1)) + 0.9 * torch.log(torch.tensor(0.9)))
    by_hand = (by_hand - 0.8 * torch.log(torch.tensor(0.8)) - 0.2 * torch.log(torch.tensor(0.2))) / 2
    torch.testing.assert_close(right, by_hand)
    for other in (torch.tensor([0.2, 0.8]), torch.tensor([0.1, 0.7])):
        assert relevance_loss(other.logit(), size) > right


def test_loss_without_units_is_zero_and_has_a_gradient() -> None:
    logits = torch.empty(0, requires_grad=True)
    loss = relevance_loss(logits, torch.empty(0))
    loss.backward()
    assert float(loss.detach()) == 0


def test_calibration_cuts_between_what_is_noticed_and_what_is_not() -> None:
    values = torch.tensor([0.1, 0.2, 0.3, 1.1, 1.2, 1.5])
    size = torch.tensor([0.0, 0.4, 0.1, 0.6, 0.9, 0.7])
    scores = calibrate_relevance(values, size)(values, torch.zeros(6, dtype=torch.long))
    assert (scores > 0.5).tolist() == [False, False, False, True, True, True]
    assert bool((scores.diff() > 0).all())  # monotone, and different values stay different


@pytest.mark.parametrize("size", [torch.zeros(4), torch.ones(4)])
def test_calibration_where_all_or_none_is_noticed(size: torch.Tensor) -> None:
    values = torch.tensor([0.5, 0.6, 0.7, 0.8])
    assert bool(torch.isfinite(calibrate_relevance(values, size)(values, torch.zeros(4, dtype=torch.long))).all())


def test_calibration_without_units() -> None:
    found = calibrate_relevance(torch.empty(0), torch.empty(0))
    assert float(found(torch.tensor([1.0]), torch.tensor([0]))) == 0.5


def test_the_score_counts_twice_beside_the_size_of_the_change() -> None:
    values = combined(torch.tensor([0.25, 0.5, 1.0]), torch.tensor([0.0, 3.0, 1 / 3]).log())
    torch.testing.assert_close(values, torch.tensor([0.5 + 0.0, 1.0 + 0.75, 2.0 + 0.25]))


def right_on_both_sides(above: list[bool], noticed: list[bool]) -> float:
    """The share of the noticed that are above, and the share of the others that are not."""
    pairs = list(zip(above, noticed, strict=True))
    shares = [[one == side for one, said in pairs if said == side] for side in (True, False)]
    return sum(sum(right) / len(right) for right in shares if right)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=20))
@settings(deadline=None)
def test_no_cut_agrees_better_with_what_is_noticed(units: list[tuple[int, bool]]) -> None:
    """Against all cuts at a value; what is rare counts as much as what is frequent."""
    places, noticed = [place for place, _ in units], [said for _, said in units]
    values = torch.tensor(places).double()
    scores = calibrate_relevance(values, torch.tensor(noticed).double())(values, torch.zeros(len(units)).long())
    best = max(right_on_both_sides([place > cut for place in places], noticed) for cut in places)
    assert right_on_both_sides((scores > 0.5).tolist(), noticed) == pytest.approx(best)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_unit_in_which_values_are_given_does_not_matter(factor: float) -> None:
    values, size = torch.tensor([0.1, 0.2, 0.5, 1.0]).double(), torch.tensor([0.0, 0.9, 0.2, 0.9]).double()
    place = torch.zeros(4, dtype=torch.long)
    scores = calibrate_relevance(values, size)(values, place)
    torch.testing.assert_close(calibrate_relevance(factor * values, size)(factor * values, place), scores)


def test_a_single_unit_or_equal_ones_give_scores_that_are_numbers() -> None:
    for number in (1, 3):
        values = torch.full((number,), 0.7)
        scores = calibrate_relevance(values, torch.ones(number))(values, torch.zeros(number, dtype=torch.long))
        assert scores.tolist() == [0.5] * number
