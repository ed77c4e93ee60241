"""Several starts: how they differ, and which of them are kept."""

from types import SimpleNamespace
from typing import Any

import pytest

from rcexplainer.config import RCConfig, make_config
from rcexplainer.fit.restarts import kept, starts
from rcexplainer.fit.train import Trained


def run(name: str, loss: float, size: float = 6.0, collapse: str | None = None) -> tuple[RCConfig, Trained]:
    net: Any = SimpleNamespace(name=name)
    return RCConfig(target_size=size), Trained(net, (), loss, collapse)


def names(runs: list[Trained]) -> str:
    return "".join(one.net.name for one in runs)  # type: ignore[attr-defined]


def test_every_second_start_is_pressed_and_every_second_pair_may_keep_more() -> None:
    found = starts(RCConfig(restarts=6, press=5.0, target_size=6.0, widen=2.0), 12.5)
    assert [(one.press, one.target_size) for one in found] == [(1, 6), (5, 6), (1, 12), (5, 12), (1, 6), (5, 6)]
    alike = starts(RCConfig(restarts=3), 40.0)
    assert alike == [RCConfig(restarts=3)] * 3


def test_a_target_that_is_more_than_there_is_would_ask_nothing() -> None:
    found = starts(RCConfig(restarts=4, target_size=6.0, widen=2.0), 12.0)
    assert [one.target_size for one in found] == [6.0] * 4


def test_the_node_default_has_as_many_starts_of_each_kind() -> None:
    found = starts(make_config("default", {}, "node"), 40.0)
    kinds = [(one.press, one.target_size) for one in found]
    assert {kinds.count(kind) for kind in set(kinds)} == {2}
    assert len(set(kinds)) == 4


def test_the_lowest_losses_are_kept_best_first() -> None:
    runs = [run("a", 0.3), run("b", 0.1), run("c", 0.2)]
    assert names(kept(runs, 2)) == "bc"
    assert names(kept(runs, 1)) == "b"
    assert names(kept(runs, 9)) == "bca"


def test_losses_are_compared_only_where_as_many_edges_are_allowed() -> None:
    runs = [run("a", 0.3), run("b", 0.2), run("c", 0.01, 12.0), run("d", 0.02, 12.0), run("e", 0.03, 12.0)]
    assert names(kept(runs, 4)) == "bcad"
    assert names(kept(runs, 5)) == "bcade"


@pytest.mark.parametrize("most", [1, 3])
def test_what_collapsed_is_kept_only_if_all_have(most) -> None:
    runs = [run("a", 0.1, collapse="empty"), run("b", 0.2, collapse="full")]
    assert names(kept(runs, most)) == "a"
    assert names(kept([*runs, run("c", 0.9)], most)) == "c"
