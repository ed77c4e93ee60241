"""No text of a file or a client becomes a path, a module or an address; on pages it stays text."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rcexplainer as rc
from rcexplainer.datasets import tu
from rcexplainer.engine.job_folder import JobFolder
from rcexplainer.errors import CheckpointError, DatasetError, RCExplainerError, SplitError
from rcexplainer.paper.figure_files import read_captions
from rcexplainer.paper.report_contents import _pictures
from rcexplainer.server.application import make_app
from rcexplainer.sources.mapped_graph import MappedGraph, map_graph
from tests.security.saved_case import fitted, graphs, opened, saved, with_header
from tests.server.served_case import as_json, graph_case

testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed: the server is not tested")

EVIL = "<img src=x onerror=alert(1)></script><script>alert('1')</script>\"'`{{7*7}}\0\x1b[31m$x_1$"
PLACES = ("../../etc/passwd", "/etc/passwd", "a\0b", "file:///etc/passwd", "http://127.0.0.1:9/x", "C:\\x", "~/x")
MODULE = "wicked_module"


@pytest.fixture
def wicked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in the current directory that leaves a mark when it is imported."""
    (tmp_path / f"{MODULE}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w').close()\nforward = head = None\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "mark"


@pytest.fixture
def audited() -> Iterator[list[str]]:
    """What is opened, connected or started from now on."""
    seen: list[str] = []
    active = {"on": True}  # a hook cannot be taken away

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if active["on"] and event in ("open", "socket.connect", "urllib.Request", "os.listdir", "subprocess.Popen"):
            seen.append(f"{event} {args[0] if event != 'socket.connect' else args[1]}")

    sys.addaudithook(hook)
    yield seen
    active["on"] = False


# Saved files


@pytest.mark.parametrize("name", ["forward", "head", "task", "output", "model"])
@pytest.mark.parametrize("value", [f"{MODULE}:forward", f"{MODULE}.head", *PLACES[:3]])
def test_a_saved_explainer_imports_and_opens_nothing_it_names(
    wicked: Path, audited: list[str], name: str, value: str
) -> None:
    path = with_header(saved(wicked.parent / "saved")["rcexplainer"], "about", **{name: value})
    audited.clear()
    try:
        found: Any = opened("rcexplainer", path)
    except (CheckpointError, SplitError, RCExplainerError):
        found = None
    if name in ("head", "task", "output"):
        assert found is None  # these are looked up in the model, or among known words
    assert MODULE not in sys.modules
    assert not wicked.exists()
    assert [one for one in audited if one.partition(" ")[2].startswith(("/etc", "http", "file:", "a\0"))] == []


@pytest.mark.parametrize("value", [f"{MODULE}:load", "csv:/etc/passwd", "tu:../../x", *PLACES])
def test_the_dataset_of_a_saved_network_is_compared_and_not_opened(
    wicked: Path, audited: list[str], value: str
) -> None:
    from rcexplainer.cli.saved_network import open_network

    path = with_header(saved(wicked.parent / "saved")["gnn"], "info", dataset=value)
    audited.clear()
    with pytest.raises(CheckpointError, match="was trained on"):
        open_network("ba-2motifs", path)
    assert MODULE not in sys.modules
    assert not [one for one in audited if "passwd" in one or one.startswith("socket")]


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/b", "a\0b", "..", "NAME?x", "x y", "x#y", "x%2fy"])
def test_names_of_sets_are_no_paths_and_no_addresses(tmp_path: Path, audited: list[str], name: str) -> None:
    assert tu.by_name is not None  # imported before
    audited.clear()
    with pytest.raises(DatasetError, match="cannot be the name of a TU set"):
        rc.datasets.load(f"tu:{name}", root=tmp_path)
    assert audited == []
    assert not list(tmp_path.iterdir())


# Folders


def test_a_folder_of_results_reads_only_its_own_figures(tmp_path: Path) -> None:
    secret = tmp_path / "secret.svg"
    secret.write_text("<svg>secret</svg>")
    figures = tmp_path / "results" / "figures"
    figures.mkdir(parents=True)
    (figures / "good.svg").write_text("<svg/>")
    (figures / "linked.svg").symlink_to(secret)
    names = ("good", "linked", "../../secret", str(secret.with_suffix("")), "..", "a\0b", "a/../good")
    (figures / "figures.json").write_text(json.dumps({"entry": dict.fromkeys(names, "caption")}))
    captions = read_captions(tmp_path / "results")
    assert set(captions["entry"]) == {"good", "linked"}
    shown = list(_pictures(tmp_path / "results", captions["entry"], ""))
    assert [one.files for one in shown] == [("figures/good.svg",)]


@pytest.mark.parametrize("content", ['{"path": "../../x", "input": "/etc/passwd"}', "[]", "3", "null", "{", "\0"])
def test_the_job_of_a_folder_is_compared_and_not_opened(tmp_path: Path, audited: list[str], content: str) -> None:
    (tmp_path / "_job.json").write_text(content)
    audited.clear()
    with pytest.raises(RCExplainerError), JobFolder(tmp_path).claimed({"input": "here"}):
        pass
    assert not [one for one in audited if "passwd" in one]


def test_the_index_of_a_mapped_graph_is_compared_and_not_opened(tmp_path: Path, audited: list[str]) -> None:
    graph = map_graph(graphs()[0], tmp_path / "mapped")
    assert graph.adjacency is not None
    index = tmp_path / "mapped" / "in_edges" / "index.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), "origin": {"file": "/etc/passwd"}}))
    audited.clear()
    assert MappedGraph(tmp_path / "mapped").adjacency is not None  # built again from the graph's own file
    assert not [one for one in audited if "passwd" in one]


# Clients and pages


def test_an_upload_names_no_path(audited: list[str]) -> None:
    known, some = graph_case()
    with testclient.TestClient(make_app(known, some), base_url="http://127.0.0.1:8000") as client:
        client.get("/health")
        audited.clear()
        for place in PLACES:
            graph = {**as_json(some[0]), "id": place}
            assert client.post("/instances", json={"graph": graph}).status_code == 200
            assert client.post("/explain", json={"instance": place}).status_code == 422
            assert client.post("/explain", json={"graph": place}).status_code == 422
            assert client.get(f"/{place}".replace("\0", "%00")).status_code == 404
        assert not [one for one in audited if "passwd" in one or "127.0.0.1" in one]


@pytest.mark.parametrize("text", [EVIL, "\ud800", "\u202e", "x" * 10_000])
def test_what_clients_call_things_stays_text(text: str) -> None:
    known, some = graph_case()
    with testclient.TestClient(make_app(known, some), base_url="http://127.0.0.1:8000") as client:
        graph = json.dumps({"graph": {**as_json(some[0]), "id": text}})
        for body in (graph, json.dumps({"graph": text}), json.dumps({text: 1}), json.dumps({"smiles": text})):
            answer = client.post("/instances", content=body, headers={"content-type": "application/json"})
            assert answer.status_code in (200, 400, 422)
            assert answer.headers["content-type"] == "application/json"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
            assert len(answer.content) < 100_000


def names_everywhere(text: str) -> rc.Explanation:
    """An explanation whose graph has a text in every place for one."""
    one = fitted("rcexplainer").explain(graphs()[0])
    graph = one.graph.clone()
    graph.id, graph.smiles, graph.node_names = text, text, [text] * int(graph.num_nodes or 0)
    return replace(one, graph=graph, class_names=(text, f"{text}2"))


@pytest.mark.parametrize("text", [EVIL, "\ud800 lone", "\u2028\u2029", "]]>", "--><svg onload=alert(1)>"])
def test_a_page_shows_hostile_names_as_text(tmp_path: Path, text: str) -> None:
    one = names_everywhere(text)
    path = rc.viz.page({text: [one]}, tmp_path / "page.html", title=text, names=[text], node_names=[text] * 3)
    page = path.read_text(encoding="utf-8")
    assert page.count("<script") == page.count("</script>") == 2
    assert not re.search(r"<(img|svg)[^>]*\bon\w+=", page.split('id="data">')[0])
    data = page.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(data)
    assert json.loads(data)["instances"]
    assert "default-src &#39;none&#39;" in page
    assert "49" not in page.split("<title>")[1].split("</title>")[0]  # nothing is a template


@pytest.mark.parametrize("draw", [lambda one, path: one.draw(path), lambda one, path: rc.viz.compare({"a": one}, path)])
def test_a_drawing_shows_hostile_names_as_text(tmp_path: Path, draw: Callable[..., Any]) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra figures)")
    draw(names_everywhere("<script>alert(1)</script>$\\frac{1}{$"), tmp_path / "a.svg")
    assert "<script" not in (tmp_path / "a.svg").read_text(encoding="utf-8")
