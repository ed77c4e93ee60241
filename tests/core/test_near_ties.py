"""Answers on the verge of another class are asked for again, alone; all others stay."""

import torch
from torch import Tensor

from rcexplainer.core.near_ties import nothing_removed, settle

PTR = torch.tensor([0, 2, 5])


def test_nothing_removed_has_every_instance_and_every_unit() -> None:
    ids, removed = nothing_removed(PTR)
    assert ids.tolist() == [0, 1]
    assert removed.tolist() == [False] * 5


def test_only_near_ties_are_run_alone() -> None:
    asked: list[tuple[list[int], list[bool]]] = []

    def alone(ids: Tensor, removed: Tensor) -> Tensor:
        asked.append((ids.tolist(), removed.tolist()))
        return torch.tensor([[0.1, 0.9]]).log()

    tie, clear = [0.5, 0.5], [0.8, 0.2]
    removed = torch.tensor([True, False, False, True, False])
    found = settle(torch.tensor([clear, tie]).log(), torch.tensor([0, 1]), removed, PTR, alone)
    assert asked == [([1], [False, True, False])]
    torch.testing.assert_close(found.exp(), torch.tensor([clear, [0.1, 0.9]]))
