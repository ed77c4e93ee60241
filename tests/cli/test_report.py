"""`rcexplainer report`; the page itself is tested in tests/paper."""

from types import SimpleNamespace

import pytest

from rcexplainer.paper import report as library


def test_options_reach_the_page(run, monkeypatch, tmp_path):
    asked = []

    def write_report(folder, out=None):
        asked.append((folder, out))
        return SimpleNamespace(to_json=dict, rows=lambda: [{"claim": "one"}], caption=lambda: "the page")

    monkeypatch.setattr(library, "write_report", write_report)
    ended = run("report", str(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    assert "the page" in ended.out
    page = tmp_path / "pages" / "page.html"
    assert run("report", str(tmp_path), "--out", str(page), "--json").out == "{}\n"
    assert asked == [(tmp_path, None), (tmp_path, page)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "there is no folder nowhere: make it with `rcexplainer reproduce all --out nowhere`"),
        ([__file__], "is a file: name the folder that `rcexplainer reproduce` wrote"),
        (["FOLDER"], "is not a folder of results"),
        (["FOLDER", "--out", "FOLDER/results.json"], "the file of a page must end in .html, got 'results.json'"),
        (["FOLDER", "--out", "FOLDER"], "is a folder, not a file"),
        ([], "Missing argument"),
    ],
)
def test_mistakes(refused, tmp_path, arguments, message):
    refused(["report", *(str(tmp_path) if word == "FOLDER" else word for word in arguments)], message)
