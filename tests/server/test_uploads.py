"""Uploads that are too large, malformed or hostile get a 4xx with one sentence, and the server lives."""

import json
import random
from typing import Any

import pytest
import torch

from rcexplainer.server.application import make_app
from rcexplainer.server.limits import RequestLimits
from rcexplainer.server.uploads import GraphForm, RequestError
from tests.server.served_case import as_json, graph_case, ring

testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed: the server is not tested")


@pytest.fixture(scope="module")
def client() -> Any:
    with testclient.TestClient(make_app(*graph_case()), base_url="http://127.0.0.1:8000") as opened:
        yield opened


def graph(**changes: Any) -> bytes:
    values = {"edge_index": [[0, 1], [1, 0]], "x": [[1, 2, 3.5], [0, 0, 0]]} | changes
    return json.dumps({"graph": {name: own for name, own in values.items() if own != "gone"}}).encode()


BAD = {
    "no JSON": (b"\x80\x04\x95pickle", 400, "not JSON"),
    "nothing": (b"", 400, "not JSON"),
    "a list": (b"[1]", 422, "JSON object"),
    "NaN": (graph(x=[[1, 2, float("nan")], [0, 0, 0]]), 400, "the number NaN"),
    "infinite": (b'{"graph": {"edge_index": [[], []], "x": [[1e999, 0, 0]]}}', 422, "finite numbers, got inf"),
    "beyond its type": (graph(x=[[1e300, 0, 0], [0, 0, 0]]), 422, "infinite as float32"),
    "a huge number": (b'{"graph": {"edge_index": [[' + b"9" * 9999 + b"], [0]]}}", 400, "not JSON"),
    "nested arrays": (b'{"graph": ' + b"[" * 1000 + b"]" * 1000 + b"}", 400, "inside each other"),
    "deep arrays": (b"[" * 500_000 + b"]" * 500_000, 400, "inside each other"),
    "nested edges": (graph(edge_index=[[[[0]]], [[[1]]]]), 422, "whole numbers from 0 on"),
    "negative": (graph(edge_index=[[0, -1], [1, 0]]), 422, "whole numbers from 0 on, got -1"),
    "beyond the nodes": (graph(edge_index=[[0, 2], [1, 0]]), 422, "names node 2, but the graph has 2 nodes"),
    "a fraction": (graph(edge_index=[[0, 1.5], [1, 0]]), 422, "got 1.5"),
    "a truth": (graph(edge_index=[[0, True], [1, 0]]), 422, "got True"),
    "uneven": (graph(edge_index=[[0], [1, 0]]), 422, "1 sources and 2 targets"),
    "no edges": (graph(edge_index="gone"), 422, "edge_index must be"),
    "no features": (graph(x="gone"), 422, "needs x"),
    "no nodes": (graph(edge_index=[[], []], x=[]), 422, "at least one node"),
    "too narrow": (graph(x=[[1, 2], [0, 0]]), 422, "list of 3 numbers, got a list of 2"),
    "ragged": (graph(x=[[1, 2, 3], [0, [0], 0]]), 422, "finite numbers, got [0]"),
    "text": (graph(x=[["1", 2, 3], [0, 0, 0]]), 422, "finite numbers, got '1'"),
    "a path": (graph(path="/etc/passwd"), 422, "unknown fields: path"),
    "an unknown field": (b'{"instance": 0, "file": "/etc/passwd"}', 422, "unknown fields: file; known: instance"),
    "both": (b'{"instance": 0, "graph": {}}', 422, "either instance"),
    "a path as instance": (b'{"instance": "../../etc/passwd"}', 422, "whole number"),
    "no such instance": (b'{"instance": -1}', 404, "no instance -1"),
    "pairs": (b'{"instance": 0, "deleted": [[0]]}', 422, "pairs of node numbers"),
    "many nodes": (graph(x=[[0, 0, 0]] * 5001), 413, "takes up to 5,000"),
    "many edges": (graph(edge_index=[[0] * 20_001, [1] * 20_001]), 413, "takes up to 20,000"),
    "10 million edges": (b'{"graph": {"edge_index": [[' + b"0," * 10_000_000 + b"0]]}}", 413, "larger than 2,000,000"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_uploads_are_one_sentence(client, name):
    body, status, text = BAD[name]
    found = client.post("/predict", content=body)
    assert found.status_code == status
    assert text in found.json()["error"]
    assert "\n" not in found.json()["error"]
    assert len(found.json()["error"]) < 200
    assert client.get("/health").status_code == 200


OPTIONS = {
    "search": ("all", "prefix"),
    "target_class": (7, "target_class"),
    "confidence": (2, "confidence"),
    "refine": (10**9, "from 1 to 256"),
    "budget": (-1, "above 0"),
    "candidates": ("all", "pairs"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_bad_options_are_one_sentence(client, name):
    value, text = OPTIONS[name]
    found = client.post("/explain", json={"instance": 0, name: value})
    assert found.status_code == 422
    assert text in found.json()["error"]


def test_a_body_that_does_not_say_its_length_is_measured(client):
    found = client.post("/predict", content=(b"0" * 100_000 for _ in range(100)))
    assert found.status_code == 413


def test_garbage_never_ends_the_server(client):
    source = random.Random(0)
    whole = json.dumps({"graph": as_json(ring(6, 0))}).encode()
    for _ in range(300):
        body = bytearray(whole)
        for _ in range(source.randint(1, 20)):
            body[source.randrange(len(body))] = source.randrange(256)
        path = source.choice(["/predict", "/explain"])
        assert client.post(path, content=bytes(body[: source.randint(0, len(body))])).status_code in (
            200,
            400,
            413,
            422,
        )
    assert client.post("/predict", content=whole).status_code == 200


def test_other_attributes_have_the_shape_of_the_served_graphs():
    like = ring(6, 0)
    like.edge_attr, like.edge_weight = torch.zeros(like.num_edges, 2), torch.zeros(like.num_edges)
    like.x = torch.zeros(6, 3, dtype=torch.long)
    form = GraphForm.of(like, RequestLimits())
    values: dict[str, Any] = {
        "edge_index": [[0], [1]],
        "x": [[0, 1, 2]] * 2,
        "edge_attr": [[1, 2]],
        "edge_weight": [1.5],
    }
    found = form.graph(values)
    assert (found.x.dtype, found.edge_attr.tolist(), found.edge_weight.tolist()) == (torch.long, [[1, 2]], [1.5])
    for name, value in (("edge_attr", [[1]]), ("edge_attr", []), ("edge_weight", [[1]]), ("x", [[0.5, 0, 0]] * 2)):
        with pytest.raises(RequestError, match=name):
            form.graph(values | {name: value})


def test_graphs_without_features_say_how_many_nodes_they_have():
    like = ring(6, 0)
    like.num_nodes, like.x = 6, None
    form = GraphForm.of(like, RequestLimits())
    assert form.graph({"edge_index": [[0], [1]], "num_nodes": 3}).num_nodes == 3
    for nodes in (None, 0, -1, True, 10**9):
        with pytest.raises(RequestError, match="node"):
            form.graph({"edge_index": [[], []], "num_nodes": nodes})
