"""`rcexplainer serve`: a user's own graphs and nodes, behind a real server."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.cli.own_package import NAME, own

pytest.importorskip("fastapi", reason="fastapi is not installed (extra app): the server is not tested")
pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra app): the server is not tested")


class Served:
    """A server in a process of its own."""

    def __init__(self, folder: Path, task: str, *words: str) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "rcexplainer", "serve", *own(task)]
        command += ["--explainer", f"{task}.safetensors", "--port", "0", *words]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, encoding="utf-8")

    def __enter__(self) -> "Served":
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("http://"):
                self.address = line.split()[0].partition("?")[0]
                return self
        raise AssertionError("the server ended before it named its address")

    def __exit__(self, *_: object) -> None:
        stop = signal.SIGTERM if sys.platform == "win32" else signal.SIGINT  # no SIGINT for another process there
        self.process.send_signal(stop)
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def ask(self, path: str, body: object = None, **headers: str) -> object:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers)
        with urllib.request.urlopen(request, timeout=30) as found:
            text = found.read().decode()
        return json.loads(text) if text.startswith("{") else text


def test_a_server_tells_no_more_than_it_is_told_to(inside):
    with Served(inside, "graph", "--limit", "2", "--disclose", "prediction") as served:
        assert served.ask("health")["disclose"] == "prediction"
        assert served.ask("explain", {"instance": 1}).keys() == {"prediction", "class", "probabilities"}
        assert "discloses the prediction alone" in served.ask("")


def test_graphs_are_served(inside):
    with Served(inside, "graph", "--limit", "5") as served:
        assert served.ask("health")["instances"] == 5
        assert sum(served.ask("predict", {"instance": 4})["probabilities"]) == pytest.approx(1)
        assert "ask the model" in served.ask("")
        with pytest.raises(urllib.error.HTTPError) as refused:
            served.ask("health", host="evil.example")
        assert refused.value.code == 421
        refused.value.close()
    assert served.process.returncode in (0, 130)


@pytest.mark.parametrize(("task", "index"), [("node", "3,5"), ("link", "0-1")])
def test_nodes_and_links_are_served(inside, task, index):
    if task == "link":
        sys.modules.pop(f"{NAME}.data", None)
        from importlib import import_module

        pair = import_module(f"{NAME}.data").graph().edge_label_index[:, 0].tolist()
        index = "-".join(map(str, pair))
    with Served(inside, task, "--index", index) as served:
        assert served.ask("health")["task"] == task
        found = served.ask("explain", {"instance": 0})
        assert len(found["edges"]) == len(found["scores"]) > 0
        gone = served.ask("predict", {"instance": 0, "deleted": found["counterfactual"]["removed"]})
        assert gone["probabilities"] == pytest.approx(found["counterfactual"]["probabilities"], abs=1e-6)


def test_a_token_is_asked_for(inside):
    with Served(inside, "graph", "--token", "secret", "--limit", "2") as served:
        with pytest.raises(urllib.error.HTTPError) as refused:
            served.ask("health")
        assert refused.value.code == 401
        refused.value.close()
        assert served.ask("health", authorization="Bearer secret")["instances"] == 2


def test_mistakes_are_one_line(run, inside):
    words = ["serve", *own("graph"), "--explainer", "graph.safetensors"]
    open_to_all = run(*words, "--host", "0.0.0.0")
    assert open_to_all.code == 2
    assert "give a token" in open_to_all.err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = run(*words, "--port", str(taken.getsockname()[1]))
    assert ended.code == 2
    assert "cannot listen at 127.0.0.1" in ended.err
    missing = run("serve", *own("graph"), "--explainer", "none.safetensors")
    assert missing.code == 2
