"""The paper's protocol at toy size: one class, fitted and evaluated on the same graphs, the authors' numbers beside."""

from dataclasses import replace

import pytest

from rcexplainer.benchmark import paper_plan as module
from rcexplainer.benchmark.cost import Timed
from rcexplainer.benchmark.groups import GroupResult, MethodResult, NetworkResult
from rcexplainer.benchmark.harness import evaluate
from rcexplainer.benchmark.paper_plan import AUTHORS, paper_plan
from rcexplainer.benchmark.plan import Evaluation
from rcexplainer.errors import RCExplainerError
from rcexplainer.metrics import Fidelity
from rcexplainer.saving.documents import to_text


def test_one_class_of_all_graphs(found) -> None:
    evaluation = found("paper")
    document = evaluation.to_json()
    assert (document["predicted"], document["preset"]) == ("house", "released")
    assert document["sparsities"] == (0.95, 0.90, 0.85, 0.80, 0.75)
    assert document["authors"] is None
    rows = {row["method"]: row for row in document["means"]}
    assert list(rows) == ["rcexplainer", "greedy", "occlusion", "random"]
    assert 10 < rows["greedy"]["graphs"] < 30  # of forty, not of the four test graphs
    assert rows["greedy"][".80"] >= rows["random"][".80"]
    assert set(rows["greedy"]["std"]) == {".95", ".90", ".85", ".80", ".75"}
    assert '"protocol": "paper"' in to_text(document)
    ((table, caption),) = evaluation.tables()
    assert [row["method"] for row in table] == list(rows)
    assert "on which the methods were fitted too; one seed" in caption


def test_means_are_over_the_seeds(found) -> None:
    evaluation = found("paper")
    again = tuple(replace(one, seed=1) for one in evaluation.results)
    both = replace(evaluation, seeds=(0, 1), networks=evaluation.networks * 2, results=evaluation.results + again)
    ((_, caption),) = both.tables()
    assert "means of 2 seeds" in caption
    one, two = (found.to_json()["means"][0] for found in (evaluation, both))
    assert one[".90"] == pytest.approx(two[".90"])


def test_names_of_sets_are_read_in_any_case() -> None:
    assert paper_plan("BA-2motifs").explains == "paper"


def test_beside_the_authors() -> None:
    """At their sparsities; greedy deletion goes as far as the smallest of them needs."""
    plan = paper_plan("mutagenicity")
    assert plan.greedy_depth == pytest.approx(1 - 0.524)
    assert plan.measure.measures["fidelity"].args == (tuple(AUTHORS["mutagenicity"]),)
    drops = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    group = GroupResult("predicted", "mutagen", (0,), Fidelity(tuple(AUTHORS["mutagenicity"]), drops, drops))
    result = MethodResult("rcexplainer", 0, Timed("rcexplainer", 0, fit=1.0, seconds=0.5), groups=(group,))
    evaluation = Evaluation(
        "mutagenicity", "paper", "paper", "default", {}, (0,), (NetworkResult(0, 0.8),), (result,), plan
    )
    ((table, caption),) = evaluation.tables()
    assert table[-1] == {
        "method": "the authors'",
        ".524": ".34",
        ".777": ".71",
        ".837": ".73",
        ".883": ".69",
        ".935": ".55",
        ".978": ".24",
    }
    assert list(table[0]) == list(table[-1])
    assert "fitted in 1.0 s and scores one graph alone in 500.0 ms" in caption
    assert evaluation.to_json()["authors"] == tuple(AUTHORS["mutagenicity"].values())


def test_other_sets_have_no_class_to_explain() -> None:
    for name in ("nitro", "tree-cycles"):
        with pytest.raises(RCExplainerError, match=f"protocol is for mutagenicity, nci1, ba-2motifs, got '{name}'"):
            evaluate(name, protocol="paper")
    assert module.EXPLAINED.keys() == {"mutagenicity", "nci1", "ba-2motifs"}
