"""`rcexplainer reproduce`: what it prints and returns; the runs themselves are tested in tests/paper."""

import json
from types import SimpleNamespace

import pytest

from rcexplainer.cli import reproduce as command
from rcexplainer.paper import reproduce as library


@pytest.fixture
def asked(monkeypatch):
    """A run that does nothing but keep its arguments, with one table, one skipped and one failed job."""
    table = SimpleNamespace(
        to_rows=lambda: [{"method": "greedy", "fidelity": 0.5}], caption="a table", notes=("a note",)
    )
    given = {}

    def run(name, profile, out, **how):
        given.update(name=name, profile=profile, out=out, **how)
        one = SimpleNamespace(job=SimpleNamespace(label="a job"), error="why")
        failed = (one,) if name == "fidelity" else ()
        document = {"profile": profile}
        return SimpleNamespace(tables=lambda: [table], skipped=(one,), failed=failed, to_json=lambda: document)

    monkeypatch.setattr(library, "reproduce", run)
    return given


def test_options_reach_the_run_and_tables_are_shown(run, asked, tmp_path):
    ended = run("reproduce", "tradeoff", "--profile", "quick", "--out", str(tmp_path / "r"), "--jobs", "2", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    expected = {"name": "tradeoff", "profile": "quick", "out": tmp_path / "r", "workers": 2, "progress": False}
    assert asked == expected | {"fresh": False, "device": None}
    assert all(text in ended.out for text in ("greedy", "a table", "a note", "a job", "skipped"))
    assert "failed" not in ended.out


def test_fresh_reaches_the_run(run, asked, tmp_path):
    assert run("reproduce", "tradeoff", "--out", str(tmp_path), "--fresh").code == 0
    assert asked["fresh"] is True


def test_failed_jobs_are_exit_code_1(run, asked, tmp_path):
    ended = run("reproduce", "fidelity", "--out", str(tmp_path))
    assert ended.code == 1
    assert "failed" in ended.out
    ended = run("reproduce", "fidelity", "--out", str(tmp_path), "--json")
    assert (ended.code, json.loads(ended.out)) == (1, {"profile": "quick"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fidelty", "--out", "FOLDER"], "unknown entry 'fidelty'; known: datasets, fidelity"),
        (["fidelity", "--out", "FOLDER", "--profile", "fast"], "unknown profile 'fast'; known: quick, standard, paper"),
        (["fidelity", "--out", __file__], "is a file, not a folder"),
        (["fidelity", "--jobs", "0"], "--jobs"),
    ],
)
def test_mistakes(refused, tmp_path, arguments, message):
    refused(["reproduce", *(str(tmp_path) if word == "FOLDER" else word for word in arguments)], message)


@pytest.mark.parametrize("wrong", [["fidelty"], ["fidelity", "--profile", "fast"], ["fidelity", "--device", "gpu"]])
def test_a_mistake_leaves_no_folder_behind(run, tmp_path, monkeypatch, wrong):
    monkeypatch.chdir(tmp_path)
    assert run("reproduce", *wrong).code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_help_lists_every_entry():
    from rcexplainer.paper.entries import PAPER_ENTRIES

    listed = set(command.ENTRY_HELP.rstrip(".").replace(" or ", " ").replace(",", "").split())
    assert set(PAPER_ENTRIES) | {"all"} <= listed
