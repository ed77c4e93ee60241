"""The second reading: sizes of changes, their loss, and the cut at ½."""

import pytest
import torch

from rcexplainer.core.relevance import NOTICEABLE, calibrate_relevance, relative_size, relevance_loss


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
