"""docs/page.md: its code runs, and its numbers are those of the source."""

import re
from pathlib import Path

import pytest

import rcexplainer as rc
from rcexplainer.viz.excerpt import MOST_DELETED
from rcexplainer.viz.page.contents import MOST_EXAMPLES, MOST_REASONS
from rcexplainer.viz.page.curves import DENSE_STEPS, MOST_SINGLES, STEP_GROWTH
from rcexplainer.viz.page.depiction import EXCERPT_EDGES, PAGE_EDGES
from tests.viz.page_case import page_case

pytest.importorskip("rdkit")
PAGE = (Path(__file__).parents[2] / "docs" / "page.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    case = page_case()
    names = {"rc": rc, "fitted": case.fitted, "graphs": case.graphs[:4], "others": case.explanations[:4]}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(code, names)
    written = ["bare.html", "methods.html", "named.html", "page.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == written
    slider = ['"curves":true' in Path(name).read_text(encoding="utf-8") for name in written]
    assert slider == [False, True, True, True]


def test_its_limits_are_those_of_the_source() -> None:
    text = " ".join(PAGE.split())
    assert f"(up to {MOST_DELETED} if more are deleted)" in text
    for sentence in (
        f"Up to {PAGE_EDGES} edges an instance is drawn completely. Of a larger one the {EXCERPT_EDGES} edges",
        f"every length up to {DENSE_STEPS} edges, and from there in steps that grow by {STEP_GROWTH - 1:.0%}",
        f"run for the first {MOST_SINGLES} edges",
        f"{MOST_REASONS} reasons of each method are kept, with {MOST_EXAMPLES} examples each",
    ):
        assert sentence in text
