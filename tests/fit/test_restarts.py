"""Restarts: how they differ, and which of them make the ensemble."""

from types import SimpleNamespace
from typing import Any

import pytest

from rcexplainer.config import RCConfig, make_config
from rcexplainer.fit.objective import Restarts
from rcexplainer.fit.train import TrainedNetwork, best_restarts, restart_settings


def run(name: str, loss: float, size: float = 6.0, collapse: str | None = None) -> TrainedNetwork:
    net: Any = SimpleNamespace(name=name)
    return TrainedNetwork(net, (), loss, collapse, size)


def names(runs: list[TrainedNetwork]) -> str:
    return "".join(one.net.name for one in runs)  # type: ignore[attr-defined]


def test_every_second_restart_is_pressed_and_every_second_pair_may_keep_more() -> None:
    found = restart_settings(RCConfig(restarts=6, target_size=6.0), 12.5)
    assert found == Restarts(press=(1, 5, 1, 5, 1, 5), target_size=(6, 6, 12, 12, 6, 6))
    assert found.some(2, 4) == Restarts(press=(1, 5), target_size=(12, 12))
    assert restart_settings(RCConfig(restarts=3), 40.0).target_size == (0.0,) * 3


def test_a_target_size_beyond_all_units_would_penalise_nothing() -> None:
    found = restart_settings(RCConfig(restarts=4, target_size=6.0), 12.0)
    assert found.target_size == (6.0,) * 4


def test_the_node_default_has_as_many_restarts_of_each_kind() -> None:
    found = restart_settings(make_config("default", {}, "node"), 40.0)
    kinds = list(zip(found.press, found.target_size, strict=True))
    assert {kinds.count(kind) for kind in set(kinds)} == {2}
    assert len(set(kinds)) == 4


def test_the_lowest_losses_are_kept_best_first() -> None:
    runs = [run("a", 0.3), run("b", 0.1), run("c", 0.2)]
    assert names(best_restarts(runs, 2)) == "bc"
    assert names(best_restarts(runs, 1)) == "b"
    assert names(best_restarts(runs, 9)) == "bca"


def test_losses_are_compared_only_where_as_many_edges_are_allowed() -> None:
    runs = [run("a", 0.3), run("b", 0.2), run("c", 0.01, 12.0), run("d", 0.02, 12.0), run("e", 0.03, 12.0)]
    assert names(best_restarts(runs, 4)) == "bcad"
    assert names(best_restarts(runs, 5)) == "bcade"


@pytest.mark.parametrize("most", [1, 3])
def test_a_collapsed_network_is_kept_only_if_all_have_collapsed(most) -> None:
    runs = [run("a", 0.1, collapse="empty"), run("b", 0.2, collapse="full")]
    assert names(best_restarts(runs, most)) == "a"
    assert names(best_restarts([*runs, run("c", 0.9)], most)) == "c"
