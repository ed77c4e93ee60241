"""Patterns and cells against plain sums over instances."""

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core.patterns import PatternCell, Patterns


def sides(seed: int, instances: int, rows: int) -> Tensor:
    return torch.rand(instances, rows, generator=torch.Generator().manual_seed(seed)) < 0.4


@given(st.integers(0, 2**32), st.integers(0, 60), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_cells_count_their_instances(seed: int, instances: int, rows: int) -> None:
    x, random = sides(seed, instances, rows), torch.Generator().manual_seed(seed)
    cell, inside = PatternCell.all(Patterns.of(x)), torch.ones(instances, dtype=torch.bool)
    for row in torch.randperm(rows, generator=random).tolist():
        assert cell.instances.tolist() == inside.nonzero().flatten().tolist()
        assert cell.size == int(inside.sum())
        assert cell.counts[:-1].tolist() == x[inside].sum(0).tolist()
        side = bool(torch.rand(1, generator=random) < 0.5)
        assert cell.half(row, side) is cell.half(row, side)
        cell, inside = cell.half(row, side), inside & (x[:, row] == side)


def test_halves_that_are_known_are_not_cut_again() -> None:
    cell = PatternCell.all(Patterns.of(sides(0, 40, 3)))
    negative, positive = cell.half(1, False), cell.half(1, True)
    copy = PatternCell(cell.group, cell.index, cell.counts)
    copy.set_halves(1, negative, positive)
    assert copy.half(1, False) is negative
    assert copy.half(1, True) is positive
    assert copy.half(2, True) is not cell.half(2, True)


def test_which_patterns_meet_rows_and_sides() -> None:
    x = torch.eye(70, dtype=torch.bool)  # two words: pattern i is on the positive side of row i alone
    cell = PatternCell.all(Patterns.of(x))
    assert cell.meets([0, 0], [0, 0])
    assert cell.meets([1 << 3, 0], [1 << 3, 0])
    assert cell.meets([1 << 3, 1 << 2], [0, 1 << 2])
    assert not cell.meets([1 << 3, 1 << 2], [1 << 3, 1 << 2])
    assert not cell.half(65, True).meets([0, 1 << 2], [0, 0])


def test_the_mass_of_the_same_pattern_in_another_group() -> None:
    one, other = Patterns.of(sides(0, 40, 3)), Patterns.of(sides(1, 50, 3)[:20])
    found = other.mass_of(one.keys)
    for key, mass in zip(one.keys.tolist(), found.tolist(), strict=True):
        assert mass == float(other.mass[other.keys == key].sum())


def test_thousands_of_patterns_are_told_apart() -> None:
    x = sides(0, 5000, 100)
    assert len(set(map(tuple, x.tolist()))) == 5000
    group = Patterns.of(x)
    assert group.mass.tolist() == [1.0] * 5000
    assert torch.equal(group.columns.T, x)  # in order of first occurrence
