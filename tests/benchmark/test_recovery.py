"""Recovery of the motif at toy size: both groups, both readings, and what only the scores are measured by."""

import math
from dataclasses import asdict, replace

import pytest
import torch

from rcexplainer.benchmark.measures import motif_flips
from rcexplainer.benchmark.methods import METHODS, MethodEntry
from rcexplainer.benchmark.recovery import Recovered, recover, recover_fitted, without_motif
from rcexplainer.errors import RCExplainerError
from rcexplainer.metrics import motif_recovery


@pytest.fixture(scope="module")
def occluded(node_case):
    return recover(node_case, "occlusion", progress=False)


def test_both_groups_are_measured_by_both_readings(node_case, occluded) -> None:
    assert (occluded.instances, occluded.held_out, occluded.failed) == (node_case.count, node_case.count, 0)
    shown = node_case.explain(METHODS["occlusion"].fit(node_case, False), node_case.places[: node_case.count], "none")
    assert occluded.everyone.scores == motif_recovery(shown)
    assert occluded.everyone.relevance == motif_recovery(shown, "relevance") != occluded.everyone.scores
    turned = without_motif(node_case.split, shown)
    assert float(turned.float().mean()) == pytest.approx(motif_flips(node_case.split, shown))
    assert occluded.flipping.instances == int(turned.sum()) <= occluded.everyone.instances
    some = [one for one, flips in zip(shown, turned.tolist(), strict=True) if flips]
    assert occluded.flipping.scores == motif_recovery(some)
    assert len(occluded.everyone.fidelity) == 6
    assert 0 <= occluded.everyone.flipped <= 1
    assert math.isnan(occluded.everyone.search_flipped)


def test_methods_without_relevance_have_one_reading(node_case) -> None:
    found = recover(node_case, "random", most=6, progress=False)
    assert found.everyone.relevance is None
    assert found.places == tuple(node_case.some(6))
    assert found.dead == ""


def test_ours_is_searched_on(node_case) -> None:
    case = replace(node_case, settings={"epochs": 1, "restarts": 1}, motifs_apart=True)
    found = recover(case, "rcexplainer", most=6, progress=False)
    assert found.everyone.search_flipped >= found.everyone.flipped


def test_a_network_that_ignores_its_motif_has_no_flipping_group(node_case, monkeypatch) -> None:
    fitted = METHODS["random"].fit(node_case, False)
    monkeypatch.setattr(
        "rcexplainer.benchmark.recovery.without_motif", lambda split, ones: torch.zeros(len(ones), dtype=torch.bool)
    )
    found = recover_fitted(node_case, "random", fitted, 4)
    assert found.flipping is None
    assert asdict(found)["flipping"] is None


def test_a_method_that_cannot_explain_is_left_out(node_case, monkeypatch) -> None:
    def refused(case, progress):
        raise RCExplainerError("it has no attention")

    monkeypatch.setitem(METHODS, "attention", MethodEntry(refused))
    assert recover(node_case, "attention") == Recovered("attention", 0, skipped="it has no attention")
