"""Patterns and cells against plain sums over instances."""

import hypothesis.strategies as st
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core.patterns import Cell, Patterns


def sides(seed: int, instances: int, rows: int) -> Tensor:
    return torch.rand(instances, rows, generator=torch.Generator().manual_seed(seed)) < 0.4


@given(st.integers(0, 2**32), st.integers(0, 60), st.integers(1, 5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_cells_count_their_instances(seed: int, instances: int, rows: int, weighted: bool) -> None:
    x, random = sides(seed, instances, rows), torch.Generator().manual_seed(seed)
    weights = torch.rand(instances, generator=random, dtype=torch.float64) + 0.01 if weighted else None
    mass = torch.ones(instances, dtype=torch.float64) if weights is None else weights
    cell, inside = Cell.all(Patterns.of(x, weights)), torch.ones(instances, dtype=torch.bool)
    for row in torch.randperm(rows, generator=random).tolist():
        assert cell.instances.tolist() == inside.nonzero().flatten().tolist()
        assert abs(cell.size - float(mass[inside].sum())) < 1e-12 * max(1, instances)
        torch.testing.assert_close(cell.counts[:-1], (mass[:, None] * x)[inside].sum(0))
        assert cell.halves(row) is cell.halves(row)
        side = bool(torch.rand(1, generator=random) < 0.5)
        cell, inside = cell.halves(row)[side], inside & (x[:, row] == side)


def test_sums_of_weights_are_exact() -> None:
    """0.1 + 0.2 against 0.3: in float64 they differ; ten billion times smaller weights still count."""
    x = torch.tensor([[True], [True], [False], [False]])
    cell = Cell.all(Patterns.of(x, torch.tensor([0.1, 0.2, 0.3, 1e-11], dtype=torch.float64)))
    negative, positive = cell.halves(0)
    assert negative.size + positive.size == cell.size
    assert negative.size > 0.3
    assert bool((Patterns.of(x, torch.tensor([1.0, 1.0, 1.0, 1e-30])).mass > 0).all())


def test_which_patterns_meet_rows_and_sides() -> None:
    x = torch.eye(70, dtype=torch.bool)  # two words: pattern i is on the positive side of row i alone
    cell = Cell.all(Patterns.of(x))
    assert cell.meets([0, 0], [0, 0])
    assert cell.meets([1 << 3, 0], [1 << 3, 0])
    assert cell.meets([1 << 3, 1 << 2], [0, 1 << 2])
    assert not cell.meets([1 << 3, 1 << 2], [1 << 3, 1 << 2])
    assert not cell.halves(65)[True].meets([0, 1 << 2], [0, 0])


def test_the_mass_of_the_same_pattern_in_another_group() -> None:
    one, other = Patterns.of(sides(0, 40, 3)), Patterns.of(sides(1, 50, 3)[:20])
    found = other.mass_of(one.keys)
    for key, mass in zip(one.keys.tolist(), found.tolist(), strict=True):
        assert mass == float(other.mass[other.keys == key].sum())
