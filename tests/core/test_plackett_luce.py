"""L_order against a literal Plackett–Luce likelihood, one instance and one step at a time."""

from math import exp, log

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core.plackett_luce import effect_loss, log_softmax, order_loss, surprises
from rcexplainer.core.segments import owners


def literal(scores: list[float], order: list[int]) -> float:
    total = weights = 0.0
    left = set(range(len(scores)))
    for t, unit in enumerate(order, 1):
        total += (log(sum(exp(scores[u]) for u in left)) - scores[unit]) / t
        weights += 1 / t
        left -= {unit}
    return total / weights if order else 0.0


def loss_of(scores: list[list[float]], orders: list[list[int]]) -> tuple[Tensor, Tensor]:
    """The loss [n] and the logits it came from, as a leaf."""
    ptr = torch.tensor([0, *(len(own) for own in scores)]).cumsum(0)
    logits = torch.tensor([s for own in scores for s in own], dtype=torch.float, requires_grad=True)
    depth = max(len(order) for order in orders)
    padded = torch.tensor([order + [-1] * (depth - len(order)) for order in orders], dtype=torch.long)
    return order_loss(logits, ptr, owners(ptr), padded.reshape(len(orders), depth)), logits


def test_by_hand() -> None:
    # Three equal scores: one of three, then one of two, then the last one.
    (value,), _ = loss_of([[0.0, 0.0, 0.0]], [[2, 0, 1]])
    assert value.item() == pytest.approx((log(3) + log(2) / 2 + 0) / (1 + 1 / 2 + 1 / 3))
    (value,), _ = loss_of([[1.0, 3.0]], [[1]])
    assert value.item() == pytest.approx(log(1 + exp(-2)))


def test_the_surprise_of_each_step_by_hand() -> None:
    ptr = torch.tensor([0, 3, 4, 6])
    order = torch.tensor([[2, 0, -1], [-1, -1, -1], [1, 0, -1]])
    found = surprises(torch.zeros(6), ptr, owners(ptr), order)
    torch.testing.assert_close(found, torch.tensor([[log(3), log(2), 0], [0, 0, 0], [log(2), 0, 0]]))


@st.composite
def instances(draw) -> tuple[list[list[float]], list[list[int]]]:
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any))
    scores = [draw(st.lists(st.floats(-10, 10, width=32), min_size=n, max_size=n)) for n in sizes]
    orders = [draw(st.permutations(range(n)))[: draw(st.integers(0, n))] for n in sizes]
    return scores, [list(order) for order in orders]


@given(instances())
@settings(max_examples=150, deadline=None)
def test_the_loss_is_the_weighted_plackett_luce_likelihood(case) -> None:
    scores, orders = case
    values, logits = loss_of(scores, orders)
    expected = [literal(own, order) for own, order in zip(scores, orders, strict=True)]
    torch.testing.assert_close(values, torch.tensor(expected), atol=1e-4, rtol=1e-4)
    values.sum().backward()
    assert logits.grad.isfinite().all()


@given(instances())
@settings(max_examples=50, deadline=None)
def test_its_gradient_is_the_literal_one(case) -> None:
    scores, orders = case
    values, logits = loss_of(scores, orders)
    values.sum().backward()
    start, small = 0, 1e-5
    for own, order in zip(scores, orders, strict=True):
        for place in range(len(own)):
            up, down = ([*own[:place], own[place] + step, *own[place + 1 :]] for step in (small, -small))
            slope = (literal(up, order) - literal(down, order)) / (2 * small)
            assert logits.grad[start + place].item() == pytest.approx(slope, abs=2e-3)
        start += len(own)


def test_gradients_are_finite_where_the_order_holds_all_units_and_where_scores_are_extreme() -> None:
    for own in ([0.5, -0.5, 2.0], [300.0, -300.0, 0.0], [1e4, -1e4, 0.0]):
        for order in ([0, 1, 2], [1, 0, 2], [2]):
            values, logits = loss_of([own, [1.0]], [order, [0]])
            values.sum().backward()
            assert values.isfinite().all()
            assert logits.grad.isfinite().all()


def test_the_loss_of_any_order_is_least_for_scores_that_decrease_along_it() -> None:
    order = [2, 0, 3, 1, 4]
    (best,), _ = loss_of([[30.0, 10.0, 40.0, 20.0, 0.0]], [order])
    assert 0 <= best.item() < 1e-3
    for scores in ([40.0, 10.0, 30.0, 20.0, 0.0], [30.0, 20.0, 40.0, 10.0, 0.0], [30.0, 10.0, 40.0, 0.0, 20.0]):
        assert loss_of([scores], [order])[0].item() > best.item() + 1


def test_descending_finds_the_order() -> None:
    order, logits = torch.tensor([[3, 1, 4], [1, 0, -1]]), torch.zeros(7, requires_grad=True)
    ptr = torch.tensor([0, 5, 7])
    optimizer = torch.optim.Adam([logits], lr=0.3)
    for _ in range(100):
        optimizer.zero_grad()
        order_loss(logits, ptr, owners(ptr), order).sum().backward()
        optimizer.step()
    assert logits[:5].argsort(descending=True)[:3].tolist() == [3, 1, 4]
    assert logits[5:].argsort(descending=True).tolist() == [1, 0]


def test_an_early_mistake_costs_more_than_a_late_one() -> None:
    order = [0, 1, 2, 3]
    early, late = [20.0, 30.0, 10.0, 0.0], [30.0, 20.0, 0.0, 10.0]
    assert loss_of([early], [order])[0] > loss_of([late], [order])[0]


def test_instances_without_units_or_without_an_order_cost_nothing() -> None:
    values, logits = loss_of([[], [1.0, 2.0], [3.0]], [[], [], [0]])
    assert values.tolist() == [0.0, 0.0, 0.0]
    values.sum().backward()
    assert logits.grad.isfinite().all()


def test_a_batch_in_which_no_instance_has_units() -> None:
    """Its order is as wide as that of the other batches."""
    order = torch.full((2, 3), -1)
    ptr = torch.zeros(3, dtype=torch.long)
    assert order_loss(torch.empty(0), ptr, owners(ptr), order).tolist() == [0.0, 0.0]


def test_effect_loss_is_the_cross_entropy_of_two_softmaxes() -> None:
    logits, effect = torch.randn(7), torch.randn(7)
    owner = torch.tensor([0, 0, 0, 2, 2, 2, 2])  # instance 1 has no units
    found = effect_loss(logits, owner, 3, effect, temperature=0.5)
    for instance in (0, 2):
        mine = owner == instance
        target, log_probs = (effect[mine] / 0.5).softmax(0), logits[mine].log_softmax(0)
        torch.testing.assert_close(found[instance], -(target * log_probs).sum())
    assert found[1] == 0


def test_units_that_do_equally_well_share_the_credit() -> None:
    """Two units with the same effect: the best scores are equal, whichever of them a search would take first."""
    effect, owner = torch.tensor([0.9, 0.9, 0.0]), torch.zeros(3, dtype=torch.long)
    logits = torch.tensor([2.0, -1.0, 0.5], requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.1)
    for _ in range(300):
        optimizer.zero_grad()
        effect_loss(logits, owner, 1, effect, temperature=0.3).sum().backward()
        optimizer.step()
    assert logits[0].item() == pytest.approx(logits[1].item(), abs=1e-2)
    assert logits[0] > logits[2] + 1


def test_a_softmax_of_large_scores_does_not_overflow() -> None:
    values = torch.tensor([1000.0, 1001.0, -1000.0])
    found = log_softmax(values, torch.tensor([0, 0, 1]), 2)
    torch.testing.assert_close(found, torch.cat([values[:2].log_softmax(0), torch.zeros(1)]))
