"""32 clients that send garbage for a minute: no crash, and memory stays flat.

pytest -s -m slow tests/server/test_garbage.py      prints requests, answers and memory
"""

import http.client
import json
import os
import random
import threading
import time
from pathlib import Path

import pytest

from rcexplainer.server.limits import RequestLimits
from tests.server.served_case import as_json, graph_case, ring

uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed: the server is not tested")
CLIENTS, MINUTE, GROWTH = 32, 60.0, 64  # MiB that memory may grow by after the first half
LINUX = Path("/proc/self/statm")


def resident() -> float:
    """MiB of this process."""
    return int(LINUX.read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def garbage(source: random.Random, whole: bytes) -> bytes:
    kind = source.randrange(5)
    if kind == 0:
        return source.randbytes(source.randrange(2000))
    if kind == 1:
        return b"[" * source.randrange(5000)
    if kind == 2:
        return b'{"graph": {"edge_index": [[' + b"0," * source.randrange(200_000) + b"0], []]}}"
    body = bytearray(whole)
    for _ in range(source.randint(1, 9)):
        body[source.randrange(len(body))] = source.randrange(256)
    return bytes(body)


@pytest.mark.slow
@pytest.mark.skipif(not LINUX.exists(), reason="memory is read from /proc, which this system does not have")
def test_a_minute_of_garbage():
    from rcexplainer.benchmark.speed.serve_cost import running_server

    fitted, graphs = graph_case()
    whole = json.dumps({"graph": as_json(ring(8, 0))}).encode()
    seen: dict[int, int] = {}
    broken: list[str] = []
    end = time.monotonic() + MINUTE

    def client(number: int, port: int) -> None:
        source = random.Random(number)
        while time.monotonic() < end:
            link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                for _ in range(20):
                    path = source.choice(["/predict", "/explain", "/instances", "/", "/../../etc/passwd"])
                    link.request("POST", path, garbage(source, whole))
                    answer = link.getresponse()
                    answer.read()
                    seen[answer.status] = seen.get(answer.status, 0) + 1
            except OSError as error:
                broken.append(repr(error))
            finally:
                link.close()

    with running_server(fitted, graphs) as port:
        before = resident()
        threads = [threading.Thread(target=client, args=(number, port)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        time.sleep(MINUTE / 2)
        half = resident()
        for thread in threads:
            thread.join()
        after = resident()
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        link.request("POST", "/predict", whole)
        assert link.getresponse().status == 200
        link.close()
    answers = ", ".join(f"{status}: {count:,}" for status, count in sorted(seen.items()))
    said = f"{sum(seen.values()):,} requests in {MINUTE:.0f} s ({answers}), {len(broken)} broken connections; "
    said += f"memory of server and clients: {before:.0f} MiB before, {half:.0f} MiB half way, {after:.0f} MiB after"
    print(f"\n{said}")  # noqa: T201  the figures of docs/serve.md
    assert not broken
    assert set(seen) <= {200, 400, 404, 405, 413, 422, 503}
    assert sum(seen.values()) > 1000
    assert after - half < GROWTH, f"{half:.0f} MiB after half of the time, {after:.0f} MiB at its end"
    assert RequestLimits().waiting >= CLIENTS
