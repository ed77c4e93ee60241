"""Eq. 7–11 against double loops, with regions of different sizes and instances without units."""

from math import exp, isinf, log

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core.losses import (
    POLE,
    confident,
    discrete,
    doubtful,
    opposite,
    opposite_softplus,
    same,
    same_softplus,
    sparse,
)

VALUES = st.floats(-20, 20, width=32)


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def literal_same(clean: list[float], kept: list[float]) -> float:
    """(1/|H_G|) Σ_i σ(−B_i(φ_gc(G)) · B_i(φ_gc(G_θ)))."""
    own = [i for i, b in enumerate(clean) if not isinf(b)]
    total = 0.0
    for i in own:
        total += sigmoid(-clean[i] * kept[i])
    return total / len(own)


def literal_opposite(clean: list[float], remainder: list[float]) -> float:
    """min_i σ(B_i(φ_gc(G)) · B_i(φ_gc(G'_θ)))."""
    return min(sigmoid(b * r) for b, r in zip(clean, remainder, strict=True) if not isinf(b))


@st.composite
def margins(draw) -> tuple[Tensor, Tensor]:
    """B(φ_gc(G)) and B of a changed graph [n, P]; every row has at least one boundary, +inf stands for none."""
    n, width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rows = [draw(st.lists(VALUES, min_size=width, max_size=width)) for _ in range(2 * n)]
    sizes = draw(st.lists(st.integers(1, width), min_size=n, max_size=n))
    padding = torch.arange(width) >= torch.tensor(sizes)[:, None]
    return torch.tensor(rows[:n]).masked_fill(padding, torch.inf), torch.tensor(rows[n:]).masked_fill(
        padding, torch.inf
    )


@given(margins())
@settings(deadline=None)
def test_same_and_opposite_are_the_equations(case: tuple[Tensor, Tensor]) -> None:
    clean, other = case
    for loss, literal in ((same, literal_same), (opposite, literal_opposite)):
        expected = [literal(b, o) for b, o in zip(clean.tolist(), other.tolist(), strict=True)]
        torch.testing.assert_close(loss(clean, other), torch.tensor(expected))


def test_by_hand() -> None:
    clean = torch.tensor([[1.0, 2.0], [3.0, torch.inf]])
    inside, outside = torch.tensor([[2.0, 1.0], [0.0, torch.inf]]), torch.tensor([[2.0, -1.0], [-1.0, torch.inf]])
    s = sigmoid
    torch.testing.assert_close(same(clean, inside), torch.tensor([s(-2.0), 0.5]))
    torch.testing.assert_close(opposite(clean, outside), torch.tensor([s(-2.0), s(-3.0)]))
    # One violated boundary is enough to leave a region, and no other has to be.
    assert (opposite(clean, outside) < opposite(clean, inside)).all()
    assert (same(clean, inside) < same(clean, outside)).all()


def test_a_region_without_boundaries_is_neither_kept_nor_left() -> None:
    nothing = torch.full((1, 2), torch.inf)
    assert same(nothing, nothing).tolist() == [0.0]
    assert opposite(nothing, nothing).tolist() == [1.0]


@pytest.mark.parametrize("loss", [same, opposite])
def test_gradients_reach_the_boundaries_and_stop_at_the_padding(loss) -> None:
    clean = torch.tensor([[1.0, 2.0, torch.inf], [0.5, torch.inf, torch.inf]])
    changed = torch.tensor([[0.3, -0.2, 7.0], [1.0, 7.0, 7.0]], requires_grad=True)
    loss(clean, changed.masked_fill(clean.isinf(), torch.inf)).sum().backward()
    assert changed.grad.isfinite().all()
    assert (changed.grad[clean.isinf()] == 0).all()
    assert changed.grad[0, 1] != 0
    assert changed.grad[1, 0] != 0


@pytest.mark.parametrize("loss", [same, opposite])
def test_gradients_at_the_padding_itself(loss) -> None:
    clean = torch.tensor([[1.0, 2.0, torch.inf]])
    changed = torch.tensor([[0.3, -0.2, torch.inf]], requires_grad=True)
    loss(clean, changed).sum().backward()
    assert changed.grad.isfinite().all()
    assert changed.grad[0, 2] == 0


def test_the_gradient_points_where_the_names_say() -> None:
    clean = torch.tensor([[1.0, 2.0]])
    x = torch.tensor([[0.5, -0.5]], requires_grad=True)
    same(clean, x).sum().backward()
    assert (x.grad < 0).all()  # less loss farther inside
    x.grad = None
    opposite(clean, x).sum().backward()
    assert x.grad[0, 0] == 0  # only the nearest exit counts
    assert x.grad[0, 1] > 0


@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.integers(0, 3)), max_size=12))
@settings(deadline=None)
def test_sparse_and_discrete_are_the_equations(cases: list[tuple[float, int]]) -> None:
    mask = torch.tensor([m for m, _ in cases], dtype=torch.float)
    owner = torch.tensor([o for _, o in cases], dtype=torch.long)
    total, entropy = [], []
    for instance in range(4):
        own = [m for m, o in cases if o == instance]
        total.append(sum(abs(m) for m in own))
        terms = [-(m * log(m) if m else 0) - ((1 - m) * log(1 - m) if m < 1 else 0) for m in own]
        entropy.append(sum(terms) / len(own) if own else 0.0)
    torch.testing.assert_close(sparse(mask, owner, 4), torch.tensor(total, dtype=torch.float))
    torch.testing.assert_close(discrete(mask, owner, 4), torch.tensor(entropy), atol=3e-5, rtol=1e-4)


def test_masks_of_0_and_1_have_no_entropy_and_halves_have_the_most() -> None:
    owner = torch.tensor([0, 0, 1, 1])
    mask = torch.tensor([0.0, 1.0, 0.5, 0.5], requires_grad=True)
    values = discrete(mask, owner, 3)
    assert values[0] < 2e-5
    torch.testing.assert_close(values[1].item(), log(2))
    assert values[2] == 0
    (values.sum() + sparse(mask, owner, 3).sum()).backward()
    assert mask.grad.isfinite().all()


def test_softplus_sides_by_hand() -> None:
    clean = torch.tensor([[1.0, 2.0], [3.0, torch.inf]])
    changed = torch.tensor([[0.5, -1.0], [2.0, torch.inf]])
    kept = [(log(1 + exp(-0.5)) + log(1 + exp(1.0))) / 2, log(1 + exp(-2.0))]
    torch.testing.assert_close(same_softplus(clean, changed), torch.tensor(kept))
    left = [log(1 + exp(-1.0)), log(1 + exp(2.0))]
    torch.testing.assert_close(opposite_softplus(clean, changed), torch.tensor(left))


def test_softplus_of_no_boundary_is_not_infinite() -> None:
    clean = torch.tensor([[torch.inf, torch.inf], [1.0, torch.inf]])
    left = torch.tensor([[torch.inf, torch.inf], [2.0, torch.inf]], requires_grad=True)
    values = opposite_softplus(clean, left)
    assert values[0] == 0
    assert 0 < values[1] < torch.inf
    (slope,) = torch.autograd.grad(values.sum(), left)
    assert slope.isfinite().all()
    assert slope[1, 0] > 0


def test_far_from_the_boundary_softplus_keeps_its_slope_where_a_product_is_flat() -> None:
    clean = torch.full((1, 1), 40.0)
    slopes = []
    for loss in (opposite, opposite_softplus):
        left = torch.full((1, 1), 30.0, requires_grad=True)
        (slope,) = torch.autograd.grad(loss(clean, left).sum(), left)
        slopes.append(float(slope))
    assert slopes == pytest.approx([0.0, 1.0], abs=1e-6)


def test_the_loss_of_the_ablation_by_hand() -> None:
    """−log P(c | G_θ) − η / log P(c | G'_θ) of three instances, away from the pole."""
    kept, left, eta = [0.9, 0.5, 0.1], [0.8, 0.3, 0.01], 2.0
    found = confident(torch.tensor(kept).log()) + eta * doubtful(torch.tensor(left).log())
    expected = [-log(k) - eta / log(r) for k, r in zip(kept, left, strict=True)]
    assert found.tolist() == pytest.approx(expected, rel=0.06)
    moved = [-log(k) - eta / (log(r) - POLE) for k, r in zip(kept, left, strict=True)]
    assert found.tolist() == pytest.approx(moved, rel=1e-5)


def test_the_remainder_is_pushed_away_from_certainty_and_never_without_end() -> None:
    log_p = torch.tensor([0.9999, 0.9, 0.5, 0.1]).log().requires_grad_()
    values = doubtful(log_p)
    (slope,) = torch.autograd.grad(values.sum(), log_p)
    assert (values.diff() < 0).all()
    assert (slope > 0).all()
    assert float(doubtful(torch.zeros(1))) == pytest.approx(1 / POLE)
