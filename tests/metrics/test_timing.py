"""Times are counted, not judged: what is timed, and how the numbers hang together."""

import pytest
import torch

from rcexplainer.errors import RCExplainerError
from rcexplainer.metrics import explain_time, timing


class Slow:
    """Takes 3 s for the first call and 1 s for every other, however many graphs; a clock stands beside it."""

    def __init__(self, monkeypatch) -> None:
        self.now, self.calls = 0.0, []
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)

    def explain(self, graphs, *, search, on_error):
        self.now += 1.0 if self.calls else 3.0
        self.calls.append((len(graphs), search, on_error))


def test_the_first_is_told_apart_and_all_are_timed_together(monkeypatch) -> None:
    slow = Slow(monkeypatch)
    found = explain_time(slow, [object()] * 5, search="prefix")
    assert slow.calls == [(1, "prefix", "keep")] * 5 + [(5, "prefix", "keep")]
    assert (found.cold, found.mean, found.std, found.median, found.p95) == (3.0, 1.0, 0.0, 1.0, 1.0)
    assert found.batched == pytest.approx(1 / 5)
    assert found.better == "lower"


def test_one_graph_is_not_enough() -> None:
    with pytest.raises(RCExplainerError, match="at least two graphs"):
        explain_time(None, [torch.zeros(1)])


def test_a_summary_by_hand() -> None:
    """Warm: 1, 2, 3: their population deviation is √(2/3), the 95th percentile 2 + .9."""
    found = timing.summary([9.0, 1.0, 3.0, 2.0], 0.25)
    assert (found.graphs, found.cold, found.mean, found.median, found.batched) == (4, 9.0, 2.0, 2.0, 0.25)
    assert found.std == pytest.approx((2 / 3) ** 0.5)
    assert found.p95 == pytest.approx(2.9)


def test_a_single_time_is_cold() -> None:
    found = timing.summary([9.0], 1.0)
    assert found.cold == 9.0
    assert found.mean != found.mean
