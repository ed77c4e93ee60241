"""Fitting to a saved network: on its own split, with settings as they are typed."""

import json
import math
from dataclasses import replace

import pytest

import rcexplainer as rc
from rcexplainer.cli import fit_ as fitting
from rcexplainer.cli.fit_ import fit_saved, open_gnn, parse_settings
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn import load_gnn, save_gnn
from tests.benchmark.toys import save_toy, small


def test_an_explainer_is_fitted_and_kept(gnn, tmp_path):
    out = tmp_path / "new" / "explainer.safetensors"
    report = fit_saved(
        "ba-2motifs",
        gnn,
        out,
        settings={"epochs": 2},
        checkpoint=tmp_path / "fit.safetensors",
        device="cpu",
        progress=False,
    )
    assert (report.graphs, report.validation, report.epochs, report.seed) == (80, 10, 2, 0)
    assert report.row()["regions"] == len(report.regions) == 2
    assert sum(region["covered"] for region in report.regions) == 80
    assert {region["class"] for region in report.regions} == {"cycle", "house"}
    assert math.isfinite(report.validation_loss)
    assert "boundaries" in report.caption()
    assert str(out) in report.caption()
    document = json.loads(json.dumps(report.to_json()))
    assert document["settings"]["epochs"] == 2
    assert (tmp_path / "fit.safetensors").exists()
    fitted = rc.load(out, load_gnn(gnn).model)
    assert fitted.class_names == ("cycle", "house")


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_every_preset(gnn, tmp_path, preset, caplog):
    report = fit_saved(
        "ba-2motifs", gnn, tmp_path / "e", preset=preset, settings={"epochs": 1, "patience": 1}, progress=False
    )
    assert report.preset == preset
    assert report.settings["weight_regions"] == 15


def test_the_split_is_the_one_the_network_was_trained_on(tmp_path):
    path = save_toy(tmp_path, "ba-2motifs", seed=3)
    opened = open_gnn("ba-2motifs", path)
    assert opened.seed == 3
    assert opened.data.split.test.tolist() == small("ba-2motifs", seed=3).split.test.tolist()
    assert open_gnn("ba-2motifs", path, 3).seed == 3
    with pytest.raises(CheckpointError, match="was trained with seed 3: --seed 0 would give it another split"):
        open_gnn("ba-2motifs", path, 0)


def test_a_network_of_which_nothing_is_written_down(gnn, tmp_path):
    model = load_gnn(gnn).model
    path = save_gnn(tmp_path / "gnn", model)
    assert open_gnn("ba-2motifs", path).seed == 0
    assert open_gnn("ba-2motifs", path, 5).seed == 5
    with pytest.raises(CheckpointError, match=r"trained on other data: it has 10 node features, nitro has \d+"):
        open_gnn("nitro", path)


def test_other_data_are_refused(gnn, tmp_path):
    with pytest.raises(CheckpointError, match="was trained on ba-2motifs, not on nitro"):
        open_gnn("nitro", gnn)
    with pytest.raises(RCExplainerError, match="tree-cycles is of nodes: this command is for graphs"):
        open_gnn("tree-cycles", gnn)


def test_a_file_is_the_same_from_any_folder(gnn, tmp_path, monkeypatch):
    path = save_gnn(tmp_path / "gnn", load_gnn(gnn).model, {"dataset": "csv:data/mine.csv"})
    monkeypatch.setattr(fitting, "load", lambda name, root, seed: replace(small("ba-2motifs"), name=name))
    assert open_gnn("csv:/home/me/data/mine.csv", path).data.name == "csv:/home/me/data/mine.csv"
    with pytest.raises(CheckpointError, match=r"was trained on csv:data/mine.csv, not on csv:yours.csv"):
        open_gnn("csv:yours.csv", path)


def test_settings_are_read_as_their_fields_types():
    texts = ["epochs=20", "lr=1e-2", "scaled=no", "gate = concrete", "weight_same=1"]
    expected = {"epochs": 20, "lr": 0.01, "scaled": False, "gate": "concrete", "weight_same": 1.0}
    assert parse_settings(texts) == expected
    assert isinstance(parse_settings(["weight_same=1"])["weight_same"], float)
    assert parse_settings(["epochs=1", "epochs=2"]) == {"epochs": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs", "--set takes name=value, such as epochs=20, got 'epochs'"),
        ("=3", "--set takes name=value, such as epochs=20, got '=3'"),
        ("epochs=2.5", "epochs must be a whole number, got '2.5'"),
        ("lr=fast", "lr must be a number, got 'fast'"),
        ("scaled=perhaps", "scaled must be true or false, got 'perhaps'"),
    ],
)
def test_settings_that_cannot_be_read(text, message):
    with pytest.raises(RCExplainerError) as caught:
        parse_settings([text])
    assert str(caught.value) == message
