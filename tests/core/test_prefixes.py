"""The shortest flipping prefix against a literal walk through all lengths, and what finding it costs."""

from math import inf

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import example, given, settings
from torch import Tensor

from rcexplainer.core.budget import Meter
from rcexplainer.core.counterfactual import FlipQuery
from rcexplainer.core.prefixes import best_prefix

LEVELS = (0.9, 0.8, 0.7, 0.6)  # p of the predicted class where it is still the largest
FLIP = 0.1


class ByLength:
    """Two classes; class 0 of instance i has probability `tables[i][k]` when k of its units are gone."""

    def __init__(self, tables: list[list[float]]) -> None:
        self.tables, self.tried = tables, [list[int]() for _ in tables]
        self.ptr = torch.tensor([0, *(len(table) - 1 for table in tables)]).cumsum(0)

    def __call__(self, instances: Tensor, removed: Tensor) -> Tensor:
        gone = [int(copy.sum()) for copy in removed.split(self.ptr.diff()[instances].tolist())]
        for instance, length in zip(instances.tolist(), gone, strict=True):
            self.tried[instance].append(length)
        p = torch.tensor([self.tables[i][k] for i, k in zip(instances.tolist(), gone, strict=True)])
        return torch.stack([p, 1 - p], 1).log()

    def query(self, runs: float | None = None, share: float = 1.0) -> FlipQuery:
        meter = None if runs is None else Meter(len(self.tables), runs, torch.device("cpu"))
        before = torch.tensor([[table[0], 1 - table[0]] for table in self.tables]).reshape(-1, 2).log()
        source = torch.zeros(len(self.tables), dtype=torch.long)
        return FlipQuery(self.ptr, self, source, max_share=share, before=before, meter=meter)


def literal(table: list[float], most: int) -> tuple[int, bool]:
    """The shortest length that flips; or else that of the largest drop, the shortest of several."""
    for length in range(most + 1):
        if table[length] < 0.5:
            return length, True
    return min(range(most + 1), key=lambda length: table[length]), False


def flips_at(size: int, *lengths: int) -> list[float]:
    return [FLIP if length in lengths else 0.9 for length in range(size + 1)]


@st.composite
def tables(draw) -> list[float]:
    size = draw(st.integers(0, 8) | st.integers(55, 300))
    seed = draw(st.integers(0, 2**16))
    random = torch.Generator().manual_seed(seed)
    table = [LEVELS[level] for level in torch.randint(4, (size + 1,), generator=random).tolist()]
    for length in draw(st.lists(st.integers(1, size), max_size=2)) if size else []:
        table[length] = FLIP
    return table


@given(st.lists(tables(), min_size=1, max_size=3), st.sampled_from([0.5, 1.0]), st.integers(0, 2**16))
@example([flips_at(128, 64), flips_at(128, 65), flips_at(3, 1)], 0.5, 0)  # where probing begins, and next to it
@example([flips_at(64, 64), flips_at(63, 63), flips_at(2)], 1.0, 0)
@example([flips_at(300, 128), flips_at(300, 127, 200), flips_at(300, 256)], 1.0, 0)
@settings(max_examples=60, deadline=None)
def test_the_shortest_prefix_that_flips_or_the_largest_drop(own: list[list[float]], share: float, seed: int) -> None:
    """Of rankings short and long, searched together; only every unit that is allowed counts."""
    model, random = ByLength(own), torch.Generator().manual_seed(seed)
    units = int(model.ptr[-1])
    scores, allowed = torch.rand(units, generator=random), torch.rand(units, generator=random) < 0.95
    removed, flipped, last = best_prefix(model.query(share=share), scores, allowed)
    for instance, table in enumerate(own):
        start, end = model.ptr[instance : instance + 2].tolist()
        usable = [unit for unit in range(start, end) if allowed[unit]]
        ranking = sorted(usable, key=lambda unit: -float(scores[unit]))
        size = len(table) - 1
        length, flips = literal(table, min(len(usable), max(1, int(share * size)), size))
        assert {u for u in range(start, end) if removed[u]} == set(ranking[:length])
        assert bool(flipped[instance]) == flips
        assert [u for u in range(start, end) if last[u]] == (ranking[length - 1 : length] if flips else [])


def searched(table: list[float], runs: float | None = None) -> tuple[ByLength, int, bool, bool]:
    """The model, the length found, whether it flips, and whether its last unit is said to be needed."""
    model = ByLength([table])
    size = len(table) - 1
    removed, flipped, last = best_prefix(model.query(runs), torch.linspace(1, 0, size), torch.ones(size).bool())
    return model, int(removed.sum()), bool(flipped), bool(last.any())


@pytest.mark.parametrize("first", [1, 2, 3, 4, 7, 8, 31, 32, 63])
def test_no_prefix_is_run_twice_and_none_twice_as_long_as_the_first_that_flips(first: int) -> None:
    model, length, flipped, _ = searched(flips_at(200, first, 150))
    assert (length, flipped) == (first, True)
    assert len(model.tried[0]) == len(set(model.tried[0]))
    assert max(model.tried[0]) < 2 * first


def test_what_flips_is_not_run_again_while_others_go_on() -> None:
    model = ByLength([flips_at(200, 2), flips_at(200, 180), flips_at(0)])
    best_prefix(model.query(), torch.linspace(1, 0, 400), torch.ones(400).bool())
    assert sorted(model.tried[0]) == [1, 2, 3]
    assert model.tried[2] == []


@pytest.mark.parametrize("first", [64, 90, 100, 250, 300, 900, 1000])
def test_a_few_dozen_runs_find_a_prefix_at_most_a_quarter_too_long(first: int) -> None:
    """A prediction that stays flipped from some length on, and a budget for a tenth of all prefixes.

    Half of the budget is for pruning: 76 runs are left, of which 63 are those of the shortest prefixes.
    """
    table = [0.9] * first + [FLIP] * (1001 - first)
    model, length, flipped, needed = searched(table, runs=2 * (63 + 13))
    assert flipped
    assert first <= length <= 1.25 * first + 1
    assert len(model.tried[0]) <= 76
    assert not needed  # the budget ended before all shorter ones were tried


def test_where_the_budget_ends_the_largest_drop_seen_is_kept() -> None:
    """No length flips; the longest, which is probed, drops most, and shorter ones are tried after it."""
    table = [0.9] * 1000 + [0.6]
    table[70] = 0.8
    _, length, flipped, _ = searched(table, runs=2 * (63 + 13 + 20))
    assert (length, flipped) == (1000, False)


def test_the_longest_prefix_is_probed_if_only_by_one_longer_than_the_probe_before() -> None:
    _, length, flipped, _ = searched(flips_at(81, 81), runs=2 * (63 + 2))
    assert (length, flipped) == (81, True)


def test_the_longest_prefix_of_a_ranking_is_probed_once_beside_longer_ones() -> None:
    model = ByLength([flips_at(100), flips_at(1000)])
    best_prefix(model.query(), torch.linspace(1, 0, 1100), torch.ones(1100).bool())
    assert model.tried[0].count(100) == 2  # as a probe, and when every length is tried


@pytest.mark.parametrize(("size", "first"), [(1000, 79), (1000, 99), (1000, 64), (129, 128), (128, 127)])
def test_the_prefix_one_shorter_than_a_probe_is_tried(size: int, first: int) -> None:
    _, length, flipped, needed = searched([0.9] * first + [FLIP] * (size + 1 - first))
    assert (length, flipped, needed) == (first, True, True)


def test_with_budget_enough_the_last_unit_is_needed() -> None:
    _, length, flipped, needed = searched(flips_at(1000, 300, 400), runs=10_000)
    assert (length, flipped, needed) == (300, True, True)


def test_beyond_the_probes_no_length_is_tried_twice_that_of_the_first_that_flips() -> None:
    """Of 1,000 lengths the first that flips is 130, which no probe hits."""
    model, length, flipped, _ = searched(flips_at(1000, 130, 1000), runs=inf)
    assert (length, flipped) == (130, True)
    assert sum(tried >= 260 for tried in model.tried[0]) <= 10  # probes: each a quarter longer than the one before
    assert len(model.tried[0]) <= 255 + 13


def test_where_every_length_is_probed_without_a_flip_each_is_tried() -> None:
    model, length, flipped, _ = searched([0.9] * 70 + [0.6] + [0.9] * 30)
    assert (length, flipped) == (70, False)
    assert set(model.tried[0]) == set(range(1, 101))
    assert len(model.tried[0]) <= 100 + 3  # 80, 100 and no other twice


def test_no_instance_and_no_units() -> None:
    nothing = torch.empty(0)
    for own in ([], [[0.9]]):
        model = ByLength(own)
        removed, flipped, last = best_prefix(model.query(), nothing, nothing.bool())
        assert (removed.tolist(), flipped.tolist(), last.tolist()) == ([], [False] * len(own), [])
