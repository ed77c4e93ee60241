"""Counterfactuals that hold: tables and claims from made-up results, and the measurement itself on a small set."""

import pytest

from rcexplainer import baselines
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.paper.counterfactual_stability import confidence_key, held_flips
from rcexplainer.paper.entries import plan
from rcexplainer.paper.plan import profile_settings
from rcexplainer.paper.stability_tables import GREEDY_SEARCH, stability_headline, stability_tables
from rcexplainer.paper.verdicts import JUDGES
from tests.paper.toys import toy_data

SETTINGS = profile_settings("stability", "standard") | {"seeds": 2}
AIMS = SETTINGS["aims"] | {"datasets": ["mutagenicity"]}


def flips(share: float, size: float, stay: float, places=range(20), distance: float | None = 1.5) -> dict:
    shares = {"flipped": [stay, stay - 0.1], "original": [0.8, 0.7]}
    return {
        "flipped": share,
        "size": size,
        "minimal": 1.0,
        "reached": 0.85,
        "distance": distance,
        "places": list(places),
        "stability": dict.fromkeys(("paper", "strict", "features"), shares),
    }


def result(seed: int, plain: dict, sure: dict, ours: bool = False) -> dict:
    both = {"none": plain, "0.8": sure}
    searches = {"prefix": both, "greedy": both} if ours else {"prefix": both}
    own = {"instances": 20, "failed": 0, "held_out": 90, "searches": searches}
    return {"seed": seed, "skipped": "", "classes": {"mutagen": own, "nonmutagen": own}}


def found(**methods: list[dict]) -> list[tuple[dict, dict]]:
    tags = {"dataset": "mutagenicity", "model": "paper"}
    return [({**tags, "network": True}, {"accuracy": 0.8})] + [
        ({**tags, "variant": name.replace("_", "-"), "seed": one["seed"]}, one)
        for name, results in methods.items()
        for one in results
    ]


OURS = [result(seed, flips(1.0, 2.0, 0.7), flips(0.9 + seed / 10, 3.0, 0.85), ours=True) for seed in range(2)]
GREEDY = [
    result(seed, flips(1.0, 2.0, 0.7, distance=None), flips(0.95, 3.0, 0.85, range(1, 21), None)) for seed in range(2)
]


def test_a_table_for_each_class_and_confidence_with_the_originals_beside() -> None:
    skipped = [{"seed": seed, "skipped": "no attention here", "classes": {}} for seed in range(2)]
    made = stability_tables(SETTINGS, found(rcexplainer=OURS, attention=skipped, greedy=GREEDY))
    assert len(made) == 4
    assert ["predicted as mutagen" in one.caption for one in made] == [True, True, False, False]
    assert ["a confidence of 0.8" in one.caption for one in made] == [False, True, False, True]
    rows = {row["method"]: row for row in made[1].to_rows()}
    assert list(rows) == ["rcexplainer", GREEDY_SEARCH, "greedy"]
    assert rows[GREEDY_SEARCH] == {
        "method": GREEDY_SEARCH,
        "flipped ↑": "0.95 ± 0.07",
        "edges ↓": "3.0 ± 0.0",
        "p(other)": "0.85 ± 0.00",
        "distance": "1.50 ± 0.00",
        "paper, 5 %": "0.85 / 0.80",
        "paper, 10 %": "0.75 / 0.70",
        "strict, 5 %": "0.85 / 0.80",
        "strict, 10 %": "0.75 / 0.70",
        "features, 5 %": "0.85 / 0.80",
        "features, 10 %": "0.75 / 0.70",
    }
    assert rows["greedy"]["distance"] == "–"
    assert "attention is left out: no attention here" in made[0].notes
    assert "20 instances a seed of 90" in made[0].notes[-1]


def test_the_front_page_has_our_search_and_greedy_deletion() -> None:
    table = stability_headline(SETTINGS, found(rcexplainer=OURS, greedy=GREEDY))
    assert table is not None
    assert [row[0].text for row in table.rows][:4] == [
        f"mutagenicity, mutagen: {GREEDY_SEARCH}",
        "mutagenicity, mutagen: greedy",
        f"mutagenicity, mutagen: {GREEDY_SEARCH}, confidence 0.8",
        "mutagenicity, mutagen: greedy, confidence 0.8",
    ]
    assert len(table.rows) == 8
    assert stability_headline(SETTINGS, []) is None


def test_the_claims_are_about_every_class_and_every_noise() -> None:
    judged = JUDGES["stability"](SETTINGS, AIMS, found(rcexplainer=OURS, greedy=GREEDY))
    assert [one.reached for one in judged] == [True] * 3
    stable, flipped, edges = judged
    assert stable.claim == "mutagenicity: counterfactuals at confidence .80 under noise (paper, strict, features)"
    assert stable.aim == "as stable as the originals at 5 and 10 %"
    assert stable.found.startswith(
        ".850 against .800 at 5 %, paper (mutagen); .750 against .700 at 10 %, paper (mutagen)"
    )
    assert stable.found.count(" against ") == 3 * 2 * 2  # every noise, class and level
    assert flipped.found == ".950 (mutagen, 38 of 40); .950 (nonmutagen, 38 of 40)"
    assert edges.found == "1.50 × (mutagen, 3.0 against 2.0); 1.50 × (nonmutagen, 3.0 against 2.0)"


def test_what_fails_is_named() -> None:
    weak = [result(seed, flips(1.0, 1.0, 0.7), flips(0.5, 3.0, 0.75, range(10)), ours=True) for seed in range(2)]
    stable, flipped, edges = JUDGES["stability"](SETTINGS, AIMS, found(rcexplainer=weak, greedy=GREEDY))
    assert not stable.reached
    assert stable.found.startswith(
        ".750 against .800 at 5 %, paper (mutagen); .650 against .700 at 10 %, paper (mutagen)"
    )
    assert stable.found.count(" against ") == 3 * 2 * 2
    assert (flipped.reached, flipped.found[:25]) == (False, ".450 (mutagen, 18 of 40);")
    assert (edges.reached, edges.found[:7]) == (False, "3.00 × ")


def test_what_is_missing_is_open() -> None:
    judged = JUDGES["stability"](SETTINGS, AIMS, found(rcexplainer=OURS))
    assert [one.reached for one in judged] == [True, None, True]
    assert judged[1].found == "greedy: not run"
    nothing = JUDGES["stability"](SETTINGS, AIMS, found(rcexplainer=OURS[:1], greedy=GREEDY))
    assert {(one.reached, one.found) for one in nothing} == {(None, "rcexplainer: 1 of 2 seeds")}


def test_every_method_is_in_the_plan_and_slow_ones_are_capped() -> None:
    jobs = [job for job in plan("stability", "standard").jobs if job.kind == "stability"]
    assert {job.inputs["method"] for job in jobs} == set(METHODS)
    assert len(jobs) == 2 * 3 * len(METHODS)
    most = {job.inputs["method"]: job.inputs["most"] for job in jobs}
    assert (most["rcexplainer"], most["greedy"], most["subgraphx"]) == (100, 100, 4)
    assert {(job.inputs["confidence"], tuple(job.inputs["noise"])) for job in jobs} == {(0.8, (0.05, 0.1))}


@pytest.fixture(scope="module")
def case() -> Case:
    with toy_data():
        return Case.of("ba-2motifs", "paper", 0, explains="every class", settings={"epochs": 2, "teacher_limit": 10},
                       progress=False)  # fmt: skip


def test_both_classes_are_measured_with_and_without_a_confidence(case) -> None:
    made = {
        name: held_flips(case, name, most=3, confidence=0.8, noise=[0.05, 0.1], copies=2)
        for name in ("rcexplainer", "occlusion")
    }
    for name, one in made.items():
        assert set(one["classes"]) <= {"cycle", "house"}
        for own in one["classes"].values():
            assert own["instances"] + own["failed"] == min(3, own["held_out"])
            assert list(own["searches"]) == (["prefix", "greedy"] if name == "rcexplainer" else ["prefix"])
            for both in own["searches"].values():
                plain, sure = both["none"], both["0.8"]
                assert set(sure["places"]) <= set(plain["places"])
                assert sure["flipped"] == len(sure["places"]) / own["instances"]
                assert not sure["places"] or (sure["reached"] >= 0.8 and sure["size"] >= plain["size"] / 2)
                for shares in plain["stability"].values():
                    assert len(shares["flipped"]) == len(shares["original"]) == 2
    again = held_flips(case, "occlusion", most=3, confidence=0.8, noise=[0.05, 0.1], copies=2)
    assert repr(again) == repr(made["occlusion"])  # nan is not equal to itself
    distances = [own["searches"]["prefix"]["none"]["distance"] for own in made["rcexplainer"]["classes"].values()]
    assert any(value == value for value in distances)


def test_a_slow_method_scores_every_graph_once(case, monkeypatch) -> None:
    scored = []
    own = baselines.Occlusion.scores
    monkeypatch.setattr(
        baselines.Occlusion, "scores", lambda self, some, labels: scored.append(len(some)) or own(self, some, labels)
    )
    found = held_flips(case, "occlusion", most=3, confidence=0.8, noise=[0.05], copies=1)
    assert sum(scored) == sum(one["instances"] for one in found["classes"].values())


def test_a_method_that_cannot_explain_the_network_says_why(case) -> None:
    found = held_flips(case, "attention", most=3, confidence=0.8, noise=[0.05], copies=1)
    assert found["skipped"]
    assert found["classes"] == {}


def test_confidences_by_name() -> None:
    assert [confidence_key(one) for one in (None, 0.8, 0.95)] == ["none", "0.8", "0.95"]
