"""Tables of what boundaries add, from made-up results."""

from rcexplainer.paper.boundary_tables import boundary_headline, boundary_tables, first_of, paired
from rcexplainer.paper.plan import profile_settings
from rcexplainer.paper.variants import panels, variants

SETTINGS = profile_settings("boundaries", "standard")


def result(seed: int, fidelity: float, dead: str = "") -> dict:
    return {"seed": seed, "fidelity": [fidelity] * 6, "auc": 0.9, "flipped": 1.0, "dead": dead}


def found(**methods: list[dict]) -> list[tuple[dict, dict]]:
    tags = {"dataset": "mutagenicity", "model": "paper"}
    return [({**tags, "variant": name}, one) for name, results in methods.items() for one in results]


RESULTS = {
    "(a) region": [result(0, 0.5), result(1, 0.7), result(2, 0.6)],
    "(e) probability": [result(2, 0.7), result(0, 0.6, "dead: …"), result(1, 0.8)],  # in another order
    "default, (a)": [result(0, 0.8), result(1, 0.8), result(2, 0.8)],
    "greedy": [result(0, 0.9), result(1, 0.9), result(2, 0.9)],
}


def test_rows_are_compared_with_the_first_of_their_training_seed_by_seed() -> None:
    (table,) = boundary_tables(SETTINGS, found(**RESULTS))
    rows = {row["what masks should leave"]: row for row in table.to_rows()}
    assert rows["(e) probability"]["Δ Σ fidelity"] == "+0.50 ± 0.00*"  # .1 at five sparsities, every seed alike
    assert rows["(a) region"]["Δ Σ fidelity"] == ""
    assert rows["default, (a)"]["Δ Σ fidelity"] == ""
    assert rows["greedy"]["Δ Σ fidelity"] == ""
    assert rows["(e) probability"]["dead"] == "1 of 3"


def test_the_headline_has_the_first_rows_and_the_differences_of_the_others() -> None:
    table = boundary_headline(SETTINGS, found(**RESULTS))
    assert table is not None
    rows = {row["what masks should leave"]: row["mutagenicity, paper"] for row in table.to_rows()}
    assert rows == {
        "(a) region": "3.00 ± 0.50",
        "(e) probability": "+0.50 ± 0.00*",
        "default, (a)": "4.00 ± 0.00",
    }
    assert boundary_headline(SETTINGS, []) is None


def test_a_difference_within_its_interval_has_no_star() -> None:
    assert paired([0.1, -0.1, 0.05]).text == "+0.02 ± 0.26"
    assert paired([0.1]).text == "+0.10"
    assert paired([0.001, 0.001, 0.0011]).text == "0.00 ± 0.00"
    assert paired([]).text == "–"


def test_a_training_is_compared_with_itself() -> None:
    assert first_of("(e) probability", RESULTS) == "(a) region"
    assert first_of("default, (a)", RESULTS) == "default, (a)"
    assert first_of("greedy", {"greedy": []}) is None


def test_only_what_masks_leave_differs_between_the_rows() -> None:
    rows = [one for one in variants(SETTINGS, "ba-community") if one.tags["variant"].startswith("(")]
    assert [one.tags["variant"][:3] for one in rows] == ["(a)", "(b)", "(c)", "(d)", "(e)", "(f)"]
    kept = [{key: value for key, value in one.settings.items() if key not in ("leave", "tight")} for one in rows]
    assert all(one == kept[0] for one in kept)
    assert not [one for one in variants(SETTINGS, "ba-community") if one.tags["variant"].startswith("default")]
    assert len(panels(SETTINGS)) == 4
