"""Values of coalitions: the model's, each run once."""

import pytest
import torch
from torch import Tensor

from rcexplainer.baselines import coalitions
from rcexplainer.baselines.coalitions import CoalitionValues

SIZES = (3, 9)  # nodes of the two instances: one with fewer, one with more than a byte of them


class Counted:
    """v(C): ten times the instance and the number of nodes that take part; keeps which coalitions were run."""

    def __init__(self) -> None:
        self.runs: list[tuple[int, tuple[bool, ...]]] = []

    def __call__(self, copies: Tensor, present: Tensor) -> Tensor:
        places = copies.tolist()
        rows = present.split([SIZES[place] for place in places])
        self.runs += [(place, tuple(row.tolist())) for place, row in zip(places, rows, strict=True)]
        return torch.tensor([10.0 * place + int(row.sum()) for place, row in zip(places, rows, strict=True)])


def asked(*numbers: int, place: int = 0) -> tuple[int, Tensor]:
    """Coalitions by the bits of numbers."""
    return place, torch.tensor([[bool(number >> node & 1) for node in range(SIZES[place])] for number in numbers])


def test_a_coalition_is_run_once_within_and_across_calls() -> None:
    run = Counted()
    values = CoalitionValues(run)
    assert values([asked(0b000, 0b101, 0b101), asked(0b111, 0b000)]) == [[0, 2, 2], [3, 0]]
    assert values([asked(0b101, 0b001)]) == [[2, 1]]
    assert len(run.runs) == len(set(run.runs)) == 4


def test_the_same_nodes_of_another_instance_are_another_coalition() -> None:
    run = Counted()
    values = CoalitionValues(run)
    assert values([asked(0b101), asked(0b101, 0b1_0000_0101, place=1)]) == [[2], [12, 13]]
    assert len(run.runs) == 3


def test_nothing_is_run_when_all_is_known() -> None:
    run = Counted()
    values = CoalitionValues(run)
    first = values([asked(0b011)])
    assert values([asked(0b011)]) == first
    assert len(run.runs) == 1


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalitions, "MOST_KNOWN", 2)
    run = Counted()
    values = CoalitionValues(run)
    for _ in range(2):
        assert values([asked(0b000, 0b001, 0b011)]) == [[0, 1, 2]]
    assert len(run.runs) == 6
