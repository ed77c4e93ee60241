"""Node and link sets at toy size: what is measured, on which instances, and which networks count."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.benchmark.cost import Timed
from rcexplainer.benchmark.groups import GroupResult, MethodResult, MotifUse, NetworkResult
from rcexplainer.benchmark.measures import VerifiedCounterfactuals
from rcexplainer.benchmark.motif_plan import correctly_predicted, mean_rows, motif_plan
from rcexplainer.benchmark.plan import Evaluation
from rcexplainer.benchmark.reliance import Reliance
from rcexplainer.datasets import load
from rcexplainer.metrics import MotifRecovery
from tests.benchmark.toys import few_motif_nodes, toy


@pytest.fixture(scope="session")
def nodes(found):
    return found("nodes")


def test_every_method_is_measured_on_unseen_nodes(nodes) -> None:
    assert [one.method for one in nodes.results] == ["rcexplainer", "greedy", "occlusion", "random"]
    unseen, right, everyone = nodes.results[0].groups
    assert (unseen.group, right.group, everyone.group) == ("unseen", "unseen, correctly predicted", "all")
    assert 0 < len(right.places) <= len(unseen.places)
    assert set(right.places) <= set(unseen.places) < set(everyone.places)
    assert len(unseen.places) * 2 == len(everyone.places) == len(few_motif_nodes(load("tree-cycles").graph))
    for one in nodes.results[1:]:
        (group,) = one.groups
        assert group.group == "unseen, 10 of them"
        assert set(group.places) <= set(unseen.places)
    for one in nodes.results:
        for group in one.groups:
            shares = (group.auc, group.accuracy, group.auc_every, group.accuracy_every, group.counterfactuals.flipped)
            assert all(0 <= share <= 1 for share in shares)
    assert 0 <= nodes.networks[0].motif_use[0].flips <= 1
    for group in (group for one in nodes.results for group in one.groups):
        assert (group.recovery.auc, group.recovery.accuracy) == (group.auc, group.accuracy)
    direction = nodes.networks[0].motif_use[0].direction
    assert direction.supports + direction.opposes + direction.neither == pytest.approx(1)
    assert nodes.recipe == "plain"
    assert nodes.to_json()["recipe"] == "plain"


def test_correctly_predicted_are_those_whose_prediction_is_their_label() -> None:
    data = SimpleNamespace(task="node", graph=Data(y=torch.tensor([1, 0, 2])))
    shown = [SimpleNamespace(index=index, prediction=guess) for index, guess in ((2, 2), (0, 0), (1, 0))]
    assert [one.index for one in shown if correctly_predicted(data, one)] == [2, 1]
    assert not any(correctly_predicted(SimpleNamespace(task="link"), one) for one in shown)


def test_how_far_a_network_relies_on_the_motif_is_measured(nodes) -> None:
    (network,) = nodes.networks
    relied = network.motif_use[0].reliance
    assert all(0 <= share <= 1 for share in (relied.enough, relied.idle, relied.foreign, relied.two))
    assert "keep their prediction" in nodes.tables()[-2][1]


def test_tables(nodes) -> None:
    *_, (rows, _), (costs, caption) = nodes.tables()
    numbers = ("live_auc", "auc", "node_auc", "accuracy", "auc_every", "accuracy_every", "flipped", "size", "edgeless")
    assert tuple(rows[0]) == ("method", "nodes", "networks", "reading", *numbers)
    occluded = [row for row in rows if row["method"] == "occlusion"]
    assert [row["reading"] for row in occluded] == ["scores", "relevance"]
    assert occluded[0]["flipped"]
    assert not occluded[1]["flipped"]  # counterfactuals are those of the scores
    assert {row["reading"] for row in rows if row["method"] == "random"} == {"scores"}
    assert [row["method"] for row in costs] == ["rcexplainer", "greedy", "occlusion", "random"]
    assert "one node alone" in caption


def by_hand(auc: float, share: float, seed: int) -> tuple[MethodResult, NetworkResult]:
    group = GroupResult(
        "unseen", "", (0, 1), None, auc, auc, auc, auc, counterfactuals=VerifiedCounterfactuals(1, 1, 1),
        recovery=MotifRecovery(auc, auc, auc, auc),
    )  # fmt: skip
    use = MotifUse("all", "", 2, share, Reliance(1, 0.2, 0.1, 1))
    return MethodResult("rcexplainer", seed, Timed("rcexplainer", seed), groups=(group,)), NetworkResult(
        seed, 1, (use,)
    )


def test_networks_that_do_not_use_the_motif_are_left_out_of_the_headline() -> None:
    pairs = [by_hand(auc, share, seed) for seed, auc, share in ((0, 0.9, 0.95), (1, 0.5, 0.2), (2, 1.0, 0.9))]
    results, networks = (tuple(ones) for ones in zip(*pairs, strict=True))
    evaluation = Evaluation(
        "tree-cycles", "paper", "held-out", "default", {}, (0, 1, 2), networks, results, motif_plan()
    )
    (headline,) = mean_rows(evaluation, headline=True)
    assert (headline["networks"], headline["auc"]) == (2, "0.950 ± 0.071")
    (everyone,) = mean_rows(evaluation, headline=False)
    assert (everyone["networks"], everyone["auc"]) == (3, "0.800 ± 0.265")
    tables = evaluation.tables()
    assert len(tables) == 3
    assert "2 of 3 networks" in tables[1][1]
    assert evaluation.to_json()["motif_flips"] == [0.95, 0.2, 0.9]
    unused = replace(evaluation, seeds=(1,), networks=networks[1:2], results=results[1:2])
    assert [rows for rows, _ in unused.tables()[:1]] == [mean_rows(unused, headline=False)]


def test_links_are_measured_on_the_test_part(found) -> None:
    evaluation = found("links")
    own = evaluation.results[0]
    assert own.method == "rcexplainer"
    assert [group.group for group in own.groups] == ["unseen", "all"]
    assert 0 < len(own.groups[0].places) <= int(toy("shared-neighbours").split.test.numel())
    assert own.groups[0].auc > 0.5
    assert "links" in evaluation.tables()[0][0][0]
