"""From logits to masks: worked cases, and what a budget promises."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from rcexplainer.core.gates import GATES, budget, concrete, cut, sigmoid
from rcexplainer.core.segments import owners

PTR = torch.tensor([0, 4, 4, 7])
LOGITS = torch.tensor([3.0, -1.0, 0.5, 2.0, 1.0, 1.0, -4.0])


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_sigmoid_is_the_probability() -> None:
    masks = sigmoid(LOGITS, PTR, owners(PTR), 1.0, seeded())
    assert masks.tolist() == pytest.approx([1 / (1 + 2.718281828**-f) for f in LOGITS.tolist()], abs=1e-6)


def test_a_concrete_gate_is_one_with_probability_sigma() -> None:
    logits = torch.full((20000,), 0.7)
    masks = concrete(logits, torch.tensor([0, 20000]), torch.zeros(20000).long(), 1e-3, seeded())
    assert float((masks > 0.5).float().mean()) == pytest.approx(float(torch.tensor(0.7).sigmoid()), abs=0.02)
    assert float(((masks < 0.01) | (masks > 0.99)).float().mean()) > 0.99  # nearly discrete at so low a temperature


def test_the_cut_lies_midway_to_the_next_score() -> None:
    kept = torch.tensor([2, 1, 3])
    assert cut(LOGITS, PTR, owners(PTR), kept).tolist() == [1.25, 0.0, -5.0]  # nothing, and nothing more, to keep


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(2, 30))
def test_a_budget_keeps_its_share_and_never_everything_or_nothing(seed: int, units: int) -> None:
    logits = torch.randn(units, generator=seeded(seed), dtype=torch.float64)
    ptr = torch.tensor([0, units])
    masks = budget(logits, ptr, owners(ptr), 1.0, seeded(seed), low=0.3, high=0.5)
    kept = int((masks > 0.5).sum())
    assert max(1, round(0.3 * units - 0.5)) <= kept <= max(1, round(0.5 * units + 0.5))
    assert set((masks > 0.5).nonzero().flatten().tolist()) == set(logits.topk(kept).indices.tolist())


def test_a_budget_does_not_see_the_level_of_an_instance() -> None:
    shifted = LOGITS + torch.tensor([100.0] * 4 + [-7.0] * 3)
    masks = [budget(logits, PTR, owners(PTR), 1.0, seeded()) for logits in (LOGITS, shifted)]
    torch.testing.assert_close(*masks)


@pytest.mark.parametrize("name", GATES)
def test_a_gate_lets_gradients_through_and_draws_the_same_for_one_seed(name: str) -> None:
    logits = LOGITS.clone().requires_grad_()
    masks = [GATES[name](logits, PTR, owners(PTR), 0.5, seeded(3)) for _ in range(2)]
    assert torch.equal(*masks)
    assert ((masks[0] > 0) & (masks[0] < 1)).all()
    (gradient,) = torch.autograd.grad(masks[0].sum(), logits)
    assert (gradient > 0).all()


def test_a_temperature_divides_the_logits() -> None:
    assert torch.equal(sigmoid(LOGITS, PTR, owners(PTR), 2.0, seeded()), (LOGITS / 2).sigmoid())


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_the_smallest_budget_keeps_the_best_unit(temperature: float) -> None:
    """The cuts lie at 2.5, between the first and the second of the first instance, and between those that tie."""
    masks = budget(LOGITS, PTR, owners(PTR), temperature, seeded(), low=0.01, high=0.01)
    assert torch.equal(masks, ((LOGITS - torch.tensor([2.5] * 4 + [1.0] * 3)) / temperature).sigmoid())


def test_no_budget_keeps_everything_or_nothing_unless_asked_to() -> None:
    """A hundred instances of ten units, 1, …, 10."""
    ptr = torch.arange(0, 1001, 10)
    masks = budget(torch.arange(1.0, 11).repeat(100), ptr, owners(ptr), 1.0, seeded()).view(100, 10)
    kept = (masks > 0.5).sum(1)
    assert int(kept.min()) >= 1
    assert int(kept.max()) <= 5  # half of the units
    assert len(kept.unique()) > 1
