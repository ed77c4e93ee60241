"""Size and entropy by hand, over edges and over a matrix that is written out."""

import torch
from torch import Tensor

from rcexplainer.core.drawn_masks import Logits, PairLogits, over_edges, over_matrix
from rcexplainer.core.gates import concrete, sigmoid

UNITS = torch.tensor([1.0, -2.0, 0.5])
PTR, OWNER = torch.tensor([0, 2, 3]), torch.tensor([0, 0, 1])


def entropy(p: Tensor) -> Tensor:
    return -(p * p.log() + (1 - p) * (1 - p).log())


def pairs() -> PairLogits:
    return PairLogits(
        ways=torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]]),
        others=torch.tensor([-4.0, 2.0]),
        weight=torch.tensor([5.0, 12.0]),
        owner=torch.tensor([0, 1]),
        entries=torch.tensor([9.0, 16.0]),
    )


def test_over_edges_each_unit_counts_once() -> None:
    drawn = over_edges(Logits(UNITS, PTR, OWNER, pairs()), sigmoid, 1.0, torch.Generator())
    mask = UNITS.sigmoid()
    torch.testing.assert_close(drawn.mask, mask)
    torch.testing.assert_close(drawn.size, torch.stack([mask[:2].sum(), mask[2]]))
    torch.testing.assert_close(drawn.entropy, torch.stack([entropy(mask[:2]).mean(), entropy(mask[2])]))


def test_over_a_matrix_every_entry_counts() -> None:
    drawn = over_matrix(Logits(UNITS, PTR, OWNER, pairs()), sigmoid, 1.0, torch.Generator())
    ways = pairs().ways.sigmoid()
    torch.testing.assert_close(drawn.mask, ways.mean(0))
    # The 9 entries of the first matrix: two edges in both directions, and a pair that stands for the other 5.
    first = torch.cat([ways[:, :2].flatten(), torch.tensor(-4.0).sigmoid().expand(5)])
    second = torch.cat([ways[:, 2], torch.tensor(2.0).sigmoid().expand(12)])
    torch.testing.assert_close(drawn.size, torch.stack([first.sum(), second.sum()]))
    moved = [entropy(0.99 * each + 0.005).sum() / number for each, number in ((first, 9), (second, 16))]
    torch.testing.assert_close(drawn.entropy, torch.stack(moved))


def test_noise_is_drawn_for_each_direction() -> None:
    alike = PairLogits(
        torch.zeros(2, 3), torch.empty(0), torch.empty(0), torch.empty(0, dtype=torch.long), torch.ones(2)
    )
    drawn = over_matrix(Logits(UNITS, PTR, OWNER, alike), concrete, 1.0, torch.Generator().manual_seed(0))
    both = (torch.rand(6, generator=torch.Generator().manual_seed(0))).logit().sigmoid().view(2, 3)
    torch.testing.assert_close(drawn.mask, both.mean(0))
