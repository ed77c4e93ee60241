"""The entries: every one has a plan in every profile; what cannot be run is named."""

import subprocess
import sys

import pytest

from rcexplainer.benchmark import networks
from rcexplainer.errors import MissingDataError, RCExplainerError
from rcexplainer.paper.entries import PAPER_ENTRIES, plan
from rcexplainer.paper.plan import PROFILES, settings_file
from rcexplainer.paper.reproduce import reproduce
from tests.paper.toys import toy_data


def test_every_entry_has_a_plan_in_every_profile() -> None:
    for name in PAPER_ENTRIES:
        for profile in PROFILES:
            planned = plan(name, profile)
            assert planned.title, (name, profile)
            assert planned.jobs, (name, profile)
        assert set(settings_file(name)) >= {"title", "where", *PROFILES}, name


def test_fidelity_and_robustness_share_their_measurements_and_times_are_taken_apart() -> None:
    fidelity, robustness, time = (plan(name, "standard").jobs for name in ("fidelity", "robustness", "time"))
    assert set(fidelity) < set(robustness)
    others = {job for job, tags in plan("robustness", "standard").rows.items() if "with" in tags.get("variant", "")}
    assert set(robustness) - set(fidelity) == others
    assert {job.kind for job in time} == {"network", "time"}
    assert {job for job in time if job.kind == "network"} < set(fidelity)


def test_slow_methods_are_capped_in_the_standard_profile_only() -> None:
    def caps(profile: str) -> dict[str, dict[str, int | None]]:
        jobs = plan("fidelity", profile).jobs
        return {job.inputs["method"]: job.inputs["caps"] for job in jobs if job.kind == "measure"}

    standard = caps("standard")
    assert standard["subgraphx"] == {"most": 4, "noisy": 4, "overlaps": 0, "labelled": 0}  # at its published samples
    assert standard["rcexplainer"] == {"most": None, "noisy": 100, "overlaps": 30, "labelled": None}
    assert {cap for one in caps("paper").values() for cap in one.values()} == {None}


def test_unknown_names(tmp_path) -> None:
    with pytest.raises(RCExplainerError, match="unknown entry 'fidelty'; known: datasets, fidelity"):
        reproduce("fidelty", "quick", tmp_path)
    with pytest.raises(RCExplainerError, match="unknown profile 'fast'; known: quick, standard, paper"):
        reproduce("fidelity", "fast", tmp_path)


def test_absent_data_is_named_in_tables_and_pages_and_is_no_failure(tmp_path, monkeypatch) -> None:
    def absent(name, root=None, seed=0):
        raise MissingDataError(f"the TU set {name!r} is not there")

    with toy_data() as patch:
        patch.setattr(networks, "load", absent)
        for name in ("datasets", "fidelity", "qualitative"):
            found = reproduce(name, "quick", tmp_path, progress=False)
            assert (found.failed, len(found.skipped)) == ((), len(found.plans[0].jobs))
            assert found.to_json()["entries"][name]["done"] == 0
            assert "is not there" in found.page.read_text(encoding="utf-8").split("## Skipped")[1]
            if name != "qualitative":
                assert "is not there" in str([table.to_rows() for table in found.tables()])


def test_entries_run_as_a_library_call_without_the_command_line_and_figures(tmp_path) -> None:
    code = f"""
import pathlib, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {{"typer", "rich", "matplotlib", "rdkit"}}:
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from rcexplainer.paper.reproduce import reproduce
found = reproduce("datasets", "quick", pathlib.Path({str(tmp_path)!r}), progress=False)
assert found.failed == found.skipped == (), found
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True)
    assert "tree-cycles" in (tmp_path / "datasets.md").read_text("utf-8")
