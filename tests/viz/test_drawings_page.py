"""docs/drawings.md: its code runs."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import rcexplainer as rc
from tests.viz.explained import hexagon

pytest.importorskip("matplotlib")
PAGE = (Path(__file__).parents[2] / "docs" / "drawings.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = hexagon([0, 7])
    names = {"rc": rc, "explanation": replace(one, relevance=one.scores), "other": hexagon([1, 8], flipped=False)}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(code, names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["explanation.svg", "methods.svg", "relevance.pdf"]
    assert names["figure"].axes
