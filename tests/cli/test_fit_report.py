"""An explainer for a saved network: fitted, saved, reported."""

import json
import math

import pytest

import rcexplainer as rc
from rcexplainer.cli.fit_report import fit_named
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.gnn import load_gnn


def test_an_explainer_is_fitted_and_kept(gnn, tmp_path):
    out = tmp_path / "new" / "explainer.safetensors"
    report = fit_named(
        NamedInputs(str(gnn), "ba-2motifs", device="cpu"),
        out,
        settings={"epochs": 2},
        checkpoint=tmp_path / "fit.safetensors",
        progress=False,
    )
    assert (report.graphs, report.validation, report.epochs, report.seed) == (80, 10, 2, 0)
    assert report.row()["regions"] == len(report.regions) == 2
    assert sum(region["covered"] for region in report.regions) == 80
    assert {region["class"] for region in report.regions} == {"cycle", "house"}
    assert sum(region["members"] for region in report.regions) == 10
    assert report.regions[0]["borders"] == {"house": 1}
    assert all(region["smallest_margin"] <= region["margin"] for region in report.regions)
    assert math.isfinite(report.validation_loss)
    assert "boundaries" in report.caption()
    assert "given: validation graphs in the region" in report.caption()
    assert str(out) in report.caption()
    document = json.loads(json.dumps(report.to_json()))
    assert document["settings"]["epochs"] == 2
    assert (tmp_path / "fit.safetensors").exists()
    fitted = rc.load(out, load_gnn(gnn).model)
    assert fitted.class_names == ("cycle", "house")


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_every_preset(gnn, tmp_path, preset, caplog):
    report = fit_named(
        NamedInputs(str(gnn), "ba-2motifs"),
        tmp_path / "e",
        preset=preset,
        settings={"epochs": 1, "patience": 1},
        progress=False,
    )
    assert report.preset == preset
    assert report.settings["weight_regions"] == 15
