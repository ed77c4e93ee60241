"""Where results come from, in words; a run that would mix origins says so, and `fresh` runs all of it here."""

from pathlib import Path

import pytest

from rcexplainer import __version__
from rcexplainer.paper import origin, reproduce, runner
from rcexplainer.paper.entries import plan
from rcexplainer.paper.job import digest_of
from rcexplainer.paper.record import Record
from rcexplainer.paper.store import Store
from tests.paper.fakes import result_of


def kept(machine: str = "one", torch: str = "2.1", commit: str | None = "abc", **other) -> Record:
    about = {"versions": {"torch": torch, "rcexplainer": __version__}, "machine": machine, "commit": commit, **other}
    inputs = {"number": 1}
    return Record("toy", "toy", inputs, digest_of("toy", inputs), 1.0, {"weights": "w"}, about)


def test_results_of_one_origin_need_no_words() -> None:
    assert origin.mixture([kept(), kept()]) == ""
    assert origin.unproven([kept(), kept()]) == ""
    assert origin.mixture([]) == origin.unproven([]) == ""


def test_several_origins_are_counted_in_one_sentence() -> None:
    ones = [kept(), kept(), kept("two", "2.2", device="cuda"), kept(dirty=True)]
    assert origin.mixture(ones) == (
        "These results are of 2 machines (one: 3; two: 1), 2 versions of torch (torch 2.1: 3; torch 2.2: 1), "
        "2 devices (CPU: 3; cuda: 1), 2 commits (abc: 3; abc+changes: 1)."
    )


def test_what_cannot_be_traced_is_counted_in_one_sentence() -> None:
    bare = Record("toy", "toy", {}, "false digest", 1.0, {}, {})
    assert origin.unproven([kept(), bare, kept(commit="abc+changes"), kept(dirty=True)]) == (
        "Of 4 results, 1 of version ?; 1 relabelled, their digest is not of what was computed; 1 without the commit "
        "that computed them; 2 computed from a source with changes that were not committed; 1 without the hash of "
        "their network's weights."
    )


def test_an_origin_names_the_machine_and_says_whether_the_source_was_edited(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(origin, "commit", lambda: "abc+changes")
    cpu = tmp_path / "cpuinfo"
    cpu.write_text("processor : 0\nmodel name : A Fine Processor\n", encoding="utf-8")
    monkeypatch.setattr(origin, "CPU_FILE", cpu)
    found = origin.origin()
    assert (found["commit"], found["dirty"]) == ("abc", True)
    assert ", A Fine Processor, " in found["machine"]
    assert found["machine"].endswith(" cores")
    monkeypatch.setattr(origin, "CPU_FILE", tmp_path / "none")
    monkeypatch.setattr(origin, "commit", lambda: None)
    found = origin.origin()
    assert (found["commit"], found["dirty"]) == (None, None)
    assert found["machine"].count(", ") == 1


@pytest.fixture
def made_up(monkeypatch) -> list[str]:
    """Jobs that take no time; their labels as they are run."""
    done: list[str] = []

    def work(job, networks: Path, device: str | None = None) -> dict:
        done.append(job.label)
        return result_of(job) or {"weights": "w"}

    monkeypatch.setattr(reproduce, "work", work)
    monkeypatch.setattr(reproduce, "write_figures", lambda *given: [])
    return done


def on(monkeypatch, machine: str) -> None:
    about = {"versions": {"rcexplainer": "0.2.0", "torch": "2.1"}, "machine": machine, "commit": "abc", "dirty": False}
    for module in (reproduce, runner):
        monkeypatch.setattr(module, "origin", lambda: about)


def test_a_run_that_would_mix_machines_says_so_and_goes_on(tmp_path, monkeypatch, made_up, caplog) -> None:
    on(monkeypatch, "one")
    reproduce.reproduce("case-study", "standard", tmp_path, progress=False)
    assert len(made_up) == 6
    assert caplog.text == ""
    on(monkeypatch, "two")
    reproduce.reproduce("case-study", "standard", tmp_path, progress=False)
    assert caplog.text == ""  # nothing is to be run
    store, planned = Store(tmp_path), plan("case-study", "standard")
    store.forget(planned.jobs[:2])
    reproduce.reproduce("case-study", "standard", tmp_path, progress=False)
    assert "case-study: 4 of its 6 results are of one (here: two). The rest is run here, and its page" in caplog.text
    assert len(made_up) == 8
    said = "These results are of 2 machines (one: 4; two: 2)."
    assert said in (tmp_path / "case-study.md").read_text("utf-8")
    assert said in (tmp_path / "README.md").read_text("utf-8")


def test_fresh_runs_everything_here(tmp_path, monkeypatch, made_up, caplog) -> None:
    on(monkeypatch, "one")
    reproduce.reproduce("case-study", "standard", tmp_path, progress=False)
    on(monkeypatch, "two")
    found = reproduce.reproduce("case-study", "standard", tmp_path, progress=False, fresh=True)
    assert len(made_up) == 12
    assert caplog.text == ""
    assert {one.about["machine"] for one in found.found.records.values()} == {"two"}
    assert "machines" not in (tmp_path / "case-study.md").read_text("utf-8")
