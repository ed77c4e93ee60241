"""The page that a server gives, and uploads to it."""

import json
import re
from typing import Any

import pytest
import torch

from rcexplainer.datasets.smiles_file import smiles_graph
from rcexplainer.errors import DatasetError
from rcexplainer.server.application import make_app
from rcexplainer.server.instances import MOST_UPLOADS, AskedInstance, KnownInstances
from rcexplainer.server.live_page import PageTexts
from rcexplainer.server.uploads import RequestError
from tests.server.served_case import as_json, graph_case, node_case, ring
from tests.viz.page_case import page_case

testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed: the server is not tested")


@pytest.fixture(scope="module")
def client() -> Any:
    texts = PageTexts("<b>Rings</b>")
    with testclient.TestClient(make_app(*graph_case(), texts=texts), base_url="http://127.0.0.1:8000") as opened:
        yield opened


def data_of(text: str) -> Any:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def test_the_page_has_the_explanations_and_a_strict_policy(client):
    found = client.get("/")
    policy = found.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "<b>Rings" not in found.text
    assert '<script>","no' not in found.text
    values = data_of(found.text)
    assert len(values["instances"]) == 24
    assert values["live"] == {"task": "graph", "smiles": False}
    one = values["instances"][5]
    assert {tuple(sorted(one["numbers"][node] for node in edge[:2])) for edge in one["edges"]} == {
        tuple(sorted(pair)) for pair in graph_case()[1][5].edge_index.T.tolist()
    }


def test_an_upload_becomes_an_instance(client):
    fitted, graphs = graph_case()
    values = as_json(graphs[7]) | {"id": "<img src=x>"}
    shown = client.post("/instances", json={"graph": values}).json()
    assert shown["name"] == "<img src=x>"
    wanted = fitted.explain(graphs[7])
    assert shown["results"][0]["probabilities"] == pytest.approx(wanted.probabilities.tolist(), abs=1e-6)
    again = client.post("/predict", json={"instance": shown["number"]}).json()
    assert again["probabilities"] == pytest.approx(wanted.probabilities.tolist(), abs=1e-6)
    assert client.post("/instances", json={"smiles": "CCO"}).status_code == 422
    assert client.post("/instances", json={"graph": 3}).status_code == 422


def test_only_the_latest_uploads_are_kept():
    known = KnownInstances([AskedInstance(ring(6, 0))])
    numbers = [known.add(AskedInstance(ring(6, 0))) for _ in range(MOST_UPLOADS + 1)]
    assert numbers[0] == 1
    assert known[numbers[-1]].index is None
    with pytest.raises(RequestError, match="no instance 1"):
        known[1]


def test_the_page_of_nodes():
    fitted, graph = node_case()
    with testclient.TestClient(make_app(fitted, [graph], [4, 9]), base_url="http://localhost") as client:
        values = data_of(client.get("/").text)
    assert [one["name"] for one in values["instances"]] == ["node 4", "node 9"]


def test_smiles_are_read_where_the_model_is_one_of_molecules():
    pytest.importorskip("rdkit", reason="RDKit is not installed: SMILES are not read")
    case = page_case()
    app = make_app(case.fitted, case.graphs[:3], texts=PageTexts(read_smiles=smiles_graph))
    with testclient.TestClient(app, base_url="http://localhost") as client:
        shown = client.post("/instances", json={"smiles": "c1ccccc1[N+](=O)[O-]"}).json()
        assert (shown["smiles"], shown["nodes"], shown["molecule"]) == ("c1ccccc1[N+](=O)[O-]", 9, True)
        for bad in ("<script>alert(1)</script>", "", "C" * 1001, 3, "C1CC"):
            found = client.post("/instances", json={"smiles": bad})
            assert found.status_code == 422
            assert len(found.json()["error"]) < 200
        assert client.post("/instances", json={"smiles": "C", "graph": {}}).status_code == 422
        atom = client.post("/instances", json={"smiles": "C"})  # one atom, no bond
        assert atom.status_code in (200, 422)
        assert client.get("/health").status_code == 200


def test_one_molecule_is_the_graph_of_a_row():
    pytest.importorskip("rdkit", reason="RDKit is not installed: SMILES are not read")
    graph = smiles_graph(" CCO ")
    assert (graph.smiles, graph.num_nodes, graph.num_edges) == ("CCO", 3, 4)
    assert graph.y is None
    assert "row" not in graph
    assert graph.atomic_number.tolist() == [6, 6, 8]
    assert graph.x.dtype == torch.float
    with pytest.raises(DatasetError, match="cannot be read: not a SMILES"):
        smiles_graph("hello")
