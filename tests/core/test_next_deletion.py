"""Comparing next deletions: the loss by hand, its gradient against the exact one, a plan that has to learn pairs."""

import pytest
import torch
from torch import Tensor

from rcexplainer.core import next_deletion
from rcexplainer.core.deletion_plan import DeletionPlan
from rcexplainer.core.next_deletion import next_deletion_loss
from rcexplainer.core.outcomes import SHARPNESS
from tests.core.test_deletion_plan import plan, random_plan, terms


def weighed(*weights: float):
    """Outcomes of a single instance that add up: R(S) = the weights of what is deleted."""
    return lambda removed: (removed.to(torch.float) @ torch.tensor(weights))[:, None]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_first_deletion_by_hand() -> None:
    """All three units are tried after no deletion: the expectation is exact, whatever was drawn."""
    made, outcome = plan(terms([0.3, -0.2, 0.1])), torch.tensor([0.5, 0.52, 0.1])
    own = (SHARPNESS * torch.tensor([0.3, -0.2, 0.1])).log_softmax(0)
    target = (outcome / next_deletion.SHARED).softmax(0)
    expected = -float(own.exp() @ outcome) - next_deletion.BEST * float(target @ own)
    found = next_deletion_loss(made, torch.tensor([1]), weighed(*outcome.tolist()), 2, 3, seeded())
    assert found.tolist() == pytest.approx([expected], abs=1e-6)


def test_of_more_units_than_there_are_all_are_tried() -> None:
    made, outcome = plan(terms([0.3, -0.2, 0.1])), weighed(0.5, 0.4, 0.1)
    three, nine = (next_deletion_loss(made, torch.tensor([1]), outcome, 2, tried, seeded()) for tried in (3, 9))
    torch.testing.assert_close(three, nine)


def test_units_that_are_gone_are_not_tried_again() -> None:
    tried: list[Tensor] = []

    def outcome(removed: Tensor) -> Tensor:
        tried.append(removed)
        return torch.zeros(len(removed), 2)

    next_deletion_loss(random_plan(), torch.tensor([3, 2]), outcome, 4, 2, seeded())
    (removed,) = tried
    first, second = removed[:, :3].sum(1).view(2, 4), removed[:, 3:].sum(1).view(2, 4)
    assert (first[0] == 3).all()  # two were drawn, one is tried
    assert (first[1] == 2).all()  # and no other is left
    assert (second[0] == 2).all()
    assert (second[1] == 1).all()


def test_what_is_tried_differs() -> None:
    """Of four units tried after the same deletions none comes twice."""
    sets: list[Tensor] = []

    def outcome(removed: Tensor) -> Tensor:
        sets.append(removed)
        return torch.zeros(len(removed), 1)

    five = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    next_deletion_loss(plan(terms([0.0] * 5), five), torch.tensor([1]), outcome, 3, 4, seeded())
    for draw in sets[0].view(4, 3, 5).transpose(0, 1):
        assert (draw.sum(1) == 1).all()
        assert len(set(draw.nonzero()[:, 1].tolist())) == 4


def test_an_instance_without_units_is_left_alone() -> None:
    empty = DeletionPlan(terms([]), torch.empty(2, 0, dtype=torch.long), torch.tensor([0, 0]), torch.tensor([0, 1]))
    found = next_deletion_loss(empty, torch.tensor([0]), lambda removed: torch.zeros(len(removed), 1), 2, 3, seeded())
    assert found.tolist() == [0.0]


def test_instances_do_not_mix() -> None:
    """One instance beside another has the loss that it has alone."""
    made = random_plan()
    alone = plan(made.terms.each(lambda values: values[:3]), made.pair[:, :3])
    weights = torch.tensor([0.1, 0.7, 0.2, 5.0, 9.0])

    def both(removed: Tensor) -> Tensor:
        values = removed * weights
        return torch.stack([values[:, :3].sum(1), values[:, 3:].sum(1)], 1)

    together = next_deletion_loss(made, torch.tensor([1, 1]), both, 2, 3, seeded())
    apart = next_deletion_loss(alone, torch.tensor([1]), weighed(0.1, 0.7, 0.2), 2, 3, seeded())
    torch.testing.assert_close(together[:1], apart)


def test_the_gradient_is_that_of_the_expected_outcome_where_all_are_tried(monkeypatch) -> None:
    """Two deletions of three: Σ over the first of P(u) V(u), by hand, against the mean over many draws."""
    monkeypatch.setattr(next_deletion, "BEST", 0.0)
    worth = {frozenset({0, 1}): 0.9, frozenset({0, 2}): 0.2, frozenset({1, 2}): 0.4}

    def outcome(removed: Tensor) -> Tensor:
        return torch.tensor([worth[frozenset(row.nonzero()[:, 0].tolist())] for row in removed])[:, None]

    start = [torch.tensor([0.3, -0.2, 0.1]), torch.tensor([[0.4], [-0.3], [0.2]]), torch.tensor([[1.5]])]

    def made() -> tuple[DeletionPlan, list[Tensor]]:
        logit, near, reply = parts = [value.clone().requires_grad_() for value in start]
        own = terms([0.0, 0.0, 0.0], start=0.5)
        return plan(type(own)(logit, own.start, near, own.far, own.row, reply)), parts

    exact, parts = made()
    first, value = (SHARPNESS * exact.alone).softmax(0), torch.zeros(())
    for unit in range(3):
        others = [other for other in range(3) if other != unit]
        own = (SHARPNESS * exact.given(torch.tensor([unit]))[others]).softmax(0)
        value = value + first[unit] * (own @ torch.tensor([worth[frozenset({unit, other})] for other in others]))
    (-value).backward()

    drawn, own_parts = made()
    loss = next_deletion_loss(drawn, torch.tensor([2]), outcome, 20_000, 2, seeded())
    assert float(loss.detach()) == pytest.approx(-float(value.detach()), abs=0.01)
    loss.sum().backward()
    for one, other in zip(own_parts, parts, strict=True):
        torch.testing.assert_close(one.grad, other.grad, atol=0.01, rtol=0)


def test_of_fewer_the_mean_is_over_what_was_tried(monkeypatch) -> None:
    """Two of three are tried: Σ over the pairs, drawn without replacement, of the mean outcome within the pair."""
    monkeypatch.setattr(next_deletion, "BEST", 0.0)
    logit, outcome = [0.6, 0.0, -0.4], torch.tensor([0.1, 0.5, 0.9])
    share = (SHARPNESS * torch.tensor(logit)).softmax(0)
    expected = 0.0
    for first, second in ((0, 1), (0, 2), (1, 2)):
        drawn = share[first] * share[second] * (1 / (1 - share[first]) + 1 / (1 - share[second]))
        inside = share[[first, second]] / share[[first, second]].sum()
        expected += float(drawn * (inside @ outcome[[first, second]]))
    found = next_deletion_loss(plan(terms(logit)), torch.tensor([1]), weighed(*outcome.tolist()), 20_000, 2, seeded())
    assert float(found) == pytest.approx(-expected, abs=0.005)


def test_the_best_of_what_was_tried_is_imitated() -> None:
    """Outcomes that differ by much less than τ share the credit; beyond, the better takes it."""
    for outcomes, least in (((0.500, 0.501), 0.45), ((0.3, 0.5), 0.0)):
        logit = torch.zeros(2, requires_grad=True)
        own = terms([0.0, 0.0])
        made = plan(type(own)(logit, *[getattr(own, name) for name in ("start", "near", "far", "row", "reply")]),
                    torch.tensor([[0, 1], [1, 2]]))  # fmt: skip
        optimizer = torch.optim.SGD([logit], lr=2.0)
        for _ in range(300):
            optimizer.zero_grad()
            next_deletion_loss(made, torch.tensor([1]), weighed(*outcomes), 2, 2, seeded()).sum().backward()
            optimizer.step()
            made.__dict__.pop("alone", None)
        share = (SHARPNESS * logit).softmax(0)
        assert float(share[0].detach()) > least
        assert float(share[1].detach()) > (0.5 if least else 0.95)


def test_a_plan_learns_which_edges_count_together() -> None:
    """Two pairs of equal edges: both edges of a pair together do something, one of each nothing."""
    pair = torch.tensor([[0, 1, 3, 4], [1, 2, 4, 5]])
    parts = [torch.zeros(4), torch.full((4, 2), 0.1), torch.zeros(4, 2), torch.zeros(4, 2), torch.full((1, 2), 0.1)]
    logit, first, near, far, reply = parts = [value.requires_grad_() for value in parts]
    row, optimizer, generator = torch.zeros(4, dtype=torch.long), torch.optim.Adam(parts, lr=0.05), seeded()

    def outcome(removed: Tensor) -> Tensor:
        return (removed[:, :2].all(1) | removed[:, 2:].all(1)).to(torch.float)[:, None]

    def made() -> DeletionPlan:
        own = type(terms([0.0]))(logit, first, near, far, row, reply)
        return DeletionPlan(own, pair, torch.tensor([0, 4]), torch.tensor([0, 6]))

    for _ in range(100):
        optimizer.zero_grad()
        next_deletion_loss(made(), torch.tensor([2]), outcome, 4, 3, generator).sum().backward()
        optimizer.step()
    for unit, partner in ((0, 1), (1, 0), (2, 3), (3, 2)):
        left = made().given(torch.tensor([unit])).masked_fill(torch.arange(4) == unit, -torch.inf)
        assert int(left.argmax()) == partner
