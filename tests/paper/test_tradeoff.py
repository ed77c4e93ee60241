"""The trade-off between fidelity and robustness, at toy size, and the rule by hand."""

import pytest

from rcexplainer.benchmark import networks as running
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.paper.tradeoff import SETTINGS, Point, Tradeoff, tradeoff
from tests.benchmark.toys import QUICK, small


def point(name: str, ratio: float, robust: float) -> Point:
    return Point(name, {}, {"a": ratio, "b": ratio}, {"a": robust - 0.01, "b": robust + 0.01}, 3)


def test_the_rule() -> None:
    points = (point("faithful", 0.95, 0.80), point("both", 0.90, 0.905), point("robust", 0.85, 0.92))
    assert Tradeoff("x", "paper", 0, points).best.name == "both"
    assert Tradeoff("x", "paper", 0, points[::2]).best.name == "robust"


def test_every_setting_is_one_of_the_explainer() -> None:
    for changes in SETTINGS.values():
        assert RCExplainer(**changes).config


def test_it_measures_every_setting_on_validation_graphs(monkeypatch) -> None:
    monkeypatch.setattr(running, "load", small)
    monkeypatch.setattr(running, "training_settings", lambda name: QUICK)
    settings = {"still": {"epochs": 2, "noise": 0.0}, "noisy": {"epochs": 2, "noise": 0.4}}
    found = tradeoff("ba-2motifs", graphs=60, settings=settings, progress=False)
    assert [point.name for point in found.points] == ["still", "noisy"]
    for point in found.points:
        assert set(point.ratio) == set(point.robustness) == {"cycle", "house"}
        assert all(0 <= value <= 1 for value in point.robustness.values())
    assert sum(row[""] != "" for row in found.rows()) == 1
    assert found.to_json()["best"] == found.best.name


def test_at_least_one_graph_is_needed() -> None:
    with pytest.raises(RCExplainerError, match="at least one training graph"):
        tradeoff("ba-2motifs", graphs=0)
