"""Draws against literal Plackett–Luce probabilities, the estimated gradient against the exact one."""

from itertools import pairwise, permutations
from math import exp

import pytest
import torch
from torch import Tensor

from rcexplainer.core import outcomes
from rcexplainer.core.outcomes import SHARPNESS, Drawn, draw, log_likelihood, outcome_loss
from rcexplainer.core.segments import owners

MANY = 10_000
SCORES = [0.5, -0.3, 0.1]


def repeated(times: int, size: int = 3) -> tuple[Tensor, Tensor]:
    """ptr and owner of so many instances of the same size."""
    ptr = size * torch.arange(times + 1)
    return ptr, owners(ptr)


def random(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def probability(order: tuple[int, ...]) -> float:
    left, product = [exp(score) for score in SCORES], 1.0
    for unit in order:
        product *= left[unit] / sum(left)
        left[unit] = 0.0
    return product


def test_draws_follow_plackett_luce() -> None:
    ptr, owner = repeated(MANY)
    drawn = draw(torch.tensor(SCORES).repeat(MANY), ptr, owner, torch.full((MANY,), 2), random())
    order = drawn.units.view(MANY, 2) - ptr[:-1, None]
    for pair in permutations(range(3), 2):
        share = float((order == torch.tensor(pair)).all(1).float().mean())
        assert share == pytest.approx(probability(pair), abs=0.02), pair


def test_each_instance_gives_as_many_different_units_as_asked() -> None:
    ptr = torch.tensor([0, 4, 4, 9])
    drawn = draw(torch.zeros(9), ptr, owners(ptr), torch.tensor([4, 0, 2]), random())
    assert drawn.kept.tolist() == [4, 0, 2]
    assert sorted(drawn.units[:4].tolist()) == [0, 1, 2, 3]
    assert len({*drawn.units[4:].tolist()}) == 2
    assert set(drawn.units[4:].tolist()) <= set(range(4, 9))


@pytest.mark.parametrize("narrow", [1, 2, 64])
def test_the_likelihood_is_the_literal_product_whatever_is_padded_together(monkeypatch, narrow: int) -> None:
    monkeypatch.setattr(outcomes, "NARROW", narrow)
    monkeypatch.setattr(outcomes, "WIDENING", 2)
    ptr = torch.tensor([0, 3, 3, 6, 9])
    units, kept = torch.tensor([2, 0, 4, 8, 6, 7]), torch.tensor([2, 0, 1, 3])
    scores = torch.tensor(SCORES * 3, requires_grad=True)
    found = log_likelihood(scores, owners(ptr), Drawn(units, kept))
    expected = [probability(order) for order in ((2, 0), (), (1,), (2, 0, 1))]
    torch.testing.assert_close(found.exp(), torch.tensor(expected))
    found.sum().backward()
    assert scores.grad.isfinite().all()
    # Each instance's gradient sums to 0: adding a constant to all its scores changes nothing.
    torch.testing.assert_close(scores.grad.view(3, 3).sum(1), torch.zeros(3), atol=1e-6, rtol=0)


@pytest.mark.parametrize("draws", [2, 4])
def test_the_gradient_is_that_of_the_expected_outcome(draws: int) -> None:
    """Three units, one of which goes: the expectation is a sum of three."""
    gains = torch.tensor([0.2, 1.0, 0.6])
    ptr, owner = repeated(MANY)

    def outcome(removed: Tensor) -> Tensor:
        return (removed.view(draws, MANY, 3) * gains).sum(2)

    exact, estimated = (torch.tensor(SCORES, requires_grad=True) for _ in range(2))
    expected = ((SHARPNESS * exact).softmax(0) * gains).sum()
    (-expected).backward()
    loss = outcome_loss(estimated.repeat(MANY), ptr, owner, outcome, draws, random())
    loss.mean().backward()
    assert loss.mean().item() == pytest.approx(-expected.item(), abs=0.015)
    torch.testing.assert_close(estimated.grad, exact.grad, atol=0.015, rtol=0.0)


def test_what_is_the_same_for_all_draws_teaches_nothing() -> None:
    ptr, owner = repeated(5)
    logits = torch.randn(15, generator=random(), requires_grad=True)
    loss = outcome_loss(logits, ptr, owner, lambda removed: torch.arange(5.0).repeat(3, 1), 3, random())
    assert loss.tolist() == [0.0, -1.0, -2.0, -3.0, -4.0]
    loss.sum().backward()
    assert torch.count_nonzero(logits.grad) == 0


def test_a_unit_that_undoes_the_others_falls_behind_them() -> None:
    """Of twenty units 0 does something alone; 7 and 8 do nothing alone and everything together, unless 0 is gone."""
    ptr, owner = repeated(64, 20)

    def outcome(removed: Tensor) -> Tensor:
        gone = removed.view(4, 64, 20).float()
        return (1 - gone[..., 0]) * gone[..., 7] * gone[..., 8] + 0.1 * gone[..., 0]

    logits, generator = torch.zeros(20), random()
    logits[[0, 7, 8]] = 2.0
    logits.requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        outcome_loss(logits.repeat(64), ptr, owner, outcome, 4, generator).mean().backward()
        optimizer.step()
    assert sorted(logits.argsort(descending=True)[:2].tolist()) == [7, 8]


def test_an_instance_without_units_is_no_trouble() -> None:
    ptr = torch.tensor([0, 0, 2])
    logits = torch.tensor([0.1, 0.2], requires_grad=True)

    def outcome(removed: Tensor) -> Tensor:
        return torch.stack([torch.full((2,), 0.4), removed[:, 0].float()], 1)

    loss = outcome_loss(logits, ptr, owners(ptr), outcome, 2, random())
    loss.sum().backward()
    assert loss[0].item() == pytest.approx(-0.4)
    assert logits.grad.isfinite().all()


def test_every_draw_takes_as_many_units_of_an_instance_as_the_others() -> None:
    ptr = torch.tensor([0, 2, 2, 40, 100])
    seen: list[Tensor] = []

    def outcome(removed: Tensor) -> Tensor:
        seen.append(removed)
        return removed.new_zeros(len(removed), 4, dtype=torch.float)

    outcome_loss(torch.zeros(100), ptr, owners(ptr), outcome, 5, random())
    counts = torch.stack([part.sum(1) for part in seen[0].split(ptr.diff().tolist(), 1)], 1)
    assert (counts == counts[0]).all()
    assert counts[0, 1] == 0
    assert (counts[0, [0, 2, 3]] >= 1).all()
    assert not torch.equal(seen[0][0], seen[0][1])  # other units


def test_sizes_are_spread_evenly_on_a_logarithmic_scale_from_3_to_30_per_cent() -> None:
    ptr, owner = repeated(400, 1000)
    sizes: list[Tensor] = []

    def outcome(removed: Tensor) -> Tensor:
        sizes.append(removed.view(2, 400, 1000).sum(2)[0])
        return torch.zeros(2, 400)

    outcome_loss(torch.zeros(400_000), ptr, owner, outcome, 2, random())
    bounds = (30 * 10 ** torch.linspace(0, 1, 5)).tolist()
    for low, high in pairwise(bounds):  # a quarter of them in each quarter of the scale
        inside = (sizes[0] >= low - 0.5) & (sizes[0] <= high + 0.5)
        assert float(inside.float().mean()) == pytest.approx(0.25, abs=0.07)
