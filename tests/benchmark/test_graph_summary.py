"""Means over the seeds, and methods beside greedy deletion and occlusion."""

import math
from dataclasses import replace

import pytest

from rcexplainer.benchmark.graph_summary import flippable_rows, method_rows, relative, relatives
from rcexplainer.benchmark.groups import GroupResult
from rcexplainer.benchmark.plan import Evaluation
from rcexplainer.metrics import Fidelity

METHODS = {"rcexplainer", "greedy", "occlusion", "random"}
GROUPS = [(group, label) for group in ("predicted", "labelled") for label in ("cycle", "house")]


@pytest.fixture(scope="session")
def graphs(found) -> Evaluation:
    """One seed that was run, and the same with half the fidelity as another."""
    one = found("graphs")
    halved = tuple(replace(method, seed=1, groups=tuple(map(half, method.groups))) for method in one.results)
    networks = (*one.networks, *(replace(network, seed=1) for network in one.networks))
    return replace(one, seeds=(0, 1), networks=networks, results=one.results + halved)


def half(group: GroupResult) -> GroupResult:
    drop = tuple(value / 2 for value in group.fidelity.drop)
    return replace(group, fidelity=replace(group.fidelity, drop=drop))


def test_every_class_group_and_method_has_its_means(graphs) -> None:
    rows = {(row["group"], row["class"], row["method"]): row for row in method_rows(graphs)}
    assert set(rows) == {(*group, method) for group in GROUPS for method in METHODS}
    for (_, _, method), row in rows.items():
        assert 0 <= row["flipped"] <= 1
        assert 0 <= row["AUC"] <= 1
        assert len(row["above_occlusion"]) == 4
        assert set(row["std"]) < set(row)
        if method == "greedy" and not math.isnan(row["ratio"]):
            assert row["ratio"] == pytest.approx(1)
            assert row["difference"] == 0
        if method == "occlusion":
            assert not any(row["above_occlusion"])


def test_means_are_those_of_the_seeds(graphs) -> None:
    row = method_rows(graphs)[0]
    assert (row["group"], row["class"], row["method"]) == ("predicted", "cycle", "rcexplainer")
    first, second = (one.groups[0].fidelity.drop[1] for one in graphs.results if one.method == "rcexplainer")
    assert row[".90"] == pytest.approx((first + second) / 2)
    assert second == first / 2
    assert row["std"][".90"] == pytest.approx(abs(first - second) / math.sqrt(2))


def test_what_can_be_flipped_at_all(graphs) -> None:
    first = flippable_rows(graphs)
    assert [(row["group"], row["class"]) for row in first] == GROUPS
    greedy = {(r["group"], r["class"]): r["flipped"] for r in method_rows(graphs) if r["method"] == "greedy"}
    for row in first:
        assert row["greedy"] == greedy[row["group"], row["class"]]
        assert all(0 <= row[name] <= 1 for name in ("motif", "enough", "idle", "foreign"))


def test_a_ratio_to_almost_nothing_is_left_out(graphs) -> None:
    drops = {
        (one.seed, group.group, group.label): group.fidelity.drop
        for one in graphs.results
        if one.method == "greedy"
        for group in one.groups
    }
    for seed, _, one, beside in relatives(graphs):
        assert math.isnan(beside.ratio) == (sum(drops[seed, one.group, one.label]) / 5 < 0.1)


def result(places: tuple[int, ...], *each: tuple[float, ...]) -> GroupResult:
    """A method whose graphs lose these probabilities at each sparsity."""
    drop = tuple(sum(row) / len(row) for row in each)
    return GroupResult("predicted", "house", places, Fidelity((0.95, 0.90), drop, drop, each))


def test_ratio_difference_and_occlusion_by_hand() -> None:
    own, greedy = result((0, 1), (0.1, 0.3), (0.4, 0.6)), result((0, 1), (0.4, 0.4), (0.6, 0.6))
    occlusion = result((0, 1), (0.3, 0.3), (0.4, 0.4))
    found = relative(own, greedy, occlusion)
    assert found.ratio == pytest.approx((0.2 + 0.5) / (0.4 + 0.6))
    assert found.difference == pytest.approx((0.7 - 1.0) / 2)
    assert found.above_occlusion == (True,)  # .95 does not count
    little = result((0, 1), (0.1, 0.1), (0.0, 0.18))
    assert math.isnan(relative(own, little, occlusion).ratio)
    assert relative(own, little, occlusion).difference == pytest.approx((0.7 - 0.19) / 2)


def test_two_methods_are_compared_on_the_graphs_that_both_explained() -> None:
    """Greedy deletion could not explain graph 1: its drop of .9 counts for nothing in the ratio."""
    own, greedy = result((0, 1, 2), (0.2, 0.9, 0.4), (0.2, 0.9, 0.4)), result((0, 2), (0.4, 0.8), (0.4, 0.8))
    found = relative(own, greedy, greedy)
    assert found.ratio == pytest.approx(0.5)
    assert found.difference == pytest.approx(0.3 - 0.6)
    assert found.above_occlusion == (False,)
