"""The Markdown pages: tables, the front page, the pages of the entries."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rcexplainer import __version__
from rcexplainer.paper import store as store_module
from rcexplainer.paper.entries import PAPER_ENTRIES, plan
from rcexplainer.paper.failures import Failed, Skipped, read_failures, with_skipped, write_failures
from rcexplainer.paper.markdown_pages import table_text, write_pages
from rcexplainer.paper.paper_index import paper_items
from rcexplainer.paper.plan import settings_file
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
    (tmp_path / "figures" / "figures.json").write_text(json.dumps(drawn), encoding="utf-8")
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
    assert "| ✓ | p(class) lost without that motif | > 0, every pair | lowest .800" in page
    assert "| – open |" not in page  # they are on the pages of their entries, and counted here
    assert "Open, as jobs are missing or values undecided:" in page
    assert "| [Fidelity against λ](lambda.md) | appendix, figure of λ | 19 of 21 jobs are done. |" in page
    tables = (folder.folder / "headlines.md").read_text("utf-8")
    section = tables.split("## Fidelity against λ")[1].split("\n## ")[0]
    assert "[All tables and figures](lambda.md) · `rcexplainer reproduce lambda` · appendix, figure of λ" in section
    assert "19 of 21 jobs are done." in section
    assert section.count("| method |") == 1
    assert "First." not in page + tables
    assert "figures/" not in page + tables
    assert "[One table of each](headlines.md)" in page
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


def test_every_table_and_figure_of_the_paper_is_found_with_ours_and_a_reason(folder: Store) -> None:
    page = write_pages(read_folder(folder, "standard")).read_text("utf-8")
    rows = page.split("## From the paper to here")[1].split("\n## ")[0].splitlines()
    rows = [row for row in rows if row.startswith("| ")][2:]
    # All that the paper's LaTeX source prints, appendix included.
    assert [item.label for item in paper_items()] == [
        "fig:fidelity",
        "fig:robustness",
        "table:time",
        "fig:training",
        "fig:case",
        "table:datasets_props",
        "fig:robust_auck_4_12",
        "fig:robust_nodeacc",
        "table:node_acc_results",
        "fig:ldb",
        "fig:lambda",
        "table:qualitative",
    ]
    assert len(rows) == 12
    for item, row in zip(paper_items(), rows, strict=True):
        assert item.differs.endswith(".")
        assert item.known(PAPER_ENTRIES) == list(item.entries), f"{item.label}: an entry was renamed"
        assert all(f"]({name}.md)" in row for name in item.entries), item.label
    shown = {name for item in paper_items() for name in item.entries}
    assert shown == {name for name in PAPER_ENTRIES if not settings_file(name)["where"].startswith("ours")}
    (boundaries,) = next(item.entries for item in paper_items() if item.label == "fig:ldb")
    assert settings_file(boundaries)["vary"] == "candidates_per_class"


def test_an_entry_may_have_a_section_on_the_front_page_whose_figures_are_checked(folder: Store, caplog) -> None:
    notes = 'lambda = ["At .95 it is .51, or 0.510.", "By version 0.1 it was .77 at .951."]'
    (folder.folder / "notes.toml").write_text(notes, encoding="utf-8")
    found = read_folder(folder, "standard")
    assert "What λ adds" not in write_pages(found).read_text("utf-8")
    plans = [
        replace(one, settings=one.settings | {"front": "What λ adds"}) if one.name == "lambda" else one
        for one in found.plans
    ]
    page = write_pages(replace(found, plans=tuple(plans))).read_text("utf-8")
    section = page.split("## What λ adds")[1].split("\n## ")[0]
    assert page.index("## What λ adds") < page.index("## From the paper to here") < page.index("## Claims")
    assert "At .95 it is .51, or 0.510.\n" in section
    assert "By version 0.1 it was .77 at .951. (In no table of this entry: .77, .951.)" in section
    assert section.count("| method |") == 1
    assert "figures of a note are in no table: .77, .951" in caplog.text


def test_failures_are_kept_until_there_is_a_result(tmp_path: Path) -> None:
    assert read_failures(tmp_path, JOBS) == ((), ())
    write_failures(tmp_path, JOBS, [Failed(JOBS[0], "broken"), Skipped(JOBS[1], "no data")])
    write_failures(tmp_path, JOBS[2:], [])
    assert read_failures(tmp_path, JOBS) == ((Failed(JOBS[0], "broken"),), (Skipped(JOBS[1], "no data"),))
    assert read_failures(tmp_path, JOBS[1:]) == ((), (Skipped(JOBS[1], "no data"),))
    write_failures(tmp_path, JOBS, [])
    assert read_failures(tmp_path, JOBS) == ((), ())
    (tmp_path / "failures.json").write_text('{"half": ', encoding="utf-8")
    assert read_failures(tmp_path, JOBS) == ((), ())
    assert with_skipped({}, [Skipped(JOBS[0], "no data")]) == {}  # no table names jobs of this kind
