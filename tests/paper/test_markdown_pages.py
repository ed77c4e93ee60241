"""The Markdown pages: tables, the front page, the pages of the entries."""

import json
from pathlib import Path

import pytest

from rcexplainer import __version__
from rcexplainer.paper import store as store_module
from rcexplainer.paper.entries import plan
from rcexplainer.paper.failures import Failed, Skipped, read_failures, with_skipped, write_failures
from rcexplainer.paper.markdown_pages import table_text, write_pages
from rcexplainer.paper.results_folder import read_folder
from rcexplainer.paper.store import Store
from rcexplainer.paper.table import Column, Table, TableCell
from tests.paper.fakes import results_of
from tests.paper.toy_jobs import JOBS


def test_a_table_in_markdown() -> None:
    rows = ((TableCell("a"), TableCell("1|2", 1.0, best=True)), (TableCell("b"), TableCell("–")))
    caption, lines, notes = table_text(Table("shown", (Column("method"), Column("m", "lower")), rows, ("why\nnot",)))
    assert caption == "**shown**"
    assert lines.splitlines() == ["| method | m ↓ |", "| --- | --- |", "| a | **1\\|2** |", "| b | – |"]
    assert notes == "- why not"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Store:
    """Results of the case study and of λ, but for one job that failed and one that was skipped."""
    monkeypatch.setattr(store_module, "origin", lambda: {"versions": {"rcexplainer": __version__}})
    drawn = {"lambda": {"lambda": "All.", "lambda-deep": "Deep."}, "fidelity": {"fidelity": "Of others."}}
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "figures.json").write_text(json.dumps(drawn))
    (tmp_path / "notes.toml").write_text('lambda = ["First.", "Second."]', encoding="utf-8")
    store = Store(tmp_path)
    store.claim("standard")
    plans = [plan(name, "standard") for name in ("lambda", "case-study")]
    made = [(job, result) for planned in plans for job, result in results_of(planned).items()]
    (failed, _), (skipped, _), *rest = [one for one in made if one[0].kind == "measure"]
    rest += [one for one in made if one[0].kind != "measure"]
    for job, result in rest:
        store.put(job, result, 1.0)
    write_failures(tmp_path, [], [Failed(failed, "it broke\n  in two"), Skipped(skipped, "no data")])
    return store


def test_the_front_page_has_verdicts_one_table_an_entry_and_links(folder: Store) -> None:
    found = read_folder(folder, "standard")
    page = write_pages(found).read_text("utf-8")
    assert page.startswith("# Results\n\nMade by `rcexplainer reproduce all --profile standard --out DIR`")
    # Three claims are about the case study.
    assert f"**3 claims reached, 0 not reached, {len(found.verdicts) - 3} open**" in page
    assert "| ✓ reached | p(class) lost without that motif | > 0, every pair | lowest .800" in page
    section = page.split("## Fidelity against λ")[1].split("\n## ")[0]
    assert "[All tables and figures](lambda.md) · `rcexplainer reproduce lambda` · appendix, figure of λ" in section
    assert "19 of 21 jobs are done." in section
    assert section.count("| method |") == 1
    assert "First." not in page
    assert "figures/" not in page
    assert page.endswith(
        "## Skipped\n\n- ba-2motifs-paper-0-rcexplainer: no data\n\n"
        "## Not done\n\n- ba-2motifs-paper-0-rcexplainer: it broke in two\n"
    )


def test_the_page_of_an_entry_has_all_tables_notes_and_figures(folder: Store) -> None:
    write_pages(read_folder(folder, "standard"))
    page = (folder.folder / "lambda.md").read_text("utf-8")
    assert page.startswith("# Fidelity against λ\n\n`rcexplainer reproduce lambda --profile standard --out DIR` (appe")
    assert "19 of 21 jobs are done. [All results](README.md)" in page
    places = [
        page.index(text) for text in ("First.\n\nSecond.", "![All.](figures/lambda.svg)", "| weight_same = 0.1 |")
    ]
    assert places == sorted(places)
    assert "![Deep.](figures/lambda-deep.svg)" in page
    assert "fidelity.svg" not in page
    assert "weight_same = 0.1 is left out for 1 of 3 seeds: no data" in page
    case = (folder.folder / "case-study.md").read_text("utf-8")
    assert "**3 claims reached, 0 not reached, 0 open**" in case
    assert case.count("house and cycle | cycle and clique") == 3  # one for each seed


def test_failures_are_kept_until_there_is_a_result(tmp_path: Path) -> None:
    assert read_failures(tmp_path, JOBS) == ((), ())
    write_failures(tmp_path, JOBS, [Failed(JOBS[0], "broken"), Skipped(JOBS[1], "no data")])
    write_failures(tmp_path, JOBS[2:], [])
    assert read_failures(tmp_path, JOBS) == ((Failed(JOBS[0], "broken"),), (Skipped(JOBS[1], "no data"),))
    assert read_failures(tmp_path, JOBS[1:]) == ((), (Skipped(JOBS[1], "no data"),))
    write_failures(tmp_path, JOBS, [])
    assert read_failures(tmp_path, JOBS) == ((), ())
    (tmp_path / "failures.json").write_text('{"half": ')
    assert read_failures(tmp_path, JOBS) == ((), ())
    assert with_skipped({}, [Skipped(JOBS[0], "no data")]) == {}  # no table names jobs of this kind
