"""Tables of the authors' protocol, from made-up results."""

from torch import nn, tensor

from rcexplainer.paper.authors_protocol import AUTHORS_SPARSITIES, head_norm, saturated
from rcexplainer.paper.authors_tables import authors_headline, authors_tables
from rcexplainer.paper.plan import EntryPlan, profile_settings
from rcexplainer.paper.verdicts import JUDGES

SETTINGS = {
    "variants": {"released": {"preset": "released"}},
    "reference": {"mutagenicity": {"the authors": {".935": 0.553, ".777": 0.708}}},
}


def curve(fidelity: float, density: float = 0.3) -> dict:
    places = len(AUTHORS_SPARSITIES)
    return {
        "graphs": 10,
        "fidelity": [fidelity] * places,
        "flips": [fidelity] * places,
        "realised": list(AUTHORS_SPARSITIES),
        "edgeless": 0.98,
        "thinned": [0.9, 0.6, 0.4, 0.2],
        "density": density,
        "spread": 0.5,
    }


def found(**methods: list[dict]) -> list[tuple[dict, dict]]:
    return [
        ({"dataset": "mutagenicity", "model": "paper", "variant": name, "seed": seed}, one)
        for name, results in methods.items()
        for seed, one in enumerate(results)
    ]


def result(fidelity: float, density: float = 0.3) -> dict:
    own = curve(fidelity, density)
    return {"same": own, "held_out": curve(fidelity / 2, density), "gnn_accuracy": 0.8, "head": 37.25}


def test_ours_stand_beside_the_authors_and_greedy() -> None:
    results = found(released=[result(0.6), result(0.7, density=0.999)], greedy=[result(0.8), result(0.8)])
    same, held_out, networks = authors_tables(SETTINGS, results)
    rows = {row["method"]: row for row in same.to_rows()}
    assert rows["released"][".935 ↑"] == "0.65 ± 0.07"
    assert rows["released"]["saturated"] == "1 of 2"
    assert rows["greedy"]["saturated"] == "–"
    assert rows["released"]["ratio to greedy"] == "0.81 ± 0.09"  # (.6 / .8 and .7 / .8)
    assert rows["the authors"][".935 ↑"] == "0.553"
    assert rows["the authors"][".837 ↑"] == ""
    assert "realised sparsities" in same.notes[0]
    assert [row["method"] for row in held_out.to_rows()] == ["released", "greedy"]
    assert networks.to_rows()[0] == {
        "network": "mutagenicity, seed 0",
        "test accuracy": "0.800",
        "‖w₁ − w₀‖": "37.2",
        "stay without any edge": "0.98",
        "at weight .75": "0.90",
        "at weight .50": "0.60",
        "at weight .40": "0.40",
        "at weight .25": "0.20",
        "released at .883": "0.60",
        "greedy at .883": "0.80",
    }


def test_networks_of_earlier_results_have_no_thinned_edges() -> None:
    early = result(0.6)
    del early["same"]["thinned"]
    *_, networks = authors_tables(SETTINGS, found(released=[early]))
    row = networks.to_rows()[0]
    assert row["at weight .50"] == "–"
    assert row["greedy at .883"] == "–"


def test_the_headline_has_the_sparsities_of_the_aims() -> None:
    table = authors_headline(SETTINGS, found(released=[result(0.6)], greedy=[result(0.8)]))
    assert table is not None
    assert table.to_rows()[0] == {
        "dataset, method": "mutagenicity: released",
        ".935": "0.60",
        ".883": "0.60",
        ".837": "0.60",
        ".777": "0.60",
        "ratio to greedy": "0.75",
    }
    assert authors_headline(SETTINGS, []) is None


def test_a_ratio_to_little_is_not_printed() -> None:
    same, *_ = authors_tables({}, found(released=[result(0.05)], greedy=[result(0.05)]))
    assert same.to_rows()[0]["ratio to greedy"] == "–"


def test_masks_near_0_or_1_are_saturated() -> None:
    """A mask of .98 has the logit 3.9, and so a score of ½ (1 + 3.9 / 4.9) = .90."""
    assert [saturated({"density": value}) for value in (0.05, 0.1, 0.5, 0.9, 0.95)] == [True, False, False, False, True]


def test_the_aims_are_judged_by_the_mean_over_the_seeds() -> None:
    planned = EntryPlan("authors", profile_settings("authors", "standard") | {"seeds": 2}, {})
    tagged = found(released=[result(0.6), result(0.7)], paper=[result(0.5)] * 2, greedy=[result(0.8)] * 2)
    first, second = JUDGES["authors"](planned.settings, planned.settings["aims"], tagged)
    assert (first.reached, first.found) == (False, ".650 at .777; .650 at .837")
    assert (second.reached, second.found) == (True, ".625 of greedy deletion")
    open_, _ = JUDGES["authors"](planned.settings, planned.settings["aims"], found(greedy=[result(0.8)]))
    assert (open_.reached, open_.found) == (None, "released: not run")


def test_the_norm_of_a_head_is_that_of_its_difference_vector() -> None:
    head = nn.Linear(2, 2)
    head.weight.data = tensor([[1.0, 1.0], [4.0, 5.0]])
    assert head_norm(head) == 5.0
    assert head_norm(nn.Linear(2, 3)) is None
    assert head_norm(nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))) is None


def test_what_differs_by_dataset_is_set_by_the_entry() -> None:
    from rcexplainer.paper.variants import variants

    settings = profile_settings("authors", "standard")
    sparse = {
        dataset: next(one for one in variants(settings, dataset) if one.tags["variant"] == "paper").settings
        for dataset in ("mutagenicity", "nci1", "ba-2motifs")
    }
    assert sparse["mutagenicity"]["weight_sparse"] == 2 * 6e-4  # an edge counts once here
    assert "weight_sparse" not in sparse["nci1"]
    assert "weight_sparse" not in sparse["ba-2motifs"]
