"""Many methods beside each other: the same instances, one that cannot explain the network is left out by name."""

import math
from dataclasses import replace

from rcexplainer.benchmark import networks
from rcexplainer.benchmark.comparison_plan import comparison_plan
from rcexplainer.benchmark.harness import evaluate
from rcexplainer.benchmark.methods import METHODS, Caps, MethodEntry
from rcexplainer.errors import MissingExtraError
from rcexplainer.metrics.fidelity import SPARSITIES
from tests.benchmark.toys import tiny

METHODS_COMPARED = ["occlusion", "greedy", "random"]


def test_nodes_are_compared_on_unseen_motifs(node_case, monkeypatch) -> None:
    monkeypatch.setitem(METHODS, "occlusion", replace(METHODS["occlusion"], caps=Caps(most=5)))
    plan = comparison_plan(["occlusion"], robust=False)
    one = plan.measure(node_case, "occlusion", METHODS["occlusion"].fit(node_case, False), 1.0)
    assert (one.method, one.seed, one.time.fit, one.time.batch) == ("occlusion", 0, 1.0, 5)
    assert one.held_out.places == tuple(node_case.some(5))
    assert max(one.held_out.places) < node_case.count
    assert 0 <= one.held_out.accuracy <= 1
    assert math.isnan(one.held_out.robustness)
    assert math.isnan(one.held_out.strict_robustness)
    assert one.time.seconds > 0
    assert 0 <= plan.network(node_case).motif_use[0].flips <= 1
    assert one.recovered.places == one.held_out.places
    assert one.recovered.everyone.scores.auc == one.held_out.auc


def test_both_readings_of_nodes_have_a_table_of_their_own() -> None:
    found = evaluate("tree-cycles", methods=["random"], progress=False)
    (_, (rows, caption)) = found.tables()
    named = {(row["method"], row["reading"]) for row in rows if row["instances"] == "all"}
    assert named == {("greedy", "scores"), ("occlusion", "scores"), ("occlusion", "relevance"), ("random", "scores")}
    assert tuple(rows[0]) == ("method", "instances", "reading", "live_auc", "auc", "node_auc", "accuracy")
    assert "networks plain" in caption
    assert "support the prediction" in caption
    assert len(found.to_json()["recovery"]) == len(rows)


def test_what_cannot_explain_the_model_is_left_out_by_name(monkeypatch, tmp_path) -> None:
    """A missing package may be there the next time: nothing is kept of it."""

    def missing(case, progress):
        raise MissingExtraError("it is not installed")

    monkeypatch.setattr(networks, "load", tiny)
    for name, entry in (
        ("occlusion", METHODS["random"]),
        ("greedy", METHODS["random"]),
        ("gradient", MethodEntry(missing)),
    ):
        monkeypatch.setitem(METHODS, name, entry)
    how = {"methods": ["attention", "gradient"], "robustness": False, "out": tmp_path, "progress": False}
    found = evaluate("ba-2motifs", **how)
    ((table, caption),) = found.tables()
    assert [row["method"] for row in table] == METHODS_COMPARED
    sparsities = (".95", ".90", ".80", ".70")
    rest = ("AUC", "accuracy", "flipped", "size", "searched", "robust", "robust, strict", "one ms", "batch ms", "fit s")
    assert tuple(table[0]) == ("method", "instances", *sparsities, *rest, "regions", "edgeless")
    assert "ba-2motifs" in caption
    document = found.to_json()
    assert document["means"][-1]["instances"] == found.results[-1].held_out.instances > 0
    assert document["sparsities"] == SPARSITIES
    assert 0 <= document["motif_flips"][0] <= 1
    assert "gradient is left out: it is not installed" in caption
    assert "attention is left out: " in caption
    assert (tmp_path / "results" / "0-attention.json").exists()
    monkeypatch.setitem(METHODS, "gradient", METHODS["random"])
    ((table, caption),) = evaluate("ba-2motifs", **how).tables()
    assert [row["method"] for row in table] == ["gradient", *METHODS_COMPARED]
    assert "attention is left out: " in caption
