"""The settings of the baselines: the rule, the tables, `tuned.toml`, and what it says against the stored results."""

import tomllib
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from rcexplainer.benchmark import case as cases
from rcexplainer.benchmark import layout
from rcexplainer.benchmark.methods import METHODS, MethodInputs
from rcexplainer.benchmark.tuned import all_tuned, tuned_settings
from rcexplainer.benchmark.validation import ValidationCase
from rcexplainer.datasets import task_of
from rcexplainer.errors import RCExplainerError
from rcexplainer.paper import job_inputs
from rcexplainer.paper.entries import plan
from rcexplainer.paper.job_kinds import measure_job, tuning_job
from rcexplainer.paper.packs import read_archive
from rcexplainer.paper.plan import settings_file
from rcexplainer.paper.tuning import tuning_scores
from rcexplainer.paper.tuning_tables import GridPoint, best_settings, tuned_winners, tuning_tables
from tests.paper.toys import toy_data

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = spec_from_file_location("tuned_settings", ROOT / "tools" / "tuned_settings.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_rule() -> None:
    dead = GridPoint("a", {}, (0.1, 0.1), "dead: …")
    first, second = GridPoint("b", {"lr": 1.0}, (0.2, 0.3)), GridPoint("c", {"lr": 2.0}, (0.3, 0.2))
    gone = GridPoint("d", {}, (), "it is refused")
    assert best_settings([dead, gone, first, second]) is first  # in a tie the first
    assert best_settings([gone]) is None


SETTINGS = {
    "model": "paper",
    "seed": 0,
    "graphs": 9,
    "grids": {"graph": {"cf2": {"defaults": {}, "published": {"weight": 1000.0}, "odd": {"weight": 1.0}}}},
}
RESULT = {
    "instances": 5,
    "random": 0.5,
    "points": [
        {"settings": {}, "fidelity": [0.1, 0.1, 0.1, 0.05, 0.05], "dead": "dead: it is not above"},
        {"settings": {"weight": 1000.0}, "fidelity": [0.2] * 5, "dead": ""},
        {"settings": {"weight": 1.0}, "skipped": "it is refused"},
    ],
}
FOUND = [({"network": True}, {}), ({"dataset": "ba-2motifs", "variant": "cf2"}, RESULT)]


def test_the_tables_name_every_point_and_the_winner() -> None:
    winners, points = tuning_tables(SETTINGS, FOUND)
    assert winners.to_rows() == [
        {
            "dataset": "ba-2motifs",
            "method": "cf2",
            "chosen": "weight = 1000.0",
            "sum": "1.00",
            "first of the grid": "0.40",
            "random order": "0.50",
            "instances": "5",
            "remark": "",
        }
    ]
    rows = points.to_rows()
    assert [row["settings"] for row in rows] == ["defaults", "published: weight = 1000.0", "odd: weight = 1.0"]
    assert [row["rule"] for row in rows] == ["", "← chosen", ""]
    assert [row["sum"] for row in rows] == ["0.40", "1.00", "–"]
    assert [row["remark"] for row in rows] == ["dead: it is not above", "", "it is refused"]
    assert tuning_tables(SETTINGS, FOUND[:1]) == []


def test_the_file_is_written_from_the_winners(tool) -> None:
    winners = {"nci1": {"pgexplainer": {"temperature": [5.0, 2.0], "epochs": 3}, "cf2": {}}, "tree-grid": {}}
    assert tomllib.loads(tool.tuned_text(winners)) == winners
    assert tuned_winners(SETTINGS, FOUND) == {"ba-2motifs": {"cf2": {"weight": 1000.0}}}


def test_without_results_no_file_is_written(tool, tmp_path, capsys) -> None:
    assert tool.main(str(tmp_path)) == 1
    assert "has no result of" in capsys.readouterr().out


def test_every_grid_has_the_defaults_first_and_a_published_point() -> None:
    """But NoLDB: the paper gives no value of its one setting."""
    for task, methods in settings_file("tuning")["grids"].items():
        for method, grid in methods.items():
            assert next(iter(grid)) == "defaults", (task, method)
            assert grid["defaults"] == {}, (task, method)
            assert 4 <= len(grid) <= 8, (task, method)  # eight for PGExplainer alone, which most points leave dead
            assert method == "rcexplainer-noldb" or any("published" in name for name in grid), (task, method)
            made = [METHODS[method].settings(MethodInputs(task, 0, own=own)) for own in grid.values()]
            assert all(one not in made[:place] for place, one in enumerate(made)), (task, method)


def test_a_point_is_measured_on_validation_instances(tmp_path, monkeypatch) -> None:
    grid = [{"epochs": 1}, {"epochs": 1, "edge_size": -1.0}]
    with toy_data():
        case = ValidationCase.of("ba-2motifs", "paper", 0, keep=tmp_path, progress=False)
        found = tuning_scores(replace(case, training_graphs=8), "pgexplainer", grid, 3)
        monkeypatch.setitem(layout.EXPLAINED, "ba-2motifs", 7)  # a class that is never predicted
        with pytest.raises(RCExplainerError, match="ba-2motifs has no validation instance"):
            tuning_scores(replace(case), "pgexplainer", grid, 3)
    good, bad = found["points"]
    assert found["instances"] == 3
    assert len(good["fidelity"]) == 5
    assert good["settings"] == grid[0]
    assert "edge_size" in bad["skipped"]


def test_every_tuned_setting_is_accepted_by_its_method() -> None:
    for dataset, methods in all_tuned().items():
        for method, own in methods.items():
            fields = METHODS[method].settings(MethodInputs(task_of(dataset), 0, tuned=own))
            plain = fields.get("settings", fields)
            for name, value in own.items():
                assert plain[name] == (tuple(value) if isinstance(value, list) else value), (dataset, method, name)
    assert tuned_settings("no such dataset", "cf2") == {}


def test_a_changed_winner_is_another_job_and_tuning_knows_none(monkeypatch) -> None:
    def digests() -> tuple[str, str, str]:
        where = ("ba-2motifs", "paper", 0)
        tuning = tuning_job(*where, "cf2", grid=[{}], graphs=9, most=9)
        return measure_job(*where, "cf2").digest, measure_job(*where, "random").digest, tuning.digest

    monkeypatch.setattr(job_inputs, "tuned_settings", lambda dataset, method: {})
    before = digests()
    tuned = {"cf2": {"weight": 77.0}}
    monkeypatch.setattr(job_inputs, "tuned_settings", lambda dataset, method: tuned.get(method, {}))
    after = digests()
    assert before[0] != after[0]
    assert before[1:] == after[1:]
    assert measure_job("ba-2motifs", "paper", 0, "cf2").inputs["fields"]["weight"] == 77.0
    assert measure_job("ba-2motifs", "paper", 0, "cf2", own={"weight": 5.0}).inputs["fields"]["weight"] == 5.0


def test_noldb_takes_tuned_settings_below_those_of_the_profile_and_in_the_default_preset_alone() -> None:
    def fields(preset: str = "default", **settings):
        inputs = MethodInputs("graph", 0, preset, settings, {"eta": 3.0, "lr": 0.5})
        return METHODS["rcexplainer-noldb"].settings(inputs)

    assert (fields()["eta"], fields()["lr"], fields(lr=0.25)["lr"]) == (3.0, 0.5, 0.25)
    assert fields("paper")["eta"] == 10.0


def test_a_method_is_made_with_the_tuned_settings_of_its_dataset(monkeypatch) -> None:
    monkeypatch.setattr(cases, "tuned_settings", lambda dataset, method: {"weight": 7.0} if method == "cf2" else {})
    made = []
    monkeypatch.setattr("rcexplainer.baselines.CF2.fit", lambda method, *_, **__: made.append(method.weight))
    with toy_data():
        case = cases.Case.of("ba-2motifs", "paper", 0, progress=False)
    METHODS["cf2"].fit(case, False)
    assert made == [7.0]


def test_the_file_says_what_the_stored_results_say() -> None:
    planned = plan("tuning", "standard")
    kept = read_archive(ROOT / "results" / "runs").by_digest
    results = {job: kept[job.digest].result for job in planned.jobs if job.digest in kept}
    if len(results) < len(planned.jobs):
        pytest.skip(f"results/runs has {len(results)} of the {len(planned.jobs)} jobs of the entry tuning")
    assert all_tuned() == tuned_winners(planned.settings, planned.tagged(results))
