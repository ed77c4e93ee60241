"""Times: on one thread, and no longer than they have to take."""

import pytest
import torch

from rcexplainer.benchmark import cost
from rcexplainer.benchmark.cost import clock, milliseconds, one_thread


@pytest.fixture(autouse=True)
def as_many_as_usual(monkeypatch, toys) -> None:
    monkeypatch.setattr(cost, "ALONE_MOST", 50)


def test_times_are_taken_on_one_thread(case) -> None:
    one = clock(case, "occlusion", most=4, progress=False)
    assert (one.timed, one.batch, one.threads) == (4, 4, 1)
    assert 0 < one.seconds <= one.seconds_p95
    assert one.seconds_std >= 0
    assert min(one.cold, one.batched, one.fit) > 0
    assert "attention" in clock(case, "attention", progress=False).skipped


def test_afterwards_there_are_as_many_threads_as_before() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_the_clock_stops_when_a_method_is_slow(case, at_random, monkeypatch) -> None:
    now = iter(range(1000))
    monkeypatch.setattr(cost.time, "perf_counter", lambda: float(next(now)))
    places = case.some(None) * 10
    assert cost._alone(case, at_random, places) == [1.0] * (cost.ALONE_LEAST + 1)
    assert len(cost._alone(case, at_random, places[:3])) == 3


def test_milliseconds() -> None:
    assert [milliseconds(seconds) for seconds in (0.00123, 0.1, 12.5, float("nan"))] == ["1.23", "100", "12,500", "–"]
