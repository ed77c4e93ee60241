"""Verdicts on results whose outcome is known by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from rcexplainer.paper.entries import PAPER_ENTRIES, plan
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.verdicts import JUDGES, Verdict, counts, verdicts
from tests.paper.fakes import result_of

Change = Callable[[dict[str, Any], dict[str, Any]], Any]  # (tags, result) → what takes the result's place, if anything


def judged(name: str, change: Change = lambda tags, result: None, drop: int = 0) -> dict[str, Verdict]:
    """The verdicts on made-up results, some of them changed, by their claims."""
    planned = plan(name, "standard")
    results = {}
    for job, tags in list(planned.rows.items())[drop:]:
        result = result_of(job)
        results[job] = change(tags, result) or result
    return {one.claim: one for one in verdicts(planned, results)}


@pytest.mark.parametrize("name", JUDGES)
def test_made_up_results_reach_every_aim(name: str) -> None:
    found = judged(name)
    assert found
    assert [one for one in found.values() if one.reached is not True] == []


def test_what_was_not_run_is_open() -> None:
    for name in PAPER_ENTRIES:
        found = verdicts(plan(name, "standard"), {})
        assert (len(found) > 0) == (name in JUDGES), name
        assert all(one.reached is None and "not run" in one.found for one in found), name


def test_fidelity_says_where_it_is_not_above_and_by_how_much() -> None:
    def change(tags, result):
        if tags["dataset"] == "nci1" and tags.get("variant") == "occlusion":
            result["fidelity"] = [0.99, 0.10, 0.10, 0.70, 0.10, 0.10]
        if tags["dataset"] == "mutagenicity" and tags.get("variant") == "cf2":
            result["fidelity"][2] = 0.50

    found = judged("fidelity", change)
    # At .95 occlusion may be above; ours at .80 is .50, .51, .52 of the seeds + .06.
    bad = found["nci1: fidelity above occlusion and CF²"]
    assert (bad.reached, bad.aim) == (False, "at every sparsity from .90 to .70")
    assert bad.found == "not above occlusion at .80 (.570 against .700)"
    good = found["mutagenicity: fidelity above occlusion and CF²"]
    assert good.reached
    assert good.found == "closest: cf2 at .85 (.550 against .500)"
    assert counts([bad, good]) == (1, 1, 0)


def test_a_method_that_was_left_out_or_lacks_a_seed_leaves_the_claim_open() -> None:
    def change(tags, result):
        if tags.get("variant") == "subgraphx":
            result["skipped"] = "its extra is missing"

    one = judged("fidelity", change)["nci1: fidelity above the paper's methods"]
    assert (one.reached, one.found) == (None, "subgraphx is left out: its extra is missing")
    few = judged("case-study", drop=2)["AUC of the motif that tells two classes apart"]
    assert (few.reached, few.found) == (None, "the case study: 2 of 3 seeds")


def test_robustness_is_judged_level_by_level_with_k_8() -> None:
    def change(tags, result):
        if tags["dataset"] == "mutagenicity" and tags.get("variant") == "rcexplainer":
            result["robust"]["auc"][3] = [0.99, 0.87, 0.99]  # 20 % noise
            result["strict"]["auc"][4] = [0.99, 0.77, 0.99]  # 30 %
        if tags["dataset"] == "nci1" and tags.get("variant") == "greedy":
            result["robust"]["auc"][0] = [1.0, 1.0, 1.0]  # without noise nothing is asked
            result["robust"]["auc"][2] = [0.0, 0.95, 0.0]
        if tags["dataset"] == "ba-2motifs" and tags.get("variant") == "rcexplainer-noldb, with stability":
            result["strict"]["auc"][1] = [0.0, 0.97, 0.0]

    found = judged("robustness", change)
    high, strict = (found[f"mutagenicity: AUC under {noise} noise, k = 8"] for noise in ("the paper's", "strict"))
    assert (high.reached, high.found) == (False, ".870 at 20 %")
    assert high.aim == "≥ .945 at 10 %, ≥ .89 at 20 %, ≥ .85 at 30 %"
    assert (strict.reached, strict.found) == (False, ".770 at 30 %")
    assert strict.aim == "≥ .93 at 10 %, ≥ .85 at 20 %, ≥ .78 at 30 %"
    best = found["nci1: AUC under the paper's noise above every other method's, k = 8"]
    assert (best.reached, best.found) == (False, "not above greedy at 10 % (.950 against .950)")
    assert found["nci1: AUC under strict noise above every other method's, k = 8"].reached
    assert found["ba-2motifs: AUC under the paper's noise above every other method's, k = 8"].reached
    helped = "ba-2motifs: AUC under {} above baselines with the same stability loss, k = 8"
    assert found[helped.format("the paper's noise")].reached
    missed = found[helped.format("strict noise")]
    assert missed.found == "not above rcexplainer-noldb, with stability at 5 % (.955 against .970)"


def test_results_without_strict_noise_leave_its_claims_open() -> None:
    """As version 0.1 kept them."""
    found = judged("robustness", lambda tags, result: result.pop("strict", None) and None)
    for claim, one in found.items():
        assert one.reached is (None if "strict noise" in claim else True), claim


def test_what_is_missed_by_little_is_told_from_its_aim() -> None:
    def change(tags, result):
        if tags["dataset"] == "mutagenicity" and tags.get("variant") == "rcexplainer":
            result["robust"]["auc"][3] = [0.99, 0.8897, 0.99]  # 20 %

    missed = judged("robustness", change)["mutagenicity: AUC under the paper's noise, k = 8"]
    assert (missed.reached, missed.found) == (False, ".8897 at 20 %")


def test_times_are_compared_as_multiples() -> None:
    def change(tags, result):
        if tags.get("variant") == "rcexplainer":
            result["seconds"] = 0.0023
        if tags.get("variant") == "cfgnnexplainer":
            result["seconds"] = 0.2

    fast, subgraphx, _, cf = judged("time", change).values()
    assert (fast.reached, fast.found) == (False, "pgexplainer takes 0.87 × ours (2 ms against 2.3 ms)")
    assert (subgraphx.reached, subgraphx.found) == (True, "subgraphx takes 3,478 × ours (8 s against 2.3 ms)")
    assert (cf.reached, cf.found) == (False, "cfgnnexplainer takes 87 × ours (200 ms against 2.3 ms)")


def test_networks_that_do_not_use_the_motif_are_left_out_of_the_headline() -> None:
    def change(tags, result):
        if tags["dataset"] == "ba-shapes" and tags.get("network") and tags["seed"] == 1:
            result["motif_flips"] = 0.5
        if tags["dataset"] == "ba-shapes" and tags.get("variant") == "rcexplainer" and result["seed"] == 1:
            result["auc"] = 0.1
        if tags["dataset"] == "ba-grid" and tags.get("network"):
            result["motif_flips"] = None
        if tags["dataset"] == "tree-grid" and tags.get("variant") == "rcexplainer":
            result["search_size"] = 2.5

    found = judged("nodes-edgeless", change)
    shapes = found["ba-shapes: AUC of the motif"]
    assert (shapes.reached, shapes.found) == (True, ".999 (2 of 3 networks use the motif)")
    grid = found["ba-grid: accuracy of the motif"]
    assert (grid.reached, grid.found) == (None, "– (0 of 3 networks use the motif)")
    assert found["tree-grid: counterfactuals"].found == "2.5 edges"


def test_ours_competes_with_its_relevance_against_every_reading_of_the_others() -> None:
    def change(tags, result):
        if tags["dataset"] == "ba-shapes" and tags.get("variant") == "occlusion":
            result["flipping"] = result["flipping"] | {
                "relevance": result["flipping"]["relevance"] | {"live_auc": 0.995}
            }
        if tags["dataset"] == "tree-grid" and tags.get("variant") == "pgmexplainer":
            result["everyone"] = result["everyone"] | {"scores": result["everyone"]["scores"] | {"accuracy": 0.991}}
        if tags["dataset"] == "ba-community" and tags.get("variant") == "rcexplainer-noldb":  # begins with our name
            second = result["everyone"]["scores"] | {"accuracy": 0.999}
            result["everyone"] = result["everyone"] | {"relevance": second}

    found = judged("nodes", change)
    noldb = found["ba-community: live AUC and accuracy, all nodes"]
    assert not noldb.reached
    assert noldb.found.startswith("below rcexplainer-noldb, relevance at accuracy")
    shapes = found["ba-shapes: live AUC and accuracy, nodes that flip without their motif"]
    assert (shapes.reached, shapes.aim) == (False, "≥ every reading of all others")
    assert shapes.found == "below occlusion, relevance at live AUC (.991 against .995)"
    assert found["ba-shapes: live AUC and accuracy, all nodes"].reached
    tie = found["tree-grid: live AUC and accuracy, all nodes"]
    assert (tie.reached, tie.found) == (True, "closest: pgmexplainer at accuracy (.991 against .991)")
    guide = found["tree-grid: AUC and accuracy of the motif, all nodes"]
    assert (guide.reached, guide.aim, guide.found) == (True, "≥ .96 over all edges, ≥ .98", "AUC .996; accuracy .991")
    for nodes in ("nodes that flip without their motif", "all nodes"):
        assert found[f"tree-grid: counterfactuals, {nodes}"].reached


def test_links_are_judged_by_their_motif_and_by_the_own_search() -> None:
    def change(tags, result):
        if tags.get("variant") == "rcexplainer":
            result["auc"], result["search_flipped"] = 0.949, 0.9

    motif, flipped = judged("links", change).values()
    assert (motif.reached, motif.aim, motif.found) == (False, "≥ .95", ".949")
    assert (flipped.reached, flipped.found) == (True, ".900")


def test_the_case_study_names_the_pairs_that_fail() -> None:
    def change(tags, result):
        if not tags.get("network"):
            result["pairs"][0]["auc"] = 0.94

    one = judged("case-study", change)["AUC of the motif that tells two classes apart"]
    assert (one.reached, one.aim) == (False, "≥ .95, every pair")
    assert one.found == ".940 (house and cycle, not cycle and clique)"


def test_without_aims_there_is_nothing_to_judge() -> None:
    assert verdicts(EntryPlan("fidelity", {"title": "T"}, {}), {}) == []
