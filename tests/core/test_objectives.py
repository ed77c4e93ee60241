"""Eq. 7 put together, against its formula; and the terms by name."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from rcexplainer.core.gates import sigmoid
from rcexplainer.core.losses import confident, doubtful
from rcexplainer.core.objectives import (
    Masks,
    Step,
    follow_effects,
    follow_order,
    keep_top,
    leave_region,
    lose_confidence,
    lose_probability,
    seek_outcomes,
    sum_of,
)
from rcexplainer.core.plackett_luce import effect_loss, order_loss
from rcexplainer.core.stability import NoisyCopy, stability_loss

PTR, OWNER = torch.tensor([0, 2, 5]), torch.tensor([0, 0, 1, 1, 1])
CLEAN = torch.tensor([[1.0, 2.0], [0.5, math.inf]])
HEARD = torch.tensor([0.1, 0.2, 0.3, 0.4, 0.5], requires_grad=True)
COPIED = NoisyCopy(HEARD, OWNER, torch.arange(5))


def moved(mask: Tensor) -> Tensor:
    """A toy φ_gc: every boundary is at the sum of the masks of its instance, less 1."""
    sums = torch.zeros(len(mask), 2).index_add(1, OWNER, mask) - 1
    return sums[..., None].expand(-1, 2, 2).masked_fill(CLEAN.isinf(), math.inf)


def sure(mask: Tensor) -> Tensor:
    """A toy model: log P(c) of an instance is minus the sum of what its masks lack."""
    return -torch.zeros(len(mask), 2).index_add(1, OWNER, 1 - mask)


def gone(removed: Tensor) -> Tensor:
    """A toy outcome: a tenth for every unit that is gone, and a half more for the first of each instance."""
    return torch.zeros(len(removed), 2).index_add(1, OWNER, 0.1 * removed) + 0.5 * removed[:, PTR[:-1]]


def step(progress: float = 1.0) -> Step:
    logits = torch.tensor([0.3, -0.2, 1.0, 0.0, -1.0], requires_grad=True)
    order = torch.tensor([[1, 0], [2, -1]])
    effect = torch.tensor([0.1, 0.5, 0.0, 0.2, 0.3])
    return Step(
        logits=logits,
        ptr=PTR,
        owner=OWNER,
        clean=CLEAN,
        inside=moved,
        log_p=sure,
        outcome=gone,
        copied=lambda: COPIED,
        order=order,
        effect=effect,
        progress=progress,
        generator=torch.Generator().manual_seed(0),
    )


def literal(values: list[float], owner: list[int], weights: tuple[float, float, float, float]) -> float:
    """15 · (λ L_same + (1 − λ) L_opp + β R_sparse + μ R_discrete), the mean over two graphs, by hand."""
    factor, lam, beta, mu = weights
    total = 0.0
    for graph in (0, 1):
        masks = [1 / (1 + math.exp(-f)) for f, o in zip(values, owner, strict=True) if o == graph]
        clean = [float(b) for b in CLEAN[graph] if math.isfinite(b)]
        kept, left = sum(masks) - 1, len(masks) - sum(masks) - 1
        same = sum(1 / (1 + math.exp(b * kept)) for b in clean) / len(clean)
        opposite = min(1 / (1 + math.exp(-b * left)) for b in clean)
        entropy = -sum(m * math.log(m) + (1 - m) * math.log(1 - m) for m in masks) / len(masks)
        total += factor * (lam * same + (1 - lam) * opposite + beta * sum(masks) + mu * entropy)
    return total / 2


@pytest.mark.parametrize("progress", [0.0, 0.1, 0.2, 1.0])
def test_the_papers_loss_is_the_sum_of_its_four_terms_throughout_the_training(progress) -> None:
    weights = 15.0, 0.1, 0.03, 0.66
    now = step(progress)
    factor, same, beta, mu = weights
    masks = Masks(sigmoid, weight=factor, sparse=beta, discrete=mu)
    terms = leave_region(masks, same)(now)
    assert list(terms) == ["same", "opposite", "sparse", "discrete"]
    expected = literal(now.logits.tolist(), OWNER.tolist(), weights)
    assert sum(term.item() for term in terms.values()) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("progress", "factor"), [(0.0, 5.0), (0.5, 3.0), (1.0, 1.0)])
def test_the_size_weighs_press_times_as_much_at_first_and_its_own_weight_at_the_end(progress, factor) -> None:
    masks = Masks(sigmoid, sparse=0.1, discrete=0.3)
    plain, pressed = (leave_region(replace(masks, press=(press,)), 0.5)(step(progress)) for press in (1.0, 5.0))
    assert pressed["sparse"].item() == pytest.approx(factor * plain["sparse"].item())
    assert all(torch.equal(pressed[name], plain[name]) for name in ("same", "opposite", "discrete"))


def test_the_temperature_goes_geometrically_from_start_to_end() -> None:
    seen: list[float] = []

    def gate(logits: Tensor, ptr: Tensor, owner: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
        seen.append(temperature)
        return logits.sigmoid()

    objective = leave_region(Masks(gate, temperature=(0.5, 4.5)), 0.5)
    for progress in (0.0, 0.5, 1.0):
        objective(step(progress))
    assert seen == pytest.approx([0.5, 1.5, 4.5])


def test_objectives_add_up_and_reach_the_network() -> None:
    now = step()
    parts = [leave_region(Masks(sigmoid), 0.5), follow_order(2.0), follow_effects(3.0, 0.1)]
    parts.append(seek_outcomes(4.0, 8))
    parts.append(keep_top(5.0, 2))
    terms = sum_of(parts)(now)
    assert list(terms) == ["same", "opposite", "sparse", "discrete", "order", "effect", "outcome", "stable"]
    assert -4 * 0.6 <= terms["outcome"].item() <= -4 * 0.1  # one unit of each instance is gone
    assert terms["order"].item() == pytest.approx(
        2 * order_loss(now.logits, now.ptr, now.owner, now.order).mean().item()
    )
    effect = effect_loss(now.logits, now.owner, 2, now.effect, 0.1)
    assert terms["effect"].item() == pytest.approx(3 * effect.mean().item())
    stable = stability_loss(now.logits, now.ptr, now.owner, COPIED, 2)
    assert terms["stable"].item() == pytest.approx(5 * stable.mean().item())
    assert torch.autograd.grad(terms["stable"], HEARD, retain_graph=True)[0].abs().sum() > 0
    for name in ("same", "opposite", "order", "effect", "outcome"):
        (gradient,) = torch.autograd.grad(terms[name], now.logits, retain_graph=True)
        assert gradient.abs().sum() > 0, name


def test_the_ablation_is_the_confidence_of_both_graphs() -> None:
    now = step()
    terms = lose_confidence(Masks(sigmoid, weight=2.0), eta=3.0)(now)
    mask = now.logits.detach().sigmoid()
    assert terms["same"].item() == pytest.approx(2 * confident(sure(mask[None])).mean().item())
    assert terms["opposite"].item() == pytest.approx(2 * 3 * doubtful(sure(1 - mask[None])).mean().item())


def test_nothing_is_regularised_unless_asked_for() -> None:
    terms = lose_confidence(Masks(sigmoid), eta=1.0)(step())
    assert (terms["sparse"].tolist(), terms["discrete"].tolist()) == ([0], [0])


def test_only_instances_that_a_search_was_made_for_are_taught() -> None:
    now = step()
    order = order_loss(now.logits, now.ptr, now.owner, now.order).tolist()
    effect = effect_loss(now.logits, now.owner, 2, now.effect, 0.1).tolist()
    for taught, expected in (([False, True], (order[1], effect[1])), ([False, False], (0, 0))):
        some = replace(now, taught=torch.tensor(taught))
        found = follow_order(2.0)(some)["order"].item(), follow_effects(3.0, 0.1)(some)["effect"].item()
        assert found == pytest.approx((2 * expected[0], 3 * expected[1]))


def test_networks_side_by_side_have_sizes_and_pressures_of_their_own() -> None:
    """The first instance is scored by one network, the second by another."""
    now = replace(step(0.0), members=2)
    size = torch.zeros(2).index_add(0, OWNER, now.logits.detach().sigmoid())
    masks = Masks(sigmoid, sparse=0.5, target_size=(0.3, 1.2), press=(2.0, 5.0))
    expected = 0.5 * torch.tensor([2.0, 5.0]) * (size - torch.tensor([0.3, 1.2]))
    torch.testing.assert_close(leave_region(masks, 0.3)(now)["sparse"].detach(), expected)
    alike = replace(masks, target_size=(0.3, 0.3), press=(2.0,))  # one value stands for both
    torch.testing.assert_close(leave_region(alike, 0.3)(now)["sparse"].detach(), size - 0.3)


def test_probabilities_are_weighed_as_boundaries_are() -> None:
    now = step()
    terms = lose_probability(Masks(sigmoid, weight=15.0), weight_same=0.2)(now)
    mask = now.logits.detach().sigmoid()[None]
    assert terms["same"].item() == pytest.approx(3 * (1 - sure(mask).exp()).mean().item())
    assert terms["opposite"].item() == pytest.approx(12 * sure(1 - mask).exp().mean().item())


def test_only_what_is_above_the_target_size_counts() -> None:
    now = step()
    sizes = torch.zeros(2).index_add(0, OWNER, now.logits.detach().sigmoid())
    terms = leave_region(Masks(sigmoid, sparse=0.5, target_size=(1.2,)), 0.3)(now)
    assert sizes[0] < 1.2 < sizes[1]
    assert terms["sparse"].item() == pytest.approx(0.5 * (sizes[1].item() - 1.2) / 2)
