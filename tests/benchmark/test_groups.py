"""One method on groups of instances: what it cannot explain is counted, and nothing explained is an error."""

import pytest

from rcexplainer.baselines import Method
from rcexplainer.benchmark.groups import Group, GroupMeasurement, usual_search
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer


def failing(fitted: FittedExplainer, number: int):
    """An explainer that cannot explain the first instances of a call."""

    class Failing:
        def explain(self, graphs, **how):
            good = fitted.explain(graphs, **how)
            return [RuntimeError()] * min(number, len(good)) + list(good[number:])

    return Failing()


MEASUREMENT = GroupMeasurement(
    groups=lambda case, method, shown: [Group("some", "house", list(shown))],
    measures={"auc": lambda own: float(len(own.ones))},
    search=lambda method: "none",
    places=lambda case, method: case.places,
    timed=2,
)


def test_what_a_method_cannot_explain_is_left_out_and_counted(case, at_random) -> None:
    found = MEASUREMENT(case, "random", failing(at_random, 2), 1.5)
    (group,) = found.groups
    assert (found.method, found.seed, found.failed) == ("random", 0, 2)
    assert group.places == tuple(case.places[2:])
    assert group.auc == case.count - 2
    assert found.time.fit == 1.5


def test_nothing_explained_is_an_error(case) -> None:
    class Broken(Method):
        def scores(self, instances, labels):
            raise RuntimeError("no")

    broken = Broken().fit(case.model, case.training)
    with pytest.raises(RCExplainerError, match=f"random could explain none of {case.count} instances of ba-2motifs"):
        MEASUREMENT(case, "random", broken, 0.0)


def test_only_rcexplainer_searches_on() -> None:
    assert [usual_search(name) for name in ("rcexplainer", "greedy")] == ["greedy", "prefix"]
