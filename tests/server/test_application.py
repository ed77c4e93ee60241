"""The HTTP API gives the answers of the Python API, one by one and in batches."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import delete_edges
from rcexplainer.server.answers import ModelAnswers
from rcexplainer.server.application import make_app
from rcexplainer.server.batching import BatchQueue
from rcexplainer.server.limits import RequestLimits
from tests.server.served_case import PAIRS, as_json, graph_case, link_case, node_case

httpx = pytest.importorskip("httpx", reason="httpx is not installed: the server is not tested")
testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed: the server is not tested")


@pytest.fixture
def client() -> Any:
    fitted, graphs = graph_case()
    with testclient.TestClient(make_app(fitted, graphs), base_url="http://127.0.0.1:8000") as opened:
        yield opened


def close(one: Any, other: Any) -> bool:
    return torch.allclose(torch.as_tensor(one), torch.as_tensor(other), atol=1e-6)


def test_health_says_what_is_served(client):
    found = client.get("/health").json()
    assert (found["status"], found["task"], found["instances"]) == ("ok", "graph", 24)
    assert found["classes"] == ["<script>", "no", "yes"]


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nothing", 404), ("GET", "/predict", 405)])
def test_an_address_that_is_not_there_is_an_error_in_one_sentence(client, method, path, status):
    answer = client.request(method, path)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert "/openapi.json" in answer.json()["error"]


def test_openapi_names_the_fields_and_no_page_loads_scripts_from_elsewhere(client):
    paths = client.get("/openapi.json").json()["paths"]
    body = paths["/explain"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"instance", "graph", "search", "target_class", "candidates", "budget"} <= body["properties"].keys()
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_predictions_are_those_of_the_model(client):
    fitted, graphs = graph_case()
    wanted = fitted.explain(graphs[3], search="none")
    for body in ({"instance": 3}, {"graph": as_json(graphs[3])}):
        found = client.post("/predict", json=body).json()
        assert found["prediction"] == wanted.prediction
        assert found["class"] == fitted.class_names[wanted.prediction]
        assert close(found["probabilities"], wanted.probabilities)


def test_predictions_without_edges_are_those_of_the_cut_graph(client):
    fitted, graphs = graph_case()
    columns = graphs[2].edge_index
    gone = ((columns == 0).any(0)) & ((columns == 1).any(0))
    wanted = fitted.explain(delete_edges(graphs[2], gone), search="none").probabilities
    found = client.post("/predict", json={"instance": 2, "deleted": [[1, 0]]}).json()
    assert close(found["probabilities"], wanted)
    assert "no edge between nodes 1 and 4" in client.post("/predict", json={"instance": 0, "deleted": [[1, 4]]}).text


def test_explanations_are_those_of_the_explainer(client):
    fitted, graphs = graph_case()
    wanted = fitted.explain(graphs[5], search="greedy", target_class=2, refine=8, confidence=0.6)
    options = {"search": "greedy", "target_class": 2, "refine": 8, "confidence": 0.6}
    found = client.post("/explain", json={"graph": as_json(graphs[5])} | options).json()
    assert found["edges"] == wanted.units.pair.T.tolist()
    assert close(found["scores"], wanted.unit_scores)
    assert found["order"] == wanted.unit_order.tolist()
    other = found["counterfactual"]
    assert other["removed"] == wanted.units.pair[:, wanted.removed_units].T.tolist()
    assert (other["flipped"], other["target"]) == (wanted.counterfactual.flipped, 2)
    assert close(other["probabilities"], wanted.counterfactual.probabilities)


def test_only_candidates_are_deleted(client):
    allowed = [[0, 1], [1, 2]]
    found = client.post("/explain", json={"instance": 4, "search": "greedy", "candidates": allowed}).json()
    assert all(pair in allowed for pair in found["counterfactual"]["removed"])
    assert client.post("/explain", json={"instance": 4, "candidates": [[2, 0]]}).status_code == 422


def test_a_search_that_runs_out_of_time_gives_its_best(client):
    body = {"instance": 4, "search": "greedy", "budget": 1e-9}
    found = client.post("/explain", json=body)
    assert found.status_code == 200
    assert found.json()["counterfactual"]["exhausted"]


def test_nodes_of_a_graph():
    fitted, graph = node_case()
    app = make_app(fitted, [graph], [4, 9])
    wanted = fitted.explain(graph, index=9)
    with testclient.TestClient(app, base_url="http://localhost") as client:
        for body in ({"instance": 1}, {"graph": as_json(graph), "index": 9}):
            assert close(client.post("/predict", json=body).json()["probabilities"], wanted.probabilities)
            found = client.post("/explain", json=body).json()
            assert found["edges"] == wanted.units.pair.T.tolist()
            assert close(found["scores"], wanted.unit_scores)
        removed = wanted.units.pair[:, wanted.removed_units].T.tolist()
        after = client.post("/predict", json={"instance": 1, "deleted": removed}).json()
        assert close(after["probabilities"], wanted.counterfactual.probabilities)
        assert client.post("/predict", json={"graph": as_json(graph), "index": 99}).status_code == 422
        assert client.post("/predict", json={"graph": as_json(graph)}).status_code == 422


def test_links_of_a_graph():
    fitted, graph = link_case()
    wanted = fitted.explain(graph, index=PAIRS[1])
    with testclient.TestClient(make_app(fitted, [graph], PAIRS), base_url="http://localhost") as client:
        for body in ({"instance": 1}, {"graph": as_json(graph), "index": list(PAIRS[1])}):
            assert close(client.post("/predict", json=body).json()["probabilities"], wanted.probabilities)
            found = client.post("/explain", json=body).json()
            assert found["edges"] == wanted.units.pair.T.tolist()
            assert close(found["scores"], wanted.unit_scores)
            assert found["counterfactual"]["removed"] == wanted.units.pair[:, wanted.removed_units].T.tolist()
        removed = wanted.units.pair[:, wanted.removed_units].T.tolist()
        after = client.post("/predict", json={"instance": 1, "deleted": removed}).json()
        assert close(after["probabilities"], wanted.counterfactual.probabilities)
        shown = client.post("/instances", json={"graph": as_json(graph), "index": list(PAIRS[1])}).json()
        assert {shown["numbers"][root] for root in shown["roots"]} == set(PAIRS[1])
        assert close(shown["results"][0]["probabilities"], wanted.probabilities)
        again = client.post("/explain", json={"instance": shown["number"]}).json()
        assert close(again["scores"], wanted.unit_scores)
        for wrong in (None, 3, [3], [3, 99], [3, 3], [-1, 2], ["3", 9], [1.5, 2], [0, 1, 2], [[0, 1]], {"a": 1}):
            found = client.post("/predict", json={"graph": as_json(graph), "index": wrong})
            assert found.status_code == 422, wrong
            assert len(found.json()["error"]) < 200


def in_parallel(app: Any, path: str, bodies: list[dict[str, Any]]) -> list[Any]:
    async def ask() -> list[Any]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return list(await asyncio.gather(*(client.post(path, json=body) for body in bodies)))

    return asyncio.run(ask())


def test_concurrent_requests_share_runs_and_get_the_answers_of_single_ones(monkeypatch, client):
    fitted, graphs = graph_case()
    sizes: list[int] = []
    for name in ("predictions", "explanations"):
        real = getattr(ModelAnswers, name)
        counted = lambda self, asked, real=real: sizes.append(len(asked)) or real(self, asked)  # noqa: E731
        monkeypatch.setattr(ModelAnswers, name, counted)
    bodies = [{"instance": place} for place in range(24)] + [{"instance": 99}]
    for path in ("/predict", "/explain"):
        sizes.clear()
        together = in_parallel(make_app(fitted, graphs), path, bodies)
        assert sum(sizes) == 24
        assert len(sizes) <= 6
        assert [one.status_code for one in together] == [200] * 24 + [404]
        for place in range(24):
            alone, found = client.post(path, json=bodies[place]).json(), together[place].json()
            assert found["prediction"] == alone["prediction"]
            assert close(found["probabilities"], alone["probabilities"])
            if path == "/explain":
                assert found["counterfactual"]["removed"] == alone["counterfactual"]["removed"]


def test_a_client_that_is_alone_does_not_wait_for_others():
    waits: list[float] = []

    async def ask() -> None:
        with ThreadPoolExecutor(1) as worker:
            queue = BatchQueue(lambda asked: list(asked), worker, 99, wait=0.2)
            for number, together in enumerate([1, 1, 8, 8, 1, 1]):
                start = time.monotonic()
                assert await asyncio.gather(*map(queue.ask, range(together))) == list(range(together)), number
                waits.append(time.monotonic() - start)

    asyncio.run(ask())
    assert [wait >= 0.2 for wait in waits] == [False, False, False, True, True, False]


def test_a_full_queue_is_said():
    fitted, graphs = graph_case()
    app = make_app(fitted, graphs, limits=RequestLimits(waiting=2))
    found = in_parallel(app, "/predict", [{"instance": 0}] * 6)
    assert sorted(one.status_code for one in found) == [200, 200, 503, 503, 503, 503]
    assert "busy" in found[-1].json()["error"]


def test_a_model_that_fails_is_one_sentence_and_the_server_lives(monkeypatch, client, caplog):
    def broken(self: ModelAnswers, asked: Any, late: float) -> Any:
        raise RuntimeError("/secret/path is broken")

    with monkeypatch.context() as patch:
        patch.setattr(ModelAnswers, "_probabilities", broken)
        found = client.post("/predict", json={"instance": 0})
    assert found.status_code == 500
    assert "secret" not in found.text
    assert "secret" in caplog.text
    assert client.post("/predict", json={"instance": 0}).status_code == 200


def test_a_server_needs_a_graph():
    with pytest.raises(RCExplainerError, match="at least one graph"):
        make_app(graph_case()[0], [])
