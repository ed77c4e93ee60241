"""A request ends at its time limit, with the best so far or one sentence, whatever it asks for."""

import time
from typing import Any

import pytest

import rcexplainer as rc
from rcexplainer.errors import TimeUpError
from rcexplainer.server import application
from rcexplainer.server.answers import GROUP_EDGES, ModelAnswers
from rcexplainer.server.application import make_app
from rcexplainer.server.instances import AskedInstance
from rcexplainer.server.limits import RequestLimits
from rcexplainer.server.live_page import LivePage
from rcexplainer.server.requests import ExplainRequest, PredictRequest, SearchOptions
from tests.server.served_case import PAIRS, as_json, graph_case, link_case, node_case, ring
from tests.server.test_application import in_parallel

testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed: the server is not tested")

LIMIT = 1.0
AMPLE = 4.0  # enough for the scores of the largest upload on a busy machine, and far too little for `ENDLESS` runs
ENDLESS = 20_000
LATE = 1.5  # what one run of the model of the largest upload, and a slow machine, may add
PREFIX = SearchOptions("prefix", None, None, None, 10.0)


def hub(nodes: int = 5000, edges: int = 10_000) -> dict[str, Any]:
    """As large as an upload may be: a node with all others as its neighbours, which are on a ring."""
    ends = [(0, other) for other in range(1, nodes)] + [(one, one % (nodes - 1) + 1) for one in range(1, nodes)]
    ends = (ends + [(one, one + 2) for one in range(1, 9)])[:edges]
    sources, targets = [list(column) for column in zip(*ends, strict=True)]
    return {
        "edge_index": [sources + targets, targets + sources],
        "x": [[0.5, -0.25, node % 7] for node in range(nodes)],
    }


def server(task: str) -> Any:
    """A server whose time is short."""
    limits = RequestLimits(seconds=LIMIT, refine=500)
    if task == "graph":
        fitted, graphs = graph_case()
        return make_app(fitted, graphs, limits=limits)
    fitted, graph = node_case() if task == "node" else link_case()
    return make_app(fitted, [graph], [4, 9] if task == "node" else PAIRS, limits=limits)


@pytest.mark.parametrize("task", ["graph", "node", "link"])
@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("/predict", {}),
        ("/explain", {"search": "greedy", "refine": 500}),
        ("/explain", {"search": "none", "refine": 500}),
        ("/instances", {}),
    ],
)
def test_the_largest_upload_is_answered_in_time(task, path, options):
    """Occlusion runs the model for each of 10,000 edges: there is no best so far, and one sentence instead."""
    body = {"graph": hub()} | ({} if task == "graph" else {"index": 0 if task == "node" else [0, 1]}) | options
    with testclient.TestClient(server(task), base_url="http://localhost") as client:
        client.post("/explain", json={"instance": 0})
        start = time.monotonic()
        found = client.post(path, json=body)
        assert time.monotonic() - start < LIMIT + LATE
        if path == "/predict":
            assert found.status_code == 200
        else:
            assert found.status_code == 504
            assert "no answer after 1 s, the time limit" in found.json()["error"]
        start = time.monotonic()
        assert client.post("/predict", json={"instance": 0}).status_code == 200  # and the next one need not wait
        assert time.monotonic() - start < LATE


@pytest.mark.parametrize("search", ["prefix", "greedy"])
def test_where_there_are_scores_the_best_so_far_is_the_answer(search):
    _, graphs = graph_case()
    fitted = rc.baselines.Random().fit(graph_case()[0].split.model, graphs)
    app = make_app(fitted, graphs, limits=RequestLimits(seconds=AMPLE, refine=ENDLESS))
    with testclient.TestClient(app, base_url="http://localhost") as client:
        client.post("/explain", json={"instance": 0})
        start = time.monotonic()
        found = client.post("/explain", json={"graph": hub(), "search": search, "refine": ENDLESS})
        assert time.monotonic() - start < AMPLE + LATE
        assert found.status_code == 200
        assert found.json()["counterfactual"]["exhausted"]
        assert 0 < found.json()["refined"] < ENDLESS
        assert client.post("/instances", json={"graph": hub()}).status_code in (200, 504)  # 200 on a fast machine
        assert time.monotonic() - start < 2 * (AMPLE + LATE)


def test_the_largest_upload_is_shown_where_time_suffices():
    _, graphs = graph_case()
    fitted = rc.baselines.Random().fit(graph_case()[0].split.model, graphs)
    app = make_app(fitted, graphs, limits=RequestLimits(seconds=300))  # enough on a busy machine, too
    with testclient.TestClient(app, base_url="http://localhost") as client:
        assert client.post("/instances", json={"graph": hub()}).status_code == 200


def test_an_upload_without_time_for_its_curve_has_none(monkeypatch):
    real = LivePage.shown
    monkeypatch.setattr(LivePage, "shown", lambda self, one, number, until: real(self, one, number, -1.0))
    fitted, graphs = graph_case()
    with testclient.TestClient(make_app(fitted, graphs), base_url="http://localhost") as client:
        shown = client.post("/instances", json={"graph": as_json(graphs[0])})
    assert shown.status_code == 200
    assert "curve" not in shown.json()["results"][0]


def test_one_that_waits_for_others_until_its_time_is_up_is_told(monkeypatch):
    fitted, graphs = graph_case()
    real = ModelAnswers.explanations

    def slow(self: ModelAnswers, asked: Any) -> Any:
        time.sleep(0.4)  # a run of the model that cannot be stopped
        return real(self, asked)

    monkeypatch.setattr(ModelAnswers, "explanations", slow)
    monkeypatch.setattr(application, "LAST_RUN", 0.05)
    app = make_app(fitted, graphs, limits=RequestLimits(seconds=0.1))
    found = in_parallel(app, "/explain", [{"instance": 0}, {"instance": 1}])
    assert [one.status_code for one in found] == [504, 504]
    assert "try again" in found[0].json()["error"]


def test_requests_that_arrived_too_early_are_not_begun():
    fitted, graphs = graph_case()
    answers, asked = ModelAnswers(fitted, 1.0), AskedInstance(graphs[0])
    with pytest.raises(TimeUpError):
        answers.predictions([PredictRequest(asked, frozenset(), arrived=-9.0)])
    (found,) = answers.explanations([ExplainRequest(asked, PREFIX, None, arrived=-9.0)])
    assert isinstance(found, TimeUpError)


def test_large_graphs_are_not_explained_together(monkeypatch):
    fitted, _ = graph_case()
    sizes: list[int] = []
    monkeypatch.setattr(ModelAnswers, "_explained", lambda self, group: sizes.append(len(group)) or [None] * len(group))
    large, small = ring(GROUP_EDGES // 4, 0), ring(6, 0)
    requests = [ExplainRequest(AskedInstance(graph), PREFIX, None) for graph in [large] * 4 + [small] * 3]
    assert len(ModelAnswers(fitted, 1.0).explanations(requests)) == 7
    assert len(sizes) > 2
    assert max(sizes) < 5


@pytest.mark.parametrize("unused", [{"confidence": 0.8}, {"budget": 2}])
def test_what_only_a_search_uses_is_refused_without_one(unused):
    fitted, graphs = graph_case()
    with testclient.TestClient(make_app(fitted, graphs), base_url="http://localhost") as client:
        found = client.post("/explain", json={"instance": 0, "search": "none"} | unused)
        assert found.status_code == 422
        assert f"{next(iter(unused))} is for a search" in found.json()["error"]
        body = {"instance": 0, "search": "none", "budget": 2, "refine": 4}
        assert client.post("/explain", json=body).json()["refined"] > 0
