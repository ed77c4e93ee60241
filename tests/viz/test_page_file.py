"""The file of a page: one self-contained document in which strangers' names are text."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.viz.page.render import content_hash, embedded_json, page_script
from tests.viz.page_case import page_case

pytest.importorskip("rdkit")
EVIL = "</script><script>alert(1)</script><!--<b>&amp;"


def test_one_file_without_anything_from_elsewhere(tmp_path: Path) -> None:
    case = page_case()
    path = rc.viz.page(case.explanations, str(tmp_path / "new" / "page.html"), case.fitted, title="Molecules")
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=[\"'](?!data:)", text)
    assert not re.search(r"\son\w+=|style=|javascript:|@import|url\(", text)
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]  # the name of SVG, never fetched
    style, script = re.search(r"<style>(.*?)</style>", text, re.S), re.search(r"<script>(.*?)</script>", text, re.S)
    assert style is not None
    assert script is not None
    policy = text.split('http-equiv="Content-Security-Policy" content="')[1].split('"')[0].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src '{content_hash(style[1])}'; script-src '{content_hash(script[1])}'; img-src data:" in policy
    assert "unsafe" not in policy


def test_markup_in_names_stays_text(tmp_path: Path) -> None:
    case = page_case()
    graph = case.graphs[0].clone()
    graph.id, graph.smiles, graph.node_names = EVIL, EVIL, [EVIL] * int(graph.num_nodes or 0)
    one = replace(case.explanations[0], graph=graph, class_names=(EVIL, "toxic"))
    failed = rc.Failure(1, ValueError(EVIL))
    text = rc.viz.page({EVIL: [one, failed]}, tmp_path / "page.html", title=EVIL, names=[EVIL, EVIL]).read_text(
        encoding="utf-8"
    )
    assert text.count("<script") == text.count("</script>") == 2
    assert "alert(1)</script>" not in text
    assert "<title>&lt;/script&gt;" in text
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert data["methods"] == [EVIL]
    assert data["instances"][0]["smiles"] == EVIL
    assert data["instances"][1]["results"][0]["error"] == EVIL


def test_embedded_json_cannot_end_its_element() -> None:
    values = {"a": "</script><!-- &\u2028\u2029", "b": [1.5, None, True]}
    text = embedded_json(values)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == values


def test_scripts_only_set_text() -> None:
    script = page_script()
    assert "</" not in script
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write", "fetch("):
        assert word not in script


def test_without_an_explainer_there_are_no_curves(tmp_path: Path) -> None:
    case = page_case()
    text = rc.viz.page(case.explanations[0], tmp_path / "page.html").read_text(encoding="utf-8")
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert data["curves"] is False
    assert "curve" not in data["instances"][0]["results"][0]


def test_what_makes_no_page_is_refused(tmp_path: Path) -> None:
    case = page_case()
    with pytest.raises(RCExplainerError, match=r"the file of a page must end in .html, got 'page.svg'"):
        rc.viz.page(case.explanations, tmp_path / "page.svg")
    with pytest.raises(RCExplainerError, match=r"path must name a file, such as 'page.html', got list"):
        rc.viz.page(tmp_path / "page.html", case.explanations)  # type: ignore[arg-type]
    with pytest.raises(RCExplainerError, match=r"a page takes explanations, such as those of .*, got Data"):
        rc.viz.page(case.graphs, tmp_path / "page.html")  # type: ignore[arg-type]
    with pytest.raises(RCExplainerError, match="a page needs at least one explanation"):
        rc.viz.page([], tmp_path / "page.html")
    with pytest.raises(RCExplainerError, match="names must have one text for each of 60 instances, got 1"):
        rc.viz.page(case.explanations, tmp_path / "page.html", names=["a"])
    assert not list(tmp_path.iterdir())


def test_a_page_needs_neither_rdkit_nor_matplotlib(tmp_path: Path) -> None:
    """As after `pip install rcexplainer`, without extras."""
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("rdkit", "matplotlib"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import rcexplainer as rc
data = rc.datasets.load("nitro", num_graphs=30)
model = rc.gnn.GNN(rc.gnn.GNNConfig(data.num_features, 2, width=8, layers=2)).eval()
fitted = rc.baselines.Occlusion().fit(model, data.graphs)
rc.viz.page(fitted.explain(list(data.graphs[:3])), {str(tmp_path / "page.html")!r}, fitted)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
    assert '"molecule":true' in (tmp_path / "page.html").read_text(encoding="utf-8")
