"""The report: complete, self-contained, escaped, and rendered by a real browser."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape
from typer.testing import CliRunner

from rcexplainer import __version__
from rcexplainer.cli.app import app
from rcexplainer.errors import RCExplainerError
from rcexplainer.paper import store
from rcexplainer.paper.entries import plan
from rcexplainer.paper.figure_files import write_figures
from rcexplainer.paper.paper_index import PaperItem
from rcexplainer.paper.report import write_report
from rcexplainer.paper.report_contents import FrontTable, ReportPicture, ReportSection, ResultSource, report_contents
from rcexplainer.paper.report_page import render_report
from rcexplainer.paper.results_folder import open_folder
from rcexplainer.paper.store import Store
from rcexplainer.paper.table import Column, Table, TableCell
from rcexplainer.paper.verdicts import Verdict
from tests.paper.browser import look
from tests.paper.fakes import results_of

ABOUT = {"versions": {"rcexplainer": __version__, "torch": "9.9"}, "machine": "a <machine>", "commit": "abc1234"}


def fill(folder: Path, *names: str, profile: str = "standard") -> Store:
    """A folder as `reproduce` leaves it, with results that were made up."""
    kept = Store(folder)
    kept.claim(profile)
    for name in names:
        planned = plan(name, profile)
        for job, result in results_of(planned).items():
            kept.put(job, result, 1.5)
    return kept


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(store, "origin", lambda: ABOUT)


class Reader(HTMLParser):
    """Every tag with its attributes, and whether all that is opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_holds_verdicts_tables_commands_and_files(tmp_path) -> None:
    fill(tmp_path, "case-study", "datasets")
    found = write_report(tmp_path)
    page = found.page.read_text(encoding="utf-8")
    assert found.page == tmp_path / "report.html"
    assert found.profile == "standard"
    reader = Reader(page)
    assert reader.open == []
    # Two claims of the case study are about probabilities, one about the AUC: all are reached, all others open.
    assert '<li class="yes"><b>3</b>reached</li><li class="no"><b>0</b>not reached</li>' in page
    assert "lowest .970 (" in page
    assert page.index("<h2>What it must show") < page.index("<section")
    assert page.index("<h2>From the paper to here") < page.index("<h2>What it must show")
    assert '<a href="#candidates">Fidelity against the number of sampled boundaries</a>' in page
    assert "rcexplainer reproduce case-study --profile standard --out DIR" in page
    assert "In the paper: appendix, case study. 6 of 6 jobs are done." in page
    assert "<p>Not in the paper, but ours. " in page  # the ablation
    assert "test accuracy ↑" in page
    assert "Commits: abc1234" in page
    assert "a &lt;machine&gt;" in page
    links = [attributes["href"] for tag, attributes in reader.tags if tag == "a"]
    files = [one for one in links if not one.startswith("#")]
    assert files
    assert all((tmp_path / one).is_file() for one in files)
    ids = {attributes["id"] for _, attributes in reader.tags if "id" in attributes}
    assert {one[1:] for one in links if one.startswith("#")} <= ids


def test_nothing_on_the_page_points_outside(tmp_path) -> None:
    fill(tmp_path, "case-study")
    page = write_report(tmp_path).page.read_text(encoding="utf-8")
    assert re.findall(r"(?:src|href)=.(?:https?:)?//", page) == []
    assert "<script" not in page
    assert "@import" not in page


def test_figures_are_within_the_page(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    fill(tmp_path, "lambda", "case-study")
    plans = [plan(name, "standard") for name in ("lambda", "case-study")]
    write_figures(tmp_path, plans, {job: result for one in plans for job, result in results_of(one).items()})
    page = write_report(tmp_path).page.read_text(encoding="utf-8")
    images = [attributes for tag, attributes in Reader(page).tags if tag == "img"]
    assert len(images) == 2
    assert all(image["src"].startswith("data:image/svg+xml;base64,") and image["alt"] for image in images)
    (tmp_path / "figures" / "lambda.svg").unlink()
    (tmp_path / "figures" / "figures.json").write_text('{"lambda": ', encoding="utf-8")
    assert "<img" not in write_report(tmp_path).page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_real_browser_draws_every_figure_and_complains_about_nothing(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    names = ("lambda", "case-study", "nodes")
    fill(tmp_path, *names)
    plans = [plan(name, "standard") for name in names]
    write_figures(tmp_path, plans, {job: result for one in plans for job, result in results_of(one).items()})
    page = write_report(tmp_path).page.read_text(encoding="utf-8")
    for width in (1280, 390):
        seen = look(page, tmp_path, width)
        assert (seen.images, seen.blank, seen.overflow, seen.requests, seen.console) == (3, 0, 0, [], [])
        assert width - 20 <= seen.width <= width


@pytest.mark.slow
def test_the_browser_would_notice(tmp_path) -> None:
    wide = '<body><img src="data:image/png;base64,AAAA"><div style="width:900px">.</div><script>throw 1</script>'
    seen = look(wide, tmp_path, 390)
    assert (seen.images, seen.blank) == (1, 1)
    assert seen.overflow > 400
    assert len(seen.console) == 1


@pytest.mark.parametrize("bad", ["<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>"])
def test_what_is_shown_cannot_become_markup(tmp_path, bad) -> None:
    fill(tmp_path, "case-study")
    own = report_contents(open_folder(tmp_path))
    table = Table(bad, (Column(bad), Column("AUC", "higher")), ((TableCell(bad), TableCell("&", 1.0, True)),), (bad,))
    judged = Verdict(bad, bad, bad, bad, False, bad)
    section = ReportSection(
        *(bad, bad, bad, bad, (bad,), (f"{bad} `{bad}`",), (judged,)),
        (ReportPicture(bad, f"data:{bad}", ("figures/a b.svg", bad)),),
        (table,),
        (ResultSource(bad, f"javascript:{bad}", (bad,) * 6),),
    )
    front = FrontTable(bad, (bad,), table)
    wicked = replace(
        own,
        title=bad,
        broken=(bad,),
        fronts=(front,),
        index=((PaperItem(bad, bad, bad, (bad,), bad), ((bad, bad),)),),
        verdicts=(judged,),
        counts=((bad, 1, bad),),
        origin=bad,
        notes=(bad,),
        sections=(section,),
        undone=((bad, (bad,)),),
    )
    page = render_report(wicked)
    plain = Reader(render_report(own))
    reader = Reader(page)
    assert reader.open == []
    assert {tag for tag, _ in reader.tags} <= {tag for tag, _ in plain.tags} | {"img", "figure", "figcaption", "pre"}
    assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
    assert "<script" not in page
    assert bad not in page
    assert page.count(escape(bad)) > 40
    assert page.count("<b>&amp;</b>") == 2
    assert 'href="figures/a%20b.svg"' in page
    assert 'href="javascript%3A' in page  # a relative address, no scheme


def test_the_policy_allows_this_style_sheet_and_nothing_else(tmp_path) -> None:
    fill(tmp_path, "case-study")
    page = write_report(tmp_path).page.read_text(encoding="utf-8")
    policy = next(
        attributes["content"]
        for tag, attributes in Reader(page).tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy.split("; ")[:3] == ["default-src 'none'", f"style-src 'sha256-{digest}'", "img-src data:"]
    assert "unsafe" not in policy
    assert " style=" not in page


def test_notes_of_the_folder_stand_beside_the_tables_and_nowhere_else(tmp_path, caplog) -> None:
    fill(tmp_path / "own", "case-study")
    (tmp_path / "own" / "notes.toml").write_text(
        'case-study = ["Why <one> pair is low: see `run --it`."]\ndatasets = "On one line."\n', encoding="utf-8"
    )
    page = write_report(tmp_path / "own").page.read_text(encoding="utf-8")
    assert "Why &lt;one&gt; pair is low: see <code>run --it</code>." in page
    assert "On one line." in page
    fill(tmp_path / "other", "case-study")
    assert "pair is low" not in write_report(tmp_path / "other").page.read_text(encoding="utf-8")
    (tmp_path / "own" / "notes.toml").write_text("case-study = [", encoding="utf-8")
    assert "pair is low" not in write_report(tmp_path / "own").page.read_text(encoding="utf-8")
    assert "notes.toml cannot be read, and is left out" in caplog.text


def test_a_file_cut_in_half_is_left_out_and_said(tmp_path) -> None:
    kept = fill(tmp_path, "case-study")
    job = next(job for job in plan("case-study", "standard").jobs if job.kind == "case")
    path = kept.path(job)
    path.write_text(path.read_text(encoding="utf-8")[:80], encoding="utf-8")
    found = write_report(tmp_path)
    assert found.broken == (path,)
    assert "1 files could not be read" in found.caption()
    page = found.page.read_text(encoding="utf-8")
    assert f"cannot be read, and are left out: runs/case/{path.name}" in page
    assert "the case study: 2 of 3 seeds" in page


def test_the_profile_is_the_folders_own(tmp_path) -> None:
    fill(tmp_path, "lambda", profile="quick")
    assert open_folder(tmp_path).profile == "quick"
    page = write_report(tmp_path).page.read_text(encoding="utf-8")
    assert "The profile quick shows that everything runs" in page


def test_impossible_folders(tmp_path) -> None:
    with pytest.raises(RCExplainerError, match=r"there is no folder .*: make it with `rcexplainer reproduce all"):
        write_report(tmp_path / "none")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RCExplainerError, match="is a file: name the folder"):
        write_report(tmp_path / "file")
    with pytest.raises(RCExplainerError, match=r"is not a folder of results, it has no profile\.json"):
        write_report(tmp_path)
    (tmp_path / "profile.json").write_text('{"profile": ', encoding="utf-8")
    with pytest.raises(
        RCExplainerError, match=r"no profile\.json that can be read: fill it with `rcexplainer reproduce"
    ):
        write_report(tmp_path)
    (tmp_path / "profile.json").unlink()
    Store(tmp_path).claim("quick")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RCExplainerError, match=r"none of the 1 results in .* is one that profile quick asks for"):
        write_report(tmp_path)


def test_the_command(tmp_path) -> None:
    fill(tmp_path, "case-study")
    shown = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert shown.exit_code == 0
    assert "✓ reached" in shown.output
    document = json.loads(CliRunner().invoke(app, ["report", str(tmp_path), "--json"]).output)
    assert document["page"] == str(tmp_path / "report.html")
    assert {one["reached"] for one in document["verdicts"]} == {True, None}
