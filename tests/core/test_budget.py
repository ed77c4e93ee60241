"""Budgets: what is not granted is not run, and the search says so."""

from math import inf, nan

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given
from torch import Tensor

from rcexplainer.core import budget
from rcexplainer.core.budget import DEFAULT_RUNS, Deadline, Meter, Seconds, checked_budget, checked_runs
from rcexplainer.core.counterfactual import FlipQuery, greedy_search, prefix_search, verify
from rcexplainer.errors import RCExplainerError

CPU = torch.device("cpu")


def test_runs_are_granted_to_each_instance_until_its_budget_is_spent() -> None:
    meter = Meter(3, 3, CPU)
    assert meter.granted(torch.tensor([0, 0, 2])).tolist() == [True, True, True]
    assert not meter.exhausted.any()
    assert meter.granted(torch.tensor([0, 0, 1, 1, 2])).tolist() == [True, False, True, True, True]
    assert meter.spent.tolist() == [3, 2, 2]
    assert meter.exhausted.tolist() == [True, False, False]


def test_a_share_of_the_budget_leaves_the_rest_for_later() -> None:
    meter = Meter(1, 10, CPU)
    with meter.share(0.5):
        assert int(meter.granted(torch.zeros(8).long()).sum()) == 5
    assert int(meter.granted(torch.zeros(8).long()).sum()) == 5
    assert meter.exhausted.all()


def test_time_is_shared_by_the_instances(monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr(budget.time, "monotonic", lambda: now[0])
    meter = Meter(2, Seconds(1.5), CPU)
    now[0] = 102.9
    assert meter.granted(torch.tensor([0, 1])).all()
    now[0] = 103.1
    assert not meter.granted(torch.tensor([1, 1])).any()
    assert meter.exhausted.tolist() == [False, True]


def test_a_deadline_is_the_same_moment_for_any_number_of_instances(monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr(budget.time, "monotonic", lambda: now[0])
    meter = Meter(9, Deadline(101.5), CPU)
    now[0] = 101.4
    assert meter.timed
    assert meter.granted(torch.tensor([0, 8])).all()
    now[0] = 101.6
    assert not meter.granted(torch.tensor([0, 8])).any()
    assert not Meter(1, 5, CPU).timed


def test_a_stage_has_runs_of_its_own_and_a_share_of_the_time_left(monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr(budget.time, "monotonic", lambda: now[0])
    meter = Meter(2, Deadline(104.0), CPU)
    now[0] = 102.0
    with meter.share(0.5):
        stage = meter.stage(3)
    assert stage.granted(torch.tensor([0, 0, 0, 0])).tolist() == [True, True, True, False]
    assert meter.spent.tolist() == [0, 0]
    assert not meter.exhausted.any()  # runs of the stage are its own affair
    now[0] = 103.1
    assert not stage.granted(torch.tensor([1])).any()
    assert meter.exhausted.tolist() == [False, True]  # the time is not
    assert meter.granted(torch.tensor([0])).all()


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, nan, "many", -inf])
def test_impossible_budgets(wrong) -> None:
    with pytest.raises(RCExplainerError, match="budget must be a whole number ≥ 1"):
        checked_budget(wrong)


@pytest.mark.parametrize("wrong", [0, -1.0, nan, True, "1"])
def test_impossible_seconds(wrong) -> None:
    with pytest.raises(RCExplainerError, match="Seconds takes a number above 0"):
        Seconds(wrong)


def test_possible_budgets() -> None:
    assert checked_budget(None) == DEFAULT_RUNS
    assert checked_budget(7) == 7
    assert checked_budget(inf) == inf
    assert checked_budget(Seconds(2)) == Seconds(2)
    assert checked_budget(Deadline(2)) == Deadline(2)


class Counting:
    """Flips without all of the first `needed` units of one instance; counts the copies it is asked for."""

    def __init__(self, size: int, needed: int) -> None:
        self.size, self.needed, self.copies = size, needed, 0

    def __call__(self, instances: Tensor, removed: Tensor) -> Tensor:
        self.copies += len(instances)
        p = torch.where(removed.reshape(-1, self.size)[:, : self.needed].all(1), 0.2, 0.8)
        return torch.stack([p, 1 - p], 1).log()


def bounded(model: Counting, scores: Tensor, runs: float, search=prefix_search):
    meter = Meter(1, runs, CPU)
    before = torch.tensor([[0.8, 0.2]]).log()
    query = FlipQuery(torch.tensor([0, model.size]), model, torch.tensor([0]), before=before, meter=meter)
    found = search(query, scores, torch.ones(model.size, dtype=torch.bool))
    return found, verify(query, found), meter


@pytest.mark.parametrize("search", [prefix_search, greedy_search])
@pytest.mark.parametrize("runs", [1, 2, 5, 40])
def test_a_search_never_runs_more_copies_than_its_budget(search, runs: int) -> None:
    model = Counting(40, 9)
    found, final, meter = bounded(model, torch.linspace(1, 0, 40), runs, search)
    assert int(meter.spent) <= runs
    assert model.copies <= runs + 2  # the final run, and the state that greedy deletion starts from
    assert final.flipped.tolist() == found.flipped.tolist()
    if bool(meter.exhausted):
        assert not final.minimal.any() or int(found.removed.sum()) == 9


def test_the_first_prefix_that_flips_ends_the_search() -> None:
    model = Counting(1000, 2)
    found, final, _ = bounded(model, torch.linspace(1, 0, 1000), inf)
    assert found.removed.nonzero().flatten().tolist() == [0, 1]
    assert final.minimal.all()
    assert model.copies < 8


def test_a_long_ranking_is_answered_within_a_small_budget() -> None:
    """The two units that matter are the last of the first 400: probing finds a flip, pruning the units."""
    model = Counting(1000, 2)
    scores = torch.linspace(1, 0, 1000)
    scores[:2] = scores[400] - 1e-5
    found, final, meter = bounded(model, scores, 200)
    assert meter.exhausted.all()  # not every shorter prefix was tried
    assert found.removed.nonzero().flatten().tolist() == [0, 1]
    assert final.flipped.all()
    assert int(meter.spent) <= 200


def test_nothing_is_minimal_that_was_not_put_back() -> None:
    model = Counting(40, 9)
    _, final, meter = bounded(model, torch.linspace(1, 0, 40), 16)  # enough to find the flip, not to put back each unit
    assert final.flipped.all()
    assert meter.exhausted.all()
    assert not final.minimal.any()


@given(st.integers(0, 6), st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_meter_is_the_literal_one(limit: int, rounds: list[list[int]]) -> None:
    """Each round asks for some copies of each of three instances; each is granted while its budget lasts."""
    meter, spent, refused = Meter(3, limit, CPU), [0, 0, 0], [False] * 3
    for asked in rounds:
        wanted = []
        for one, number in enumerate(asked):
            for _ in range(number):
                wanted.append(spent[one] < limit)
                spent[one] += wanted[-1]
                refused[one] |= not wanted[-1]
        instance = torch.arange(3).repeat_interleave(torch.tensor(asked))
        assert meter.granted(instance).tolist() == wanted
        assert meter.spent.tolist() == spent
        assert meter.exhausted.tolist() == refused


def test_a_ranking_may_cost_one_run_and_not_less() -> None:
    assert checked_runs(None) is None
    assert checked_runs(1) == 1
    assert checked_runs(10**9) == 10**9
    for wrong in (0, -1, True, 1.5, "8"):
        with pytest.raises(RCExplainerError, match="refine must be a whole number ≥ 1"):
            checked_runs(wrong)  # type: ignore[arg-type]


def test_who_asks_for_nothing_is_refused_nothing() -> None:
    """The first instance has spent more than the share that is granted now, but it does not ask."""
    meter = Meter(2, 10, CPU)
    assert meter.granted(torch.tensor([0] * 8)).all()
    with meter.share(0.5):
        assert int(meter.granted(torch.tensor([1] * 6)).sum()) == 5
    assert meter.exhausted.tolist() == [False, True]
