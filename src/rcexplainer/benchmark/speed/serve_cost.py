"""Requests to a server on this machine: median and 95th percentile of their time, and requests a second.

    predict   the prediction for a known molecule
    explain   its scores and counterfactual (`prefix`)

for 1, 8 and 32 clients, beside the model's own latency for one molecule in the same run ("model ms"). The clients are
threads of one other process, which keep their connections open.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch_geometric.data import Data

from rcexplainer.benchmark.speed.clock import in_turns
from rcexplainer.benchmark.speed.molecules import Molecules, forward, one_batch
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.errors import require

CLIENTS = (1, 8, 32)
SERVED = 100  # molecules
DURATION = 3.0  # seconds of each measurement

# Its arguments: port, path, clients, molecules, seconds. It prints the milliseconds of every request.
CLIENT = """
import http.client, json, sys, threading, time
port, path, clients, molecules, seconds = int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:5]), float(sys.argv[5])
taken, ready = [], threading.Barrier(clients)
def ask(number):
    link = http.client.HTTPConnection("127.0.0.1", port)
    place, until = number, None
    while until is None or time.perf_counter() < until:
        start = time.perf_counter()
        link.request("POST", path, json.dumps({"instance": place % molecules}), {"content-type": "application/json"})
        answer = link.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        if until is None:  # the first answer is not counted
            ready.wait()
            until = time.perf_counter() + seconds
        else:
            taken.append(1000 * (time.perf_counter() - start))
        place += clients
threads = [threading.Thread(target=ask, args=(number,)) for number in range(clients)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps(taken))
"""


def serve_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """Milliseconds a request and requests a second, by the number of clients."""
    subject = Molecules.of(options)
    graphs = subject.some(options.graphs or SERVED)
    batch = one_batch(graphs[:1])
    with running_server(subject.fitted, graphs) as port:
        for path in ("predict", "explain"):
            for clients in CLIENTS if options.wanted(path) else ():
                own = in_turns({"model": partial(forward, subject.model, batch)}, options.where, options.repeats)
                taken = sorted(requests(port, path, clients, len(graphs)))
                yield {
                    "row": path,
                    "set": subject.name,
                    "clients": clients,
                    "p50 ms": round(percentile(taken, 0.5), 2),
                    "p95 ms": round(percentile(taken, 0.95), 2),
                    "requests/s": round(len(taken) / DURATION, 1),
                    "model ms": round(1000 * own["model"], 2),
                }


def requests(port: int, path: str, clients: int, molecules: int) -> list[float]:
    """Send requests from another process.

    Args:
        port: Where the server is.
        path: What to ask for.
        clients: Number of clients that ask at the same time.
        molecules: Number of instances to ask about.

    Returns:
        The milliseconds of each request.
    """
    words = [str(port), f"/{path}", str(clients), str(molecules), str(DURATION)]
    out = subprocess.check_output([sys.executable, "-c", CLIENT, *words])
    found: list[float] = json.loads(out)
    return found


def percentile(ascending: list[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    return ascending[min(len(ascending) - 1, int(share * len(ascending)))]


@contextmanager
def running_server(fitted: Any, graphs: list[Data]) -> Iterator[int]:
    """A server in a thread of this process.

    Args:
        fitted: The explainer.
        graphs: What it serves.

    Yields:
        Its port.
    """
    require("fastapi", "app")
    require("uvicorn", "app")
    import uvicorn

    from rcexplainer.server.application import make_app

    server = uvicorn.Server(uvicorn.Config(make_app(fitted, graphs), port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
