"""Greedy deletion against a literal one, on set functions that have no shape at all."""

import random

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from rcexplainer.core import search
from rcexplainer.core.search import greedy, prefer, run_toggled, toggle_each

Removed = frozenset[int]  # units by their place in the whole


class SetFunctions:
    """For every instance an arbitrary function of the set of units removed, by tables that are filled when asked."""

    def __init__(self, sizes: list[int], seed: int, width: int | None = None, levels: int = 5) -> None:
        self.ptr = torch.tensor([0, *sizes]).cumsum(0)
        self.seed, self.width, self.levels = seed, width, levels
        self.asked: list[tuple[int, Removed]] = []

    def units(self, instance: int) -> range:
        return range(int(self.ptr[instance]), int(self.ptr[instance + 1]))

    def at(self, instance: int, removed: Removed) -> list[float]:
        """The same answer to the same question, whatever was asked before; few levels, so that there are ties."""
        chance = random.Random(f"{self.seed} {instance} {sorted(removed)}")
        return [chance.randrange(self.levels) / 4 for _ in range(self.width or 1)]

    def __call__(self, instances: Tensor, removed: Tensor) -> Tensor:
        start, answers = 0, []
        for instance in instances.tolist():
            units = self.units(instance)
            gone = removed[start : start + len(units)].tolist()
            start += len(units)
            question = frozenset(unit for unit, out in zip(units, gone, strict=True) if out)
            self.asked.append((instance, question))
            answers.append(self.at(instance, question))
        assert start == len(removed), "one value for each unit of the copies, no more"
        values = torch.tensor(answers, dtype=torch.float).reshape(len(answers), self.width or 1)
        return values if self.width else values.squeeze(1)


def literal_greedy(
    value: SetFunctions, allowed: list[bool], steps: list[int], state: list[bool]
) -> tuple[list[list[int]], list[list[float]]]:
    """S ← S ∪ {argmin_u value(S ∪ {u})}, one instance after the other, the first of several."""
    paths, values = [], []
    for instance, most in enumerate(steps):
        gone = {unit for unit in value.units(instance) if state[unit]}
        path, seen = [], []
        for _ in range(most):
            options = [unit for unit in value.units(instance) if allowed[unit] and unit not in gone]
            if not options:
                break
            best = min(options, key=lambda unit: value.at(instance, frozenset(gone | {unit}))[0])
            gone.add(best)
            path.append(best)
            seen.append(value.at(instance, frozenset(gone))[0])
        paths.append(path)
        values.append(seen)
    return paths, values


def test_greedy_of_a_sum_takes_the_units_in_the_order_of_their_weight() -> None:
    weights = torch.tensor([1.0, 3.0, 2.0, 5.0, 4.0])
    ptr = torch.tensor([0, 3, 3, 5])

    def value(instances: Tensor, removed: Tensor) -> Tensor:
        starts = [int(ptr[i]) for i in instances]
        sizes = [int(ptr[i + 1] - ptr[i]) for i in instances]
        parts = removed.split(sizes)
        return torch.stack(
            [-(weights[s : s + n] * part).sum() for s, n, part in zip(starts, sizes, parts, strict=True)]
        )

    found = greedy(ptr, value, torch.ones(5, dtype=torch.bool), torch.tensor([2, 3, 9]))
    assert found.units[:, :2].tolist() == [[1, 2], [-1, -1], [3, 4]]
    assert (found.units[:, 2:] == -1).all()
    assert found.values[0, :2].tolist() == [-3.0, -5.0]
    assert found.values[2, :2].tolist() == [-5.0, -9.0]
    assert found.values[:, 2:].isnan().all()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 2**16), st.data())
@settings(max_examples=150, deadline=None)
def test_greedy_is_the_literal_one(sizes: list[int], seed: int, data: st.DataObject) -> None:
    value = SetFunctions(sizes, seed)
    flags = st.lists(st.booleans(), min_size=sum(sizes), max_size=sum(sizes))
    allowed, state = data.draw(flags), data.draw(st.none() | flags)
    steps = data.draw(st.lists(st.integers(0, 6), min_size=len(sizes), max_size=len(sizes)))
    before = None if state is None else torch.tensor(state, dtype=torch.bool)
    kept = None if before is None else before.clone()
    found = greedy(value.ptr, value, torch.tensor(allowed, dtype=torch.bool), torch.tensor(steps), before)
    paths, values = literal_greedy(value, allowed, steps, state or [False] * sum(sizes))
    assert found.units.shape == found.values.shape == (len(sizes), max(steps))
    for instance, (path, seen) in enumerate(zip(paths, values, strict=True)):
        rest = max(steps) - len(path)
        assert found.units[instance].tolist() == path + [-1] * rest
        assert found.values[instance, : len(path)].tolist() == seen
        assert found.values[instance, len(path) :].isnan().all()
    if before is not None:
        assert torch.equal(before, kept), "the starting state is the caller's"


def test_no_step_asks_nothing() -> None:
    def never(*_: Tensor) -> Tensor:
        raise AssertionError

    ptr = torch.tensor([0, 2, 3])
    nothing = torch.zeros(3, dtype=torch.bool)
    assert greedy(ptr, never, ~nothing, torch.tensor([0, 0])).units.shape == (2, 0)
    assert greedy(ptr, never, nothing, torch.tensor([1, 2])).units.tolist() == [[-1, -1], [-1, -1]]
    assert greedy(ptr, never, ~nothing, torch.tensor([2, 1]), state=~nothing).units.tolist() == [[-1, -1], [-1, -1]]
    assert greedy(ptr[:1], never, nothing[:0], torch.empty(0, dtype=torch.long)).units.shape == (0, 0)


@pytest.mark.parametrize("sizes", [[2, 0, 3], [0, 0, 1], [4]])
def test_toggle_each_changes_one_unit_of_one_copy(sizes: list[int]) -> None:
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    state = torch.arange(sum(sizes)) % 2 == 0
    units = torch.arange(sum(sizes)).flip(0)
    instance, removed = toggle_each(ptr, state, units)
    expected: list[bool] = []
    for unit, of in zip(units.tolist(), instance.tolist(), strict=True):
        assert ptr[of] <= unit < ptr[of + 1]
        expected += [bool(state[u]) != (u == unit) for u in range(int(ptr[of]), int(ptr[of + 1]))]
    assert removed.tolist() == expected


def test_toggle_nothing() -> None:
    instance, removed = toggle_each(torch.tensor([0, 2]), torch.tensor([True, False]), torch.empty(0, dtype=torch.long))
    assert len(instance) == len(removed) == 0


INSTANCE = torch.tensor([0, 0, 0, 1, 1, 1])


def test_outside_the_region_near_ties_go_by_the_units_own_effect() -> None:
    """Values are log-odds: −5 and −6 are both nearly 0 as probabilities, 1 and 0.9 are not compared outside."""
    effect = torch.tensor([0.1, 0.9, 0.5, 0.1, 0.9, 0.5])
    value = torch.tensor([-6.0, -5.0, 0.0, 0.9, 1.0, 2.0])
    assert prefer(effect, 0.01)(value, torch.arange(6), INSTANCE, 2).tolist() == [1, 3]
    assert prefer(effect, 0.0)(value, torch.arange(6), INSTANCE, 2).tolist() == [0, 3]


def test_inside_the_region_only_exact_ties_go_by_effect() -> None:
    effect = torch.tensor([0.1, 0.2, 0.9, 0.1, 0.3, 0.2])
    value = torch.tensor([5.0, 5.0, 5.001, 7.0, 7.0, 7.0])
    assert prefer(effect, 0.5)(value, torch.arange(6), INSTANCE, 2).tolist() == [1, 4]


def test_effects_are_those_of_the_units_not_of_the_options() -> None:
    effect = torch.tensor([0.0, 0.9, 0.0, 0.1])
    value, units = torch.tensor([-3.0, -3.0]), torch.tensor([3, 1])
    assert prefer(effect, 0.1)(value, units, torch.tensor([0, 0]), 1).tolist() == [1]


def test_several_values_per_copy_are_kept_in_columns() -> None:
    """By two keys: the second decides where the first ties."""
    ptr = torch.tensor([0, 3])

    def keys(instances: Tensor, removed: Tensor) -> Tensor:
        gone = removed.reshape(len(instances), 3)
        return torch.stack([gone[:, 0].float(), -gone[:, 2].float()], 1)

    def choose(keys: Tensor, units: Tensor, instance: Tensor, num_instances: int) -> Tensor:
        return (10 * keys[:, 0] + keys[:, 1]).argmin().reshape(1)

    found = greedy(ptr, keys, torch.ones(3, dtype=torch.bool), torch.tensor([2]), choose=choose, columns=2)
    assert found.units.tolist() == [[2, 1]]
    assert found.values.tolist() == [[[0.0, -1.0], [0.0, -1.0]]]


def test_copies_are_run_in_pieces_that_fit_into_memory(monkeypatch) -> None:
    value, state = SetFunctions([5, 3, 4], seed=1), torch.zeros(12, dtype=torch.bool)
    units = torch.tensor([0, 1, 4, 5, 9, 11])
    instance, whole = run_toggled(value, value.ptr, state, units)
    assert instance.tolist() == [0, 0, 0, 1, 2, 2]
    sizes: list[int] = []

    def measured(instances: Tensor, removed: Tensor) -> Tensor:
        sizes.append(len(removed))
        return value(instances, removed)

    monkeypatch.setattr(search, "TOGGLED_UNITS", 8)
    again, pieces = run_toggled(measured, value.ptr, state, units)
    assert again.tolist() == instance.tolist()
    assert pieces.tolist() == whole.tolist()
    assert sizes == [10, 8, 8]
    assert len(run_toggled(value, value.ptr, state, units[:0])[1]) == 0


def test_inside_the_region_means_up_to_even_odds() -> None:
    effect, value = torch.tensor([0.1, 0.9]), torch.tensor([0.5, 0.6])
    chosen = [prefer(effect, 0.2)(value - shift, torch.arange(2), torch.tensor([0, 0]), 1).item() for shift in (0, 1)]
    assert chosen == [0, 1]


def test_the_copies_of_a_hub_do_not_exist_all_at_once() -> None:
    """3000 copies with 3000 units each: 9 million units."""
    units, sizes = 3000, []

    def measured(instances: Tensor, removed: Tensor) -> Tensor:
        sizes.append(len(removed))
        return torch.zeros(len(instances))

    run_toggled(measured, torch.tensor([0, units]), torch.zeros(units, dtype=torch.bool), torch.arange(units))
    assert sum(sizes) == units**2
    assert max(sizes) <= search.TOGGLED_UNITS + units
