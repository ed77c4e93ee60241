"""Strangers: other hosts, other origins, no token."""

from typing import Any

import pytest

from rcexplainer.errors import RCExplainerError
from rcexplainer.server.application import make_app
from rcexplainer.server.limits import AccessRules
from tests.server.served_case import graph_case

testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed: the server is not tested")


def opened(rules: AccessRules | None = None, url: str = "http://127.0.0.1:8000") -> Any:
    return testclient.TestClient(make_app(*graph_case(), rules=rules), base_url=url, follow_redirects=False)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST"])
def test_own_hosts_are_answered(host):
    assert opened().get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.1.9", "", "[", "a:b"]
)
def test_other_hosts_are_refused(host):
    found = opened().get("/health", headers={"host": host})
    assert found.status_code == 421
    assert "does not answer for that Host" in found.json()["error"]


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:9000", "null", "http://[", "file://"])
def test_other_origins_are_refused(origin):
    found = opened().post("/predict", json={"instance": 0}, headers={"origin": origin})
    assert found.status_code == 403


def test_its_own_origin_is_answered():
    headers = {"origin": "http://127.0.0.1:8000"}
    assert opened().post("/predict", json={"instance": 0}, headers=headers).status_code == 200
    assert opened().get("/health", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_beyond_localhost_a_token_is_needed():
    with pytest.raises(RCExplainerError, match="give a token"):
        AccessRules("0.0.0.0")
    rules = AccessRules("0.0.0.0", "secret", frozenset({"lab.example"}))
    assert "secret" not in repr(rules)
    client = opened(rules, "http://192.168.1.9:8000")
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "secret"}, {"cookie": 'a="'}):
        found = client.get("/health", headers=headers)
        assert found.status_code == 401
        assert "token" in found.json()["error"]
    good = {"authorization": "Bearer secret"}
    assert client.get("/health", headers=good).status_code == 200
    assert client.get("/health", headers=good | {"host": "lab.example"}).status_code == 200
    assert client.get("/health", headers=good | {"host": "evil.example"}).status_code == 421


def test_a_browser_keeps_the_token_as_a_cookie():
    client = opened(AccessRules("0.0.0.0", "a;b c", frozenset()), "http://192.168.1.9:8000")
    assert client.get("/?token=wrong").status_code == 401
    found = client.get("/", params={"token": "a;b c"})
    assert (found.status_code, found.headers["location"]) == (303, "/")
    cookie = found.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.get("/health", headers={"cookie": cookie.split("; ")[0]}).status_code == 200


@pytest.mark.parametrize("path", ["/health", "/nothing"])
def test_every_answer_has_a_content_security_policy(path):
    found = opened().get(path)
    assert found.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in found.headers
