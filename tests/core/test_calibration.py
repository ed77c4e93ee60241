"""The map to scores: monotone, never tied by saturation, cut at ½ where deleting pays most."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core import calibration
from rcexplainer.core.calibration import Calibration, calibrate, relative_shares

MAP = Calibration(torch.tensor([0.0, 2.0]), torch.tensor(0.5))


def label_like(logits: Tensor, label: int = 0) -> Tensor:
    return torch.full(logits.shape, label, dtype=torch.long)


def test_by_hand() -> None:
    logits = torch.tensor([-0.5, 0.0, 0.5, 1.5])
    assert MAP(logits, label_like(logits)).tolist() == [0.25, 0.5, 0.75, 0.875]
    assert MAP(logits + 2, label_like(logits, 1)).tolist() == [0.25, 0.5, 0.75, 0.875]


@given(st.lists(st.integers(-50_000, 50_000), min_size=2, max_size=30, unique=True), st.integers(0, 1))
@settings(deadline=None)
def test_strictly_increasing_inside_0_and_1(thousandths: list[int], label: int) -> None:
    """Up to a hundred spreads away, where σ has long been 1, logits a thousandth apart are different scores."""
    logits = torch.tensor(sorted(thousandths)) / 1000
    scores = MAP(logits, label_like(logits, label))
    assert (scores > 0).all()
    assert (scores < 1).all()
    assert (scores.diff() > 0).all()


def test_the_cut_is_at_one_half() -> None:
    logits = torch.tensor([1.99, 2.0, 2.01])
    assert (MAP(logits, label_like(logits, 1)) > 0.5).tolist() == [False, False, True]


def test_the_threshold_has_the_largest_gain() -> None:
    """Ten instances of ten units; in class 0 deleting the best one pays, in class 1 the best four."""
    logits = torch.arange(10.0).repeat(10) + 0.001 * torch.arange(100)
    owner = torch.arange(10).repeat_interleave(10)
    label = torch.arange(10) % 2
    wanted = torch.where(label == 0, 1, 4)

    def gain(removed: Tensor) -> Tensor:
        count = torch.zeros(10).index_add(0, owner, removed.float())
        return -(count - wanted).abs()

    found = calibrate(logits, label, gain, num_classes=3, cuts=50)
    chosen = found(logits, label[owner]) > 0.5
    for number in range(10):
        assert int(chosen[owner == number].sum()) == wanted[number]
    # By brute force: no other cut of the same kind is worth more.
    for value in (0, 1):
        at = gain(logits > found.threshold[value])[label == value].mean()
        for level in torch.quantile(logits, torch.linspace(0.5, 0.99, 50)):
            assert gain(logits > level)[label == value].mean() <= at


def test_a_class_without_validation_instances_takes_the_cut_of_all() -> None:
    logits = torch.arange(20.0)
    found = calibrate(logits, torch.tensor([0, 0]), lambda removed: -(removed.sum() - 3).abs().repeat(2).float(), 2, 50)
    assert found.threshold[1] == found.threshold[0]
    assert int((logits > found.threshold[0]).sum()) == 3


@pytest.mark.parametrize(
    "logits",
    [
        pytest.param([0.7], id="one unit"),
        pytest.param([0.7, 0.7, 0.7], id="all equal"),
        pytest.param([], id="no units"),
    ],
)
def test_validation_instances_with_hardly_any_units(logits: list[float]) -> None:
    given = torch.tensor(logits)
    found = calibrate(given, torch.tensor([0]), lambda removed: removed.sum().float().reshape(1), num_classes=2)
    new = torch.tensor([0.1, 0.7, 0.9])
    for label in (0, 1):
        scores = found(new, label_like(new, label))
        assert scores.isfinite().all()
        assert (scores.diff() > 0).all()


def test_no_cut_keeps_more_than_half_of_the_units() -> None:
    found = calibrate(torch.arange(101.0), torch.tensor([0]), lambda removed: removed.sum().float().reshape(1), 1)
    assert float(found.threshold[0]) == 50


def test_quantiles_of_very_many_logits_are_taken_from_a_part_of_them(monkeypatch) -> None:
    monkeypatch.setattr(calibration, "QUANTILE_LIMIT", 4)
    logits = torch.tensor([0.0, 9, 9, 1, 9, 9, 2, 9, 9])  # one of three: 0, 1, 2
    found = calibrate(logits, torch.tensor([0]), lambda removed: removed.sum().float().reshape(1), 1)
    assert float(found.threshold[0]) == 1


def test_relative_shares_are_times_an_equal_share() -> None:
    shares = torch.tensor([0.5, 0.5, 0.7, 0.1, 0.1, 0.1]).log()
    owner = torch.tensor([0, 0, 1, 1, 1, 1])
    found = relative_shares(shares, torch.tensor([2, 4]), owner).exp()
    torch.testing.assert_close(found, torch.tensor([1.0, 1.0, 2.8, 0.4, 0.4, 0.4]))


def test_the_only_unit_of_an_instance_has_an_equal_share() -> None:
    found = relative_shares(torch.tensor([1.0, 0.5, 0.5]).log(), torch.tensor([1, 2]), torch.tensor([0, 1, 1])).exp()
    assert found.tolist() == pytest.approx([1, 1, 1])


def test_units_that_tie_with_the_cut_are_not_above_it() -> None:
    """60 units alike and 40 others alike: what was worth most was to delete the 40, and these are what the map cuts."""
    logits = torch.tensor([0.0] * 60 + [1.0] * 40)
    gain = lambda removed: -(removed.sum() - 40).abs().float().reshape(1)  # noqa: E731
    found = calibrate(logits, torch.tensor([0]), gain, 1, cuts=2)  # at the median, which is 0, and near the maximum, 1
    assert torch.equal(found(logits, label_like(logits)) > 0.5, logits == 1)


@pytest.mark.parametrize("spread", [0.01, 1.0, 100.0])
def test_scores_do_not_depend_on_the_unit_of_the_logits(spread: float) -> None:
    """Half of the logits one standard deviation below the middle, half above: t = ±1."""
    logits = torch.tensor([-1.0, 1.0]) * spread
    found = calibrate(logits, torch.tensor([0]), lambda removed: torch.zeros(1), 1)
    assert found(logits, label_like(logits)).tolist() == pytest.approx([0.25, 0.75])


def test_logits_are_calibrated_as_they_are_unless_it_is_said() -> None:
    found = calibrate(torch.arange(9.0), torch.tensor([0]), lambda removed: torch.zeros(1), 1)
    assert not found.relative
