"""Tables of the authors' protocol, from made-up results."""

from torch import nn, tensor

from rcexplainer.paper.authors_protocol import AUTHORS_SPARSITIES, collapsed, head_norm
from rcexplainer.paper.authors_tables import authors_headline, authors_tables
from rcexplainer.paper.plan import profile_settings

SETTINGS = {"reference": {"mutagenicity": {"the authors": {".935": 0.553, ".777": 0.708}}}}


def curve(fidelity: float, density: float = 0.3) -> dict:
    places = len(AUTHORS_SPARSITIES)
    return {
        "graphs": 10,
        "fidelity": [fidelity] * places,
        "flips": [fidelity] * places,
        "realised": list(AUTHORS_SPARSITIES),
        "edgeless": 0.98,
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
    assert rows["released"]["collapsed"] == "1 of 2"
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
    }


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


def test_masks_that_are_all_alike_have_collapsed() -> None:
    assert [collapsed({"density": value}) for value in (0.0, 0.02, 0.5, 0.98, 1.0)] == [True, False, False, False, True]


def test_the_norm_of_a_head_is_that_of_its_difference_vector() -> None:
    head = nn.Linear(2, 2)
    head.weight.data = tensor([[1.0, 1.0], [4.0, 5.0]])
    assert head_norm(head) == 5.0
    assert head_norm(nn.Linear(2, 3)) is None
    assert head_norm(nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))) is None


def test_what_differs_by_dataset_is_set_by_the_entry() -> None:
    from rcexplainer.paper.job_lists import variants

    settings = profile_settings("authors", "standard")
    sparse = {
        dataset: next(one for one in variants(settings, dataset) if one.tags["variant"] == "paper").settings
        for dataset in ("mutagenicity", "nci1", "ba-2motifs")
    }
    assert sparse["mutagenicity"]["weight_sparse"] == 2 * 6e-4  # an edge counts once here
    assert "weight_sparse" not in sparse["nci1"]
    assert "weight_sparse" not in sparse["ba-2motifs"]
