"""Pruning on models that are tables: what is left flips, is minimal, holds the highest scores; and what it costs."""

from collections.abc import Callable
from math import inf

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import example, given, settings
from torch import Tensor

from rcexplainer.core.budget import Meter
from rcexplainer.core.counterfactual import FlipQuery, Removal, prune

Flips = Callable[[Tensor], bool]  # the units removed from an instance [its units] bool → whether that flips


class Model:
    """Two classes; an instance is of class 1, with probability .8, where its rule says so."""

    def __init__(self, sizes: list[int], rules: list[Flips]) -> None:
        self.ptr, self.rules, self.copies = torch.tensor([0, *sizes]).cumsum(0), rules, 0

    def __call__(self, instances: Tensor, removed: Tensor) -> Tensor:
        self.copies += len(instances)
        rows = removed.split(self.ptr.diff()[instances].tolist())
        p = [0.2 if self.rules[i](row) else 0.8 for i, row in zip(instances.tolist(), rows, strict=True)]
        return torch.tensor([[x, 1 - x] for x in p]).reshape(-1, 2).log()

    def pruned(self, scores: Tensor, runs: float = inf, flipped: list[bool] | None = None, **known) -> Removal:
        """Prune the removal of all units."""
        number = len(self.rules)
        query = FlipQuery(self.ptr, self, torch.zeros(number).long(), meter=Meter(number, runs, torch.device("cpu")))
        self.copies = 0
        chosen = torch.tensor(flipped or [True] * number)
        return prune(query, scores, torch.ones(len(scores)).bool(), chosen, **known)


def needs(units: set[int]) -> Flips:
    return lambda removed: bool(removed[sorted(units)].all())


def at_counts(flipping: list[bool]) -> Flips:
    """It depends on nothing but how many units are gone."""
    return lambda removed: flipping[int(removed.sum())]


def random_scores(number: int, seed: int = 0) -> Tensor:
    return torch.randperm(number, generator=torch.Generator().manual_seed(seed)) / max(1, number)


SIZES = st.integers(1, 40) | st.integers(250, 300)


@given(st.lists(SIZES, min_size=1, max_size=3), st.data())
@settings(max_examples=20, deadline=None)
def test_the_units_that_are_needed_stay_and_no_others(sizes: list[int], data: st.DataObject) -> None:
    needed = [set(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=12))) for size in sizes]
    model = Model(sizes, [needs(own) for own in needed])
    found = model.pruned(random_scores(sum(sizes), data.draw(st.integers(0, 99))))
    for removed, own in zip(found.removed.split(sizes), needed, strict=True):
        assert set(removed.nonzero().flatten().tolist()) == own
    assert found.minimal.all()


@given(st.lists(st.tuples(SIZES, st.integers(0, 2**16)), min_size=1, max_size=3), st.sampled_from([0.2, 0.5, 0.9]))
@settings(max_examples=25, deadline=None)
@example([(12, 0), (300, 1), (600, 2)], 0.5)
def test_what_is_left_flips_and_is_minimal_where_flips_are_not_monotone(cases, share: float) -> None:
    """Any number of units may flip or not. What is left is the top of the ranking, as the lowest scores go back first;
    only of very long removals parts go back that lie anywhere."""
    sizes, tables = [size for size, _ in cases], []
    for size, seed in cases:
        table = torch.rand(size + 1, generator=torch.Generator().manual_seed(seed)) < share
        table[0], table[-2:] = False, True  # all can go, and any one of them back
        tables.append(table.tolist() if size > 1 else [False, True])
    model, scores = Model(sizes, [at_counts(table) for table in tables]), random_scores(sum(sizes))
    found = model.pruned(scores)
    for removed, own, table in zip(found.removed.split(sizes), scores.split(sizes), tables, strict=True):
        left = int(removed.sum())
        assert table[left]
        assert not table[left - 1]
        if len(own) < 256:
            assert set(removed.nonzero().flatten().tolist()) == set(own.argsort(descending=True)[:left].tolist())
    assert found.minimal.all()


@pytest.mark.parametrize("size", [5, 12, 40, 255, 256, 700])
def test_of_units_that_do_equally_well_the_highest_scores_stay(size: int) -> None:
    for enough in (1, 3, size // 2, size - 1, size):
        model, scores = (
            Model([size], [lambda removed, enough=enough: int(removed.sum()) >= enough]),
            random_scores(size),
        )
        found = model.pruned(scores)
        assert torch.equal(found.removed, scores >= scores.sort(descending=True).values[enough - 1])
        assert found.minimal.tolist() == [True]


def test_what_is_not_flipped_is_left_alone_and_costs_nothing() -> None:
    sizes = [300, 20, 300]
    model = Model(sizes, [needs({1}), needs({2}), needs({3})])
    found = model.pruned(random_scores(620), flipped=[False, False, False])
    assert (model.copies, bool(found.removed.all()), found.minimal.tolist()) == (0, True, [False] * 3)
    found = model.pruned(random_scores(620), flipped=[False, True, False])
    assert [int(own.sum()) for own in found.removed.split(sizes)] == [300, 1, 300]
    assert found.minimal.tolist() == [False, True, False]


@given(st.integers(1, 40) | st.just(300), st.integers(0, 60), st.data())
@settings(max_examples=25, deadline=None)
def test_within_any_budget_what_is_left_flips_and_no_more_is_claimed_than_was_seen(size, runs, data) -> None:
    needed = set(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=6)))
    model = Model([size], [needs(needed)])
    found = model.pruned(random_scores(size), runs)
    left = set(found.removed.nonzero().flatten().tolist())
    assert model.copies <= runs
    assert needed <= left
    assert found.flipped.all()
    assert not found.minimal.any() or left == needed
    assert model.pruned(random_scores(size), 10_000).minimal.all()


def test_units_known_to_be_needed_are_not_put_back() -> None:
    """The last unit of a shortest prefix: as long as nothing else went back, one run less."""
    model, scores = Model([3], [needs({0, 1, 2})]), torch.tensor([0.9, 0.8, 0.7])
    assert model.pruned(scores, needed=torch.tensor([False, False, True])).minimal.all()
    assert model.copies == 2


@pytest.mark.parametrize(
    ("size", "rule", "left", "runs"),
    [(1, needs({0}), [0], 0), (2, needs({0}), [0], 3), (1, lambda removed: True, [], 1)],
    ids=["the only unit", "one of two", "what flips anyway"],
)
def test_the_instance_as_it_was_is_not_run_again(size: int, rule: Flips, left: list[int], runs: int) -> None:
    model = Model([size], [rule])
    before = model(torch.tensor([0]), torch.zeros(size).bool())
    query = FlipQuery(model.ptr, model, torch.tensor([0]), before=before)
    model.copies = 0
    found = prune(query, torch.linspace(1, 0, size), torch.ones(size).bool(), torch.tensor([True]))
    assert (found.removed.nonzero().flatten().tolist(), found.minimal.tolist()) == (left, [True])
    assert model.copies <= runs


@pytest.mark.parametrize("size", [3, 16])
def test_what_was_needed_at_first_is_put_back_where_others_went_back_before(size: int) -> None:
    """Without the last unit nothing flips, unless about half of the others are there again."""
    model = Model([size], [lambda removed: bool(removed[0]) and (bool(removed[-1]) or int(removed.sum()) <= size // 2)])
    scores, last = torch.linspace(1, 0, size), torch.zeros(size).bool()
    scores[-1], last[-1] = 2.0, True
    found = model.pruned(scores, needed=last)
    assert found.removed.nonzero().flatten().tolist() == [0]
    assert found.minimal.all()


@pytest.mark.parametrize(
    ("size", "needed", "bound"), [(256, {30, 255}, 150), (1024, {3, 500, 900}, 200), (4096, {0, 1000, 4000}, 300)]
)
def test_few_units_are_found_anywhere_in_a_very_long_removal(size: int, needed: set[int], bound: int) -> None:
    """One by one the first round alone would cost a run for every unit."""
    model = Model([size], [needs(needed)])
    found = model.pruned(torch.linspace(1, 0, size))
    assert set(found.removed.nonzero().flatten().tolist()) == needed
    assert model.copies < bound


def test_a_very_long_removal_of_which_all_is_needed_costs_a_run_for_every_unit_and_some() -> None:
    model = Model([300], [needs(set(range(300)))])
    assert model.pruned(torch.linspace(1, 0, 300)).minimal.all()
    assert model.copies <= 300 + 16 + 8  # the sixteenths; a half, a quarter, …


def test_many_units_that_can_go_back_one_by_one_go_back_together() -> None:
    """Any 30 of 60 units and the first of them: the lowest scores are needed least, and go back in few rounds."""
    model = Model([60], [lambda removed: bool(removed[59]) and int(removed.sum()) >= 30])
    found = model.pruned(torch.linspace(1, 0, 60))
    assert found.removed.nonzero().flatten().tolist() == [*range(29), 59]
    assert model.copies < 400  # one by one about 60 + 59 + … + 31 = 1,365


@pytest.mark.parametrize("size", [9, 10, 17])
def test_all_that_can_go_back_do_so_in_one_round_if_they_are_many(size: int) -> None:
    """Blocks fail, as the unit with the lowest score is needed; then each is tried alone, then 2, 4, 8, … and all."""
    model = Model([size], [needs({size - 1})])
    found = model.pruned(torch.linspace(1, 0, size))
    assert found.removed.nonzero().flatten().tolist() == [size - 1]
    blocks, together = {9: (1, 3), 10: (1, 4), 17: (2, 4)}[size]
    assert model.copies <= blocks + size + together + 1


@pytest.mark.parametrize("back", [2, 4, 8])
def test_as_many_of_2_4_8_as_can_go_back_do_so_in_one_round(back: int) -> None:
    """The lowest score is needed, and so many others that after this round none can go back."""
    model = Model([20], [lambda removed: bool(removed[19]) and int(removed.sum()) >= 20 - back])
    found = model.pruned(torch.linspace(1, 0, 20))
    assert found.removed.nonzero().flatten().tolist() == [*range(19 - back), 19]
    assert model.copies <= 2 + 20 + 5 + (20 - back)  # blocks of 10, 5; each alone; 2, 4, 8, 16, 19; each that is left


def test_wherever_the_budget_ends_what_is_left_was_tried() -> None:
    """Flips with 12, 11 or 9 units gone: two more may not go back with the first, three could."""
    model = Model([12], [at_counts([count in (9, 11, 12) for count in range(13)])])
    for runs in range(60):
        assert int(model.pruned(random_scores(12), runs).removed.sum()) in (9, 11, 12)


def test_what_an_instance_costs_does_not_depend_on_those_beside_it() -> None:
    sizes = [12, 0, 600, 40, 1]
    rules = [needs({0, 11}), needs(set()), needs({5, 300, 599}), needs({39}), needs({0})]

    def spent(chosen: list[int]) -> list[int]:
        model = Model([sizes[i] for i in chosen], [rules[i] for i in chosen])
        meter = Meter(len(chosen), inf, torch.device("cpu"))
        query = FlipQuery(model.ptr, model, torch.zeros(len(chosen)).long(), meter=meter)
        scores = torch.cat([torch.linspace(1, 0, sizes[i]) for i in chosen])
        prune(query, scores, torch.ones(len(scores)).bool(), torch.ones(len(chosen)).bool())
        return meter.spent.tolist()

    assert spent([0, 1, 2, 3, 4]) == [spent([i])[0] for i in range(5)]
