"""docs/trust.md says what the figures in docs/trust say."""

import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import rcexplainer as rc
from tests.hostile.trust_tools import trust_tool

ROOT = Path(__file__).parents[1]


def test_the_page_is_made_of_the_figures(tmp_path):
    command = [sys.executable, ROOT / "tools" / "trust" / "page.py", "--out", tmp_path / "trust.md"]
    subprocess.run([*command, "--figures", ROOT / "docs" / "trust"], check=True, timeout=120)
    assert (tmp_path / "trust.md").read_text() == (ROOT / "docs" / "trust.md").read_text()


def test_every_figure_stands_on_the_page():
    page = (ROOT / "docs" / "trust.md").read_text()
    for path in (ROOT / "docs" / "trust").glob("*.json"):
        document = json.loads(path.read_text())
        assert document["part"] == path.stem
        assert f"`{document['command']}`" in page
        for name, value in document["figures"].items():
            shown = f"{value:,}" if isinstance(value, int) else str(value)
            assert f"\n- {name}: {shown}\n" in page


def test_no_kill_has_lost_anything():
    figures = json.loads((ROOT / "docs" / "trust" / "kills.json").read_text())["figures"]
    assert figures["lost"] == 0
    assert figures["kills"] == sum(value for name, value in figures.items() if name.startswith("SIG"))


def test_every_part_says_of_which_commit_it_is():
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    heads = re.findall(r"^`python (.*)` \(version .*\):$", page, re.M)
    assert len(heads) == len(list((ROOT / "docs" / "trust").glob("*.json")))
    told = re.findall(r"^`python .*` \(version [\d.]+, seed \d+(.*)\):$", page, re.M)
    assert all(re.match(r", commit \w{7}|; the commit was not recorded", one) for one in told)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"commit": "0123456789", "sources": "abc"}, ", commit 0123456, sources abc"),
        (
            {"commit": "0123456+changes", "sources": "abc"},
            ", commit 0123456, with changes that were not committed, sources abc",
        ),
        ({"rows": [{"commit": "0123456789"}, {"commit": "0123456789"}]}, ", commit 0123456"),
        ({"rows": [{"commit": "0123456789"}, {"commit": "9876543210"}]}, "; the commit was not recorded"),
        ({"commit": None, "sources": "abc"}, "; the commit was not recorded"),
    ],
)
def test_what_is_known_of_a_commit(known, said):
    assert trust_tool("page")._made_at({"part": "other", "rows": []} | known) == said


def test_a_part_keeps_commit_and_sources(tmp_path, monkeypatch, capsys):
    record = trust_tool("part_record")
    monkeypatch.setattr(record, "commit", lambda: "0123456")
    assert record.finish(tmp_path, "cases", seed=0, sizes={}, figures={"cases": 1}) == 0
    kept = json.loads((tmp_path / "cases.json").read_text(encoding="utf-8"))
    assert (kept["version"], kept["commit"]) == (rc.__version__, "0123456")
    assert kept["sources"] == trust_tool("source_digest").source_digest()
    assert '"cases": 1' in capsys.readouterr().out


def test_a_digest_is_of_the_content(tmp_path):
    digest = trust_tool("source_digest").source_digest
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    first = digest(tmp_path)
    assert first == digest(tmp_path)
    (tmp_path / "a.py").write_text("x = 2\n", encoding="utf-8")
    assert digest(tmp_path) != first


def test_functions_that_no_case_calls_are_named():
    rows = json.loads((ROOT / "docs" / "trust" / "cases.json").read_text(encoding="utf-8"))["rows"]
    called = {re.sub(r"^(datasets|metrics|gnn|viz|integrations)\.", "", row["call"]) for row in rows}
    called |= {{"split": "stratified_split", "table": "GraphTable"}.get(name, name) for name in called}
    left = trust_tool("page_words").NOT_CALLED
    for part in rc.PARTS:
        module = import_module(f"rcexplainer.{part}")
        public = {name for name in getattr(module, "__all__", ()) if inspect.isfunction(getattr(module, name))}
        if part == "integrations":
            public = set(module.__all__)
        assert public - called == set(left.get(part, ())), part
    assert {"load", "save"} <= called


def test_rates_of_mutants_are_those_of_their_counts():
    document = json.loads((ROOT / "docs" / "trust" / "mutants.json").read_text(encoding="utf-8"))
    plain, share = "killed of all that were run", "killed of those that change behaviour"
    tool = (ROOT / "tools" / "trust" / "mutants.py").read_text(encoding="utf-8")
    assert f'"{plain}"' in tool
    assert f'"{share}"' in tool
    for row in document["rows"]:
        killed, run = row["killed"] + row["timed out"], row["mutants"] - row.get("not tried", 0)
        assert document["figures"][f"{row['package']}, {plain}"] == round(killed / run, 4)
        assert document["figures"][f"{row['package']}, {share}"] == round(killed / (run - row["change nothing"]), 4)


def test_a_service_that_was_not_asked_has_no_number():
    figures = json.loads((ROOT / "docs" / "trust" / "audit.json").read_text(encoding="utf-8"))["figures"]
    assert (figures["advisories"] == "not asked") == (figures["packages_asked"] == 0)


def test_stored_results_are_drawn_from_every_entry_and_none_where_nothing_is_stored(tmp_path, monkeypatch):
    """The drawing alone: nothing is stored, so nothing is run."""
    monkeypatch.setattr(sys, "argv", ["again.py", "--out", str(tmp_path), "--results", str(tmp_path / "none")])
    assert trust_tool("again").main() == 0
    assert json.loads((tmp_path / "again.json").read_text())["figures"]["results compared"] == 0
